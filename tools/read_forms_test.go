package tools_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/belljar/belljar/tools"
)

// pictures are pictures by their types, of 3 × 2 pixels where they are whole.
func pictures(t testing.TB) map[string]string {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	if err := errors.Join(png.Encode(&p, picture), jpeg.Encode(&j, picture, nil), gif.Encode(&g, picture, nil)); err != nil {
		t.Fatal(err)
	}
	const riff = "RIFF\x20\x00\x00\x00WEBP"
	const lossy = "VP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x03\x00\x02\x00"
	return map[string]string{
		"image/png": p.String(), "image/jpeg": j.String(), "image/gif": g.String(),
		"image/webp":      riff + "VP8 \x14\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x03\x00\x02\x00" + strings.Repeat("\x00", 10),
		"image/webp;VP8L": riff + "VP8L\x14\x00\x00\x00\x2f\x02\x40\x00\x00" + strings.Repeat("\x00", 15),
		"image/webp;VP8X": "RIFF\x28\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x01\x00\x00" + lossy,
	}
}

func (f *files) read(t testing.TB, path string) tools.Result {
	t.Helper()
	args, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.registry.Execute(t.Context(), "read_file", args)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A picture comes back whole, with words about it for models that do not see.
func TestReadFileImages(t *testing.T) {
	f := newFiles(t)
	for name, data := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			mediaType, _, _ := strings.Cut(name, ";")
			f.put(t, "picture", data)
			res := f.read(t, "picture")
			if res.IsError || len(res.Parts) != 2 {
				t.Fatalf("%+v", res)
			}
			if text := res.Parts[0].Text; !strings.Contains(text, mediaType) || !strings.Contains(text, "3 × 2 pixels") {
				t.Errorf("it is described as %q", text)
			}
			if got := res.Parts[1]; got.MediaType != mediaType || string(got.Data) != data {
				t.Errorf("the picture is %s of %d bytes", got.MediaType, len(got.Data))
			}
		})
	}
}

func TestReadFileImagesThatAreNotShown(t *testing.T) {
	f := newFiles(t)
	whole := pictures(t)["image/png"]
	var wide bytes.Buffer
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, tools.ReadImageSide+1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, data, want string
		isError          bool
	}{
		{"many bytes", whole + strings.Repeat("x", tools.ReadImageBytes), "3 × 2 pixels; it is too large to be shown (at most 3 MiB and 8000 pixels a side)", false},
		{"many pixels", wide.String(), "8001 × 1 pixels; it is too large", false},
		{"cut", whole[:20], "it is damaged", true},
		{"cut WebP", "RIFF\x20\x00\x00\x00WEBPVP8 ", "it is damaged", true},
		{"unknown WebP", "RIFF\x20\x00\x00\x00WEBPVPxx" + strings.Repeat("\x00", 30), "it is damaged", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.put(t, "picture", tt.data)
			res := f.read(t, "picture")
			if len(res.Parts) != 1 || res.IsError != tt.isError || !strings.Contains(res.Parts[0].Text, tt.want) {
				t.Errorf("%d parts, %q, want %q", len(res.Parts), res.Parts[0].Text, tt.want)
			}
		})
	}
}

// A picture that is cut anywhere is not handed to a model.
func TestReadFileImagesThatAreCut(t *testing.T) {
	f := newFiles(t)
	for name, data := range pictures(t) {
		for size := 30; size < len(data); size++ {
			f.put(t, "picture", data[:size])
			if res := f.read(t, "picture"); len(res.Parts) != 1 {
				t.Errorf("%s is shown after %d of %d bytes", name, size, len(data))
			}
		}
	}
	broken := []byte(pictures(t)["image/png"])
	broken[len(broken)-20] ^= 1
	f.put(t, "picture", string(broken))
	if res := f.read(t, "picture"); !res.IsError || !strings.Contains(res.Parts[0].Text, "checksum") {
		t.Errorf("%+v", res.Parts[0])
	}
	f.put(t, "picture", "RIFF\x20\x00\x00\x00WEBPVP8 \x05\x00\x00\x00"+strings.Repeat("\x05", 30))
	if res := f.read(t, "picture"); !res.IsError || len(res.Parts) != 1 {
		t.Errorf("%+v", res.Parts[0])
	}
}

// A text that begins like a picture is a text.
func TestReadFileTextLikeAnImage(t *testing.T) {
	f := newFiles(t)
	f.put(t, "t.md", "GIF89a\n\n\n\n is how such files begin\n")
	if got, isError := f.call(t, "read_file", map[string]any{"path": "t.md"}); isError || !strings.HasPrefix(got, "     1\tGIF89a\n") {
		t.Errorf("%q", got)
	}
}

const aNotebook = `{"nbformat": 4, "nbformat_minor": 5,
 "metadata": {"kernelspec": {"display_name": "Python 3", "name": "python3"}},
 "cells": [
  {"cell_type": "markdown", "source": ["# Title\n", "words"]},
  {"cell_type": "code", "execution_count": 7, "source": "print(1)\nplot()", "outputs": [
   {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
   {"output_type": "display_data", "data": {"text/plain": ["<Figure>"], "image/png": "iVBORw0KGgo="}},
   {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["\u001b[31mline 1\u001b[0m"]}
  ]},
  {"cell_type": "code", "execution_count": null, "source": [], "outputs": []}
 ]}`

func TestReadFileNotebook(t *testing.T) {
	f := newFiles(t)
	f.put(t, "n.ipynb", aNotebook)
	got, isError := f.call(t, "read_file", map[string]any{"path": "n.ipynb"})
	want := `     1	[notebook, 3 cells, Python 3]
     2	[cell 1, markdown]
     3	# Title
     4	words
     5	[cell 2, code, run as 7]
     6	print(1)
     7	plot()
     8	[output of cell 2, stdout]
     9	1
    10	[output of cell 2, display_data, with image/png of 14 bytes]
    11	<Figure>
    12	[output of cell 2, error]
    13	ValueError: bad
    14	line 1
    15	[cell 3, code]
[a notebook is shown as its cells: the numbers are those of this view. In the file it is JSON, which bash shows and edit_file changes]
`
	if got != want || isError {
		t.Errorf("got %s\nwant %s", got, want)
	}
	got, _ = f.call(t, "read_file", map[string]any{"path": "n.ipynb", "offset": 3, "limit": 1})
	if !strings.HasPrefix(got, "     3\t# Title\n") || !strings.Contains(got, "offset=4 to read on; it has 15 lines") {
		t.Errorf("a part is %q", got)
	}
}

func TestReadFileNotebookBounds(t *testing.T) {
	f := newFiles(t)
	long, err := json.Marshal(strings.Repeat("中", 5000))
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, "n.ipynb", `{"nbformat":4,"cells":[{"cell_type":"code","source":"x","outputs":[{"output_type":"stream","name":"stdout","text":`+string(long)+`}]}]}`)
	got, _ := f.call(t, "read_file", map[string]any{"path": "n.ipynb"})
	if len(got) > 3000 || !strings.Contains(got, "中\n     6\t[13,002 bytes more of this output]") {
		t.Errorf("got %d bytes: …%q", len(got), got[max(len(got)-300, 0):])
	}
	for name, text := range map[string]string{"broken": `{"nbformat": 4, "cells": [`, "of another form": `{"nbformat": 3, "worksheets": []}`, "no object": "[]"} {
		f.put(t, "n.ipynb", text)
		if got, isError := f.call(t, "read_file", map[string]any{"path": "n.ipynb"}); isError || !strings.HasPrefix(got, "     1\t"+text+"\n") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
