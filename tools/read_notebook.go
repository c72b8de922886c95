package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/belljar/belljar/internal/output"
)

const (
	// maxNotebook is the size of the largest notebook that is shown as cells;
	// outputs make them large.
	maxNotebook = 32 << 20
	// cellOutput bounds what is shown of one output, in bytes.
	cellOutput = 2000
)

// A notebook is a Jupyter notebook (nbformat 4), as far as it is shown.
type notebook struct {
	Format   int `json:"nbformat"`
	Cells    []cell
	Metadata struct {
		Kernel struct {
			Name string `json:"display_name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

type cell struct {
	Type    string       `json:"cell_type"`
	Source  notebookText `json:"source"`
	Count   *int         `json:"execution_count"`
	Outputs []cellResult `json:"outputs"`
}

type cellResult struct {
	Type      string                     `json:"output_type"`
	Name      string                     `json:"name"`
	Text      notebookText               `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Error     string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// A notebookText is a text that is written as one string, or in lines.
type notebookText string

// UnmarshalJSON takes both forms.
func (t *notebookText) UnmarshalJSON(data []byte) error {
	var lines []string
	if json.Unmarshal(data, &lines) == nil {
		*t = notebookText(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// readNotebook gives the cells of a notebook as text, and whether it is one.
func readNotebook(r io.Reader) (text string, ok bool) {
	data, err := io.ReadAll(io.LimitReader(r, maxNotebook+1))
	if err != nil || len(data) > maxNotebook {
		return "", false
	}
	var n notebook
	if json.Unmarshal(data, &n) != nil || n.Format != 4 {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[notebook, %s", output.Count(int64(len(n.Cells)), "cell"))
	if name := n.Metadata.Kernel.Name; name != "" {
		b.WriteString(", " + visibleName(name))
	}
	b.WriteString("]\n")
	for i, c := range n.Cells {
		c.write(&b, i+1)
	}
	return b.String(), true
}

func (c cell) write(b *strings.Builder, number int) {
	fmt.Fprintf(b, "[cell %d, %s", number, visibleName(c.Type))
	if c.Count != nil {
		fmt.Fprintf(b, ", run as %d", *c.Count)
	}
	b.WriteString("]\n")
	writeLines(b, string(c.Source))
	for _, o := range c.Outputs {
		o.write(b, number)
	}
}

func (o cellResult) write(b *strings.Builder, number int) {
	text, what := string(o.Text), o.Name
	switch {
	case o.Type == "error":
		what = "error"
		text = o.Error + ": " + o.Value + "\n" + strings.Join(o.Traceback, "\n")
	case o.Data != nil:
		text, what = o.shown()
	}
	if what == "" {
		what = o.Type
	}
	fmt.Fprintf(b, "[output of cell %d, %s]\n", number, visibleName(what))
	text = output.Clean([]byte(text))
	if len(text) > cellOutput {
		kept := strings.ToValidUTF8(text[:cellOutput], "")
		text = fmt.Sprintf("%s\n[%s more of this output]", kept, output.Count(int64(len(text)-len(kept)), "byte"))
	}
	writeLines(b, text)
}

// shown is the text among the forms of an output, and the names of the others
// with their sizes.
func (o cellResult) shown() (text, what string) {
	var plain notebookText
	_ = json.Unmarshal(o.Data["text/plain"], &plain) // no text is none
	what = o.Type
	for _, mediaType := range []string{"image/png", "image/jpeg", "image/svg+xml", "text/html", "application/json"} {
		if data, ok := o.Data[mediaType]; ok {
			what += fmt.Sprintf(", with %s of %s", mediaType, output.Size(int64(len(data))))
		}
	}
	return string(plain), what
}

func writeLines(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	b.WriteString(strings.TrimSuffix(text, "\n"))
	b.WriteByte('\n')
}
