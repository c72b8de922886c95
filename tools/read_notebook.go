package tools

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/belljar/belljar/internal/output"
)

const (
	// cellOutput bounds what is shown of one output, in bytes, and rawOutput
	// what is looked at of it: escape sequences go.
	cellOutput = 2000
	rawOutput  = 16 * cellOutput
	// notebookName bounds the words for the kinds of things.
	notebookName = 200
)

// A notebook is a Jupyter notebook (nbformat 4), written as text while its JSON
// is read.
type notebook struct {
	json   jsonParts
	format int64
	kernel string
	cells  int
	b      strings.Builder
}

// readNotebook gives the cells of a notebook as text. The error is errLargeJSON
// for one that is too large.
func readNotebook(ctx context.Context, r io.Reader) (string, error) {
	n := &notebook{json: newJSONParts(ctx, r)}
	err := n.json.object(func(key string) (err error) {
		switch key {
		case "nbformat":
			n.format, err = n.json.number(0)
		case "metadata":
			err = n.metadata()
		case "cells":
			err = n.json.array(n.cell)
		default:
			_, err = n.json.pass()
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading a notebook: %w", err)
	}
	if n.format != 4 {
		return "", fmt.Errorf("reading a notebook: its format is %d, not 4", n.format)
	}
	about := ""
	if n.kernel != "" {
		about = ", " + visibleName(n.kernel)
	}
	return fmt.Sprintf("[notebook, %s%s]\n%s", output.Count(int64(n.cells), "cell"), about, n.b.String()), nil
}

func (n *notebook) metadata() error {
	return n.json.object(func(key string) (err error) {
		if key != "kernelspec" {
			_, err = n.json.pass()
			return err
		}
		return n.json.object(func(key string) (err error) {
			if key == "display_name" {
				n.kernel, _, err = n.json.text("", notebookName)
			} else {
				_, err = n.json.pass()
			}
			return err
		})
	})
}

// cell reads a cell and writes it. Its members may come in any order.
func (n *notebook) cell() error {
	n.cells++
	kind, source, run := "", "", int64(-1)
	var outputs strings.Builder
	err := n.json.object(func(key string) (err error) {
		switch key {
		case "cell_type":
			kind, _, err = n.json.text("", notebookName)
		case "source":
			source, _, err = n.json.text("", maxJSON)
		case "execution_count":
			run, err = n.json.number(-1)
		case "outputs":
			err = n.json.array(func() error { return n.output(&outputs) })
		default:
			_, err = n.json.pass()
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(&n.b, "[cell %d, %s", n.cells, visibleName(kind))
	if run >= 0 {
		fmt.Fprintf(&n.b, ", run as %d", run)
	}
	n.b.WriteString("]\n")
	writeLines(&n.b, source)
	n.b.WriteString(outputs.String())
	return nil
}

// output reads one output of a cell and writes it.
func (n *notebook) output(b *strings.Builder) error {
	var o cellOutputs
	err := n.json.object(func(key string) (err error) {
		switch key {
		case "output_type":
			o.kind, _, err = n.json.text("", notebookName)
		case "name":
			o.name, _, err = n.json.text("", notebookName)
		case "text":
			o.text, o.cut, err = n.json.text("", rawOutput)
		case "ename":
			o.failure, _, err = n.json.text("", notebookName)
		case "evalue":
			o.value, _, err = n.json.text("", rawOutput)
		case "traceback":
			o.trace, o.cut, err = n.json.text("\n", rawOutput)
		case "data":
			err = n.json.object(func(mediaType string) error { return n.form(&o, mediaType) })
		default:
			_, err = n.json.pass()
		}
		return err
	})
	if err == nil {
		o.write(b, n.cells)
	}
	return err
}

// form reads one of the forms of an output: only text is shown.
func (n *notebook) form(o *cellOutputs, mediaType string) (err error) {
	if mediaType == "text/plain" {
		o.text, o.cut, err = n.json.text("", rawOutput)
		return err
	}
	size, err := n.json.pass()
	for i, known := range otherForms() {
		if mediaType == known {
			o.sizes[i] = size
		}
	}
	return err
}

// otherForms are the forms of an output that are told beside its text.
func otherForms() [5]string {
	return [...]string{"image/png", "image/jpeg", "image/svg+xml", "text/html", "application/json"}
}

// cellOutputs is one output, as far as it is shown.
type cellOutputs struct {
	kind, name, text      string
	failure, value, trace string
	cut                   int64    // bytes that were not looked at
	sizes                 [5]int64 // of the other forms
}

func (o *cellOutputs) write(b *strings.Builder, number int) {
	text, what := o.text, o.name
	if o.kind == "error" {
		what, text = "error", o.failure+": "+o.value+"\n"+o.trace
	}
	if what == "" {
		what = o.kind
	}
	for i, mediaType := range otherForms() {
		if o.sizes[i] > 0 {
			what += fmt.Sprintf(", with %s of %s", mediaType, output.Size(o.sizes[i]))
		}
	}
	fmt.Fprintf(b, "[output of cell %d, %s]\n", number, visibleName(what))
	if text == "" {
		return
	}
	text = output.Clean([]byte(text))
	if left := int64(len(text)) + o.cut; left > cellOutput {
		kept := strings.ToValidUTF8(text[:min(len(text), cellOutput)], "")
		text = fmt.Sprintf("%s\n[%s more of this output]", kept, output.Count(left-int64(len(kept)), "byte"))
	}
	writeLines(b, text)
}

func writeLines(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	b.WriteString(strings.TrimSuffix(text, "\n"))
	b.WriteByte('\n')
}
