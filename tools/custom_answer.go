package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/output"
)

// Bounds of the answer of a rich custom tool.
const (
	// MaxAnswer is the size of its JSON in bytes.
	MaxAnswer = 16 << 20
	// MaxAnswerParts and MaxAnswerImages count its content.
	MaxAnswerParts  = 100
	MaxAnswerImages = 8
)

// answerHint tells whoever writes a tool what an answer is.
const answerHint = `it is one JSON object on stdout: {"content": [{"type": "text", "text": "..."}, {"type": "image", "data": "BASE64", "mimeType": "image/png"}], "structuredContent": {...}, "isError": false}; content or structuredContent may be missing`

// answerBuffer takes the bytes of an answer up to its bound, and one more. The
// buffer is not embedded: its other methods know no bound.
type answerBuffer struct{ held bytes.Buffer }

// Write never fails: a command goes on with what it does.
func (b *answerBuffer) Write(p []byte) (int, error) {
	b.held.Write(p[:min(len(p), MaxAnswer+1-b.held.Len())])
	return len(p), nil
}

// A richAnswer is a result in the form of the Model Context Protocol.
type richAnswer struct {
	Content    []answerPart
	Structured json.RawMessage
	IsError    bool
}

type answerPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Data     []byte  `json:"data"` // base64
	MimeType string  `json:"mimeType"`
	about    string  // what is to be said of an image
	dropped  bool    // the image is too large to be shown
}

// parse reads the answer, or says what is wrong with it.
func (b *answerBuffer) parse() (*richAnswer, error) {
	if b.held.Len() > MaxAnswer {
		return nil, fmt.Errorf("it is larger than %s", output.Size(MaxAnswer))
	}
	if len(bytes.TrimSpace(b.held.Bytes())) == 0 {
		return nil, errors.New("it is empty")
	}
	// Fields that are not known are for others.
	var fields struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(b.held.Bytes(), &fields); err != nil {
		return nil, plainJSON(err)
	}
	a := &richAnswer{IsError: fields.IsError}
	if text := string(bytes.TrimSpace(fields.Structured)); text != "" && text != "null" {
		if a.Structured = fields.Structured; text[0] != '{' {
			return nil, errors.New("structuredContent is not an object")
		}
	}
	none := len(fields.Content) == 0 || string(fields.Content) == "null"
	switch {
	case none && a.Structured == nil:
		return nil, errors.New("it has neither content nor structuredContent")
	case none:
		return a, nil
	}
	return a, a.parseContent(fields.Content)
}

// parseContent reads one part after the other, up to their bounds: many tiny ones
// would take a hundred times the memory of their text.
func (a *richAnswer) parseContent(content json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(content))
	if start, err := dec.Token(); err != nil || start != json.Delim('[') {
		return errors.New("content is not a list")
	}
	for images := 0; dec.More(); {
		at := len(a.Content)
		if at == MaxAnswerParts {
			return fmt.Errorf("content has more than %d parts", MaxAnswerParts)
		}
		var part answerPart
		err := plainJSON(dec.Decode(&part))
		if err == nil && part.Type == "image" {
			if images++; images > MaxAnswerImages {
				return fmt.Errorf("content has more than %d images", MaxAnswerImages)
			}
		}
		if err == nil {
			err = part.check()
		}
		if err != nil {
			return fmt.Errorf("content[%d]: %w", at, err)
		}
		a.Content = append(a.Content, part)
	}
	return nil
}

// plainJSON is an error of reading JSON without the inside of this program.
func plainJSON(err error) error {
	var form *json.UnmarshalTypeError
	if errors.As(err, &form) {
		return fmt.Errorf("a JSON %s is where there can be none%s", form.Value, inField(form.Field))
	}
	return err
}

// check holds a part against what it may be.
func (p *answerPart) check() error {
	switch {
	case p.Type == "image":
		return p.checkImage()
	case p.Type != "text":
		return fmt.Errorf("its type is %.40q, and must be text or image", p.Type)
	case p.Text == nil:
		return errors.New(`it has no "text"`)
	}
	return nil
}

// checkImage looks whether a picture is whole: a model's server refuses one that
// is broken, and with it every later request. One that is sound and too large is
// only told of.
func (p *answerPart) checkImage() error {
	if len(p.Data) == 0 {
		return errors.New(`it has no "data"`)
	}
	if types := []string{"image/png", "image/jpeg", "image/gif", "image/webp"}; !slices.Contains(types, p.MimeType) {
		return fmt.Errorf("its mimeType is %.40q, and must be one of %s", p.MimeType, strings.Join(types, ", "))
	}
	if found := http.DetectContentType(p.Data); found != p.MimeType {
		return fmt.Errorf("its mimeType is %s, but its data begins like %s", p.MimeType, found)
	}
	width, height, err := dimensions(p.Data, p.MimeType)
	if err == nil {
		err = wholeImage(p.Data, p.MimeType)
	}
	if err != nil {
		return fmt.Errorf("its image is damaged: %w", err)
	}
	p.about = fmt.Sprintf("image, %s, %s, %d × %d pixels", p.MimeType, output.Size(int64(len(p.Data))), width, height)
	if len(p.Data) > ReadImageBytes || width > ReadImageSide || height > ReadImageSide {
		p.dropped = true
		p.about += fmt.Sprintf("; it is too large to be shown (at most %s and %d pixels a side)", output.Size(ReadImageBytes), ReadImageSide)
	}
	return nil
}

// rich is the result of a sound answer. The structured result is shown where no
// text says the same, as the protocol wants it said.
func rich(a *richAnswer, good bool, wrote *customOutput, keep *keeping, notes []note) (Result, error) {
	good = good && !a.IsError
	parts := &richParts{keep: keep, room: ShownOutput}
	said := false
	for _, p := range a.Content {
		switch {
		case p.Type == "image":
			parts.image(p)
		case strings.TrimSpace(*p.Text) != "":
			parts.text(*p.Text)
			said = true
		}
	}
	if a.Structured != nil && !said {
		parts.text(string(a.Structured))
	}
	kept, err := keep.lines(parts.cut)
	if err != nil {
		return Result{}, err
	}
	if parts.cut && len(kept) == 0 {
		kept = []note{fixed("not all of its text is shown")}
	}
	notes = append(notes, kept...)
	res := Result{Parts: parts.list, IsError: !good}
	stderr := wrote.errorText(good)
	if stderr != "" && len(res.Parts) > 0 {
		stderr = onStderr + stderr
	}
	if stderr != "" || len(notes) > 0 || len(res.Parts) == 0 {
		res.add(stderr, notes)
	}
	return res, nil
}

// add puts what stderr held, and notes, after the parts of a result.
func (r *Result) add(stderr string, notes []note) {
	if len(r.Parts) == 0 {
		tail := customText("", stderr, notes)
		r.Parts, r.Lasting = tail.Parts, tail.Lasting
		return
	}
	tail := fixed(stderr)
	if len(notes) > 0 {
		tail = notef("%s[%s]", fixed(lineEnd(stderr)), joinNotes(notes, "]\n["))
	}
	if tail.lasting != tail.text {
		r.Lasting = textOf(r.Parts) + tail.lasting
	}
	r.Parts = append(r.Parts, Part{Text: tail.text})
}

// richParts gathers the parts of a result, with a bound on all texts together.
type richParts struct {
	keep *keeping
	list []Part
	room int  // in characters
	cut  bool // not all of the text is there
}

func (r *richParts) text(text string) {
	r.keep.write([]byte(lineEnd(text)))
	if r.room <= 0 {
		r.cut = true
		return
	}
	capture := output.NewCapture(r.room)
	_, _ = capture.Write([]byte(text))
	shown := capture.Text()
	r.room -= utf8.RuneCountInString(shown.Text)
	r.cut = r.cut || shown.DroppedBytes > 0
	r.list = append(r.list, Part{Text: shown.Text})
}

func (r *richParts) image(p answerPart) {
	r.list = append(r.list, Part{Text: "[" + p.about + "]"})
	if !p.dropped {
		r.list = append(r.list, Part{MediaType: p.MimeType, Data: p.Data})
	}
}

// textOf is all of the text of parts.
func textOf(parts []Part) string {
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(part.Text)
	}
	return text.String()
}
