package replay

import (
	"bytes"
	"strconv"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// A Difference is one part of a result that came out otherwise.
type Difference struct {
	// Part is "status", "exit_code", "is_error", "output", "image",
	// "full_output" or "file".
	Part string `json:"part"`
	// Path is the file's, of a "file".
	Path string `json:"path,omitempty"`
	// Recorded and Replayed are the two values: of a file its hash, of a full
	// output the first line that differs, at Line. A text has a Diff instead.
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
	Line     int    `json:"line,omitempty"`
	// Diff is a bounded unified diff, without its header.
	Diff string `json:"diff,omitempty"`
}

// What stands for values that are not there.
const (
	noCode = "none"
	gone   = "gone"
)

// statusRunning is that of a result about a background job that goes on.
const statusRunning = tools.StatusRunning

// A comparison is of one result with the recorded one.
type comparison struct {
	recorded, replayed trajectory.ToolResult
	opts               *Options
}

// isRunning tells whether the results are about a background job that went on.
func (c *comparison) isRunning() bool {
	return c.recorded.Status == statusRunning || c.replayed.Status == statusRunning
}

// run compares everything.
func (c *comparison) run() (Outcome, []Difference) {
	ending := c.ending()
	given, loose := c.given()
	files := c.files()
	all := append(append(ending, given...), files...)
	if len(all) == 0 {
		return Same, nil
	}
	if c.recorded.IsError == c.replayed.IsError && len(files) == 0 && (loose && len(ending) == 0 || c.aboutJob()) {
		return Loose, all
	}
	return Differs, all
}

// ending compares how the calls ended.
func (c *comparison) ending() []Difference {
	var found []Difference
	differ := func(part, recorded, replayed string) {
		if recorded != replayed {
			found = append(found, Difference{Part: part, Recorded: recorded, Replayed: replayed})
		}
	}
	differ("status", c.recorded.Status, c.replayed.Status)
	differ("exit_code", codeText(c.recorded.ExitCode), codeText(c.replayed.ExitCode))
	differ("is_error", strconv.FormatBool(c.recorded.IsError), strconv.FormatBool(c.replayed.IsError))
	return found
}

func codeText(code *int) string {
	if code == nil {
		return noCode
	}
	return strconv.Itoa(*code)
}

// given compares what the calls gave. loose tells that only what depends on time
// differs.
func (c *comparison) given() (found []Difference, loose bool) {
	a, b := textOf(c.recorded), textOf(c.replayed)
	lasts := c.recorded.Lasting != "" && c.recorded.Lasting == c.replayed.Lasting
	if a != b && !lasts {
		a, b = c.ignore(a), c.ignore(b)
	}
	if a != b && !lasts {
		found = append(found, Difference{Part: "output", Diff: diff(a, b)})
		x, hadX := tools.WithoutNews(a)
		y, hadY := tools.WithoutNews(b)
		loose = (hadX || hadY) && x == y
	}
	if line := c.full(); line != nil {
		found, loose = append(found, *line), false
	}
	if more := c.images(); more != nil {
		found, loose = append(found, *more), false
	}
	return found, loose
}

// aboutJob tells whether both results are about a background job, what it wrote
// so far and whether it goes on.
func (c *comparison) aboutJob() bool {
	return tools.AboutJob(textOf(c.recorded)) && tools.AboutJob(textOf(c.replayed))
}

// ignore leaves out what matches the patterns.
func (c *comparison) ignore(text string) string {
	for _, pattern := range c.opts.Ignore {
		text = pattern.ReplaceAllLiteralString(text, "")
	}
	return text
}

// images compares the pictures of the two results by their bytes.
func (c *comparison) images() *Difference {
	a, b := imagesOf(c.recorded), imagesOf(c.replayed)
	same := len(a) == len(b)
	for i := 0; same && i < len(a); i++ {
		same = a[i].MediaType == b[i].MediaType && bytes.Equal(a[i].Data, b[i].Data)
	}
	if same {
		return nil
	}
	return &Difference{Part: "image", Recorded: pictures(a), Replayed: pictures(b)}
}

// files compares the files that the record names. One of an earlier belljar
// names none.
func (c *comparison) files() []Difference {
	if len(c.recorded.Files) == 0 {
		return nil
	}
	now := map[string]string{}
	for _, f := range c.replayed.Files {
		now[f.Path] = sumText(f.SHA256)
	}
	var found []Difference
	then := map[string]bool{}
	for _, f := range c.recorded.Files {
		then[f.Path] = true
		sum, named := now[f.Path]
		if !named {
			sum = noCode
		}
		if old := sumText(f.SHA256); old != sum {
			found = append(found, Difference{Part: "file", Path: f.Path, Recorded: old, Replayed: sum})
		}
	}
	for _, f := range c.replayed.Files {
		if !then[f.Path] {
			found = append(found, Difference{Part: "file", Path: f.Path, Recorded: noCode, Replayed: sumText(f.SHA256)})
		}
	}
	return found
}

func sumText(sum string) string {
	if sum == "" {
		return gone
	}
	return sum
}
