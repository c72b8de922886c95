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

// A richAnswer is a result in the form of the Model Context Protocol. Fields
// that are not known are for others.
type richAnswer struct {
	Content    []answerPart    `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
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
	var a richAnswer
	if err := json.Unmarshal(b.held.Bytes(), &a); err != nil {
		return nil, err
	}
	if text := string(bytes.TrimSpace(a.Structured)); text == "null" {
		a.Structured = nil
	} else if a.Structured != nil && text[0] != '{' {
		return nil, errors.New("structuredContent is not an object")
	}
	if a.Content == nil && a.Structured == nil {
		return nil, errors.New("it has neither content nor structuredContent")
	}
	return &a, a.check()
}

// check holds the parts against what they may be.
func (a *richAnswer) check() error {
	if len(a.Content) > MaxAnswerParts {
		return fmt.Errorf("content has %d parts, and at most %d are taken", len(a.Content), MaxAnswerParts)
	}
	images := 0
	for i := range a.Content {
		part := &a.Content[i]
		var err error
		switch part.Type {
		case "text":
			if part.Text == nil {
				err = errors.New(`it has no "text"`)
			}
		case "image":
			if images++; images > MaxAnswerImages {
				return fmt.Errorf("content has more than %d images", MaxAnswerImages)
			}
			err = part.checkImage()
		default:
			err = fmt.Errorf("its type is %.40q, and must be text or image", part.Type)
		}
		if err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
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
		if p.Type == "text" {
			parts.text(*p.Text)
			said = true
		} else {
			parts.image(p)
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
		tail := customText("", stderr, notes)
		if tail.Lasting != "" {
			res.Lasting = textOf(res.Parts) + tail.Lasting
		}
		res.Parts = append(res.Parts, tail.Parts...)
	}
	return res, nil
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
