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

// The statuses that are looked at: that of a job that goes on, that of one that
// was ended, and that of a call that could not be done.
const (
	statusRunning  = tools.StatusRunning
	statusCanceled = "canceled"
	statusError    = "error"
)

// The tools whose results depend on how far a background job has come.
const (
	bashTool   = "bash"
	outputTool = "bash_output"
	killTool   = "bash_kill"
)

// A comparison is of one result of a call with the recorded one.
type comparison struct {
	call               trajectory.ToolCall
	recorded, replayed trajectory.ToolResult
	opts               *Options
}

// isRunning tells whether the results are about a background job that went on.
func (c *comparison) isRunning() bool {
	return c.recorded.Status == statusRunning || c.replayed.Status == statusRunning
}

// run compares everything.
func (c *comparison) run() (Outcome, []Difference) {
	ending, text, firm := c.ending(), c.text(), append(c.more(), c.files()...)
	all := append(append(ending, text...), firm...)
	switch {
	case len(all) == 0:
		return Same, nil
	case len(firm) > 0 || c.recorded.IsError != c.replayed.IsError:
		return Differs, all
	case len(ending) == 0 && (c.isJobs() || c.onlyNews()), c.isJobs() && c.goesOn():
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

// text compares the texts that the calls gave.
func (c *comparison) text() []Difference {
	if c.recorded.Lasting != "" && c.recorded.Lasting == c.replayed.Lasting {
		return nil
	}
	a, b := c.texts()
	if a == b {
		return nil
	}
	return []Difference{{Part: "output", Diff: diff(a, b)}}
}

// texts are the two texts as they are compared.
func (c *comparison) texts() (recorded, replayed string) {
	recorded, replayed = textOf(c.recorded), textOf(c.replayed)
	if recorded == replayed {
		return recorded, replayed
	}
	return c.ignore(recorded), c.ignore(replayed)
}

// more compares what they gave beside: the whole of a long output, and images.
func (c *comparison) more() []Difference {
	var found []Difference
	for _, d := range []*Difference{c.full(), c.images()} {
		if d != nil {
			found = append(found, *d)
		}
	}
	return found
}

// onlyNews tells whether the texts are the same but for what belljar itself adds
// at the end of them when a background job has ended.
func (c *comparison) onlyNews() bool {
	if c.call.Name != bashTool {
		return false
	}
	a, b := c.texts()
	return sameButNews(a, b)
}

// isJobs tells whether both results are about a background job itself: what it
// wrote so far, and whether it goes on. The call tells, and not the text, which
// a command chooses.
func (c *comparison) isJobs() bool {
	ofJob := c.call.Name == outputTool || c.call.Name == killTool || c.isRunning()
	return ofJob && c.recorded.Status != statusError && c.replayed.Status != statusError
}

// goesOn tells whether one of the jobs had not ended by itself.
func (c *comparison) goesOn() bool {
	return c.isRunning() || c.recorded.Status == statusCanceled || c.replayed.Status == statusCanceled
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
