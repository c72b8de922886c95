package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/belljar/belljar/agent/trajectory"
)

// Bounds of what is told of one difference.
const (
	diffLines = 100
	lineChars = 500
	// aroundLines is how many lines stand around a change.
	aroundLines = 1
	// maxOutputLine is the longest line of a full output that is compared as one.
	maxOutputLine = 1 << 20
)

// textOf are the texts of a result, one after another.
func textOf(r trajectory.ToolResult) string {
	var texts []string
	for _, p := range r.Content {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// imagesOf are the pictures of a result.
func imagesOf(r trajectory.ToolResult) []trajectory.Part {
	var images []trajectory.Part
	for _, p := range r.Content {
		if p.Type == "image" {
			images = append(images, p)
		}
	}
	return images
}

// pictures words a list of pictures.
func pictures(list []trajectory.Part) string {
	if len(list) == 0 {
		return noCode
	}
	var words []string
	for _, p := range list {
		words = append(words, fmt.Sprintf("%s of %d bytes", p.MediaType, len(p.Data)))
	}
	return strings.Join(words, ", ")
}

// diff is a bounded unified diff of two texts that differ, without its header.
func diff(a, b string) string {
	a, b = ended(a), ended(b)
	u, err := udiff.ToUnified("recorded", "replayed", a, udiff.Lines(a, b), aroundLines)
	if err != nil {
		return fmt.Sprintf("[the diff cannot be shown: %v]\n", err)
	}
	var out strings.Builder
	lines := strings.SplitAfter(u, "\n")
	lines = lines[min(2, len(lines)):] // the header
	for i, line := range lines {
		if i == diffLines {
			fmt.Fprintf(&out, "[%d more lines]\n", len(lines)-i)
			break
		}
		out.WriteString(clip(line))
	}
	return out.String()
}

// ended is a text whose last line is ended, so that this alone is no
// difference to show: results differ in more than that.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// clip shortens a line to lineChars characters.
func clip(line string) string {
	if utf8.RuneCountInString(line) <= lineChars {
		return line
	}
	return string([]rune(line)[:lineChars]) + "…\n"
}

// full compares the whole outputs, where both were kept: what is shown of them
// leaves their middle out.
func (c *comparison) full() *Difference {
	a, errA := open(c.opts.Recorded, c.recorded.Output)
	b, errB := open(c.opts.Replayed, c.replayed.Output)
	if errA == nil {
		defer a.Close()
	}
	if errB == nil {
		defer b.Close()
	}
	if errA != nil || errB != nil {
		return nil // what is shown is all there is to compare
	}
	x, y := bufio.NewReader(a), bufio.NewReader(b)
	for line := 1; ; line++ {
		then, errThen := readLine(x)
		now, errNow := readLine(y)
		if errThen != nil && errNow != nil {
			return nil
		}
		if then != now && c.ignore(then) != c.ignore(now) {
			return &Difference{
				Part: "full_output", Line: line,
				Recorded: lineText(then, errThen), Replayed: lineText(now, errNow),
			}
		}
	}
}

// open opens a whole output.
func open(outputs fs.FS, name string) (fs.File, error) {
	if outputs == nil || name == "" {
		return nil, fs.ErrNotExist
	}
	return outputs.Open(name)
}

// readLine reads a line, or a piece of maxOutputLine bytes of a longer one.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for len(line) < maxOutputLine {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			return strings.TrimSuffix(string(line), "\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
	return string(line), nil
}

// lineText shows a line of a whole output.
func lineText(line string, err error) string {
	if err != nil {
		return "(it has ended)"
	}
	return strings.TrimSuffix(clip(line), "\n")
}
