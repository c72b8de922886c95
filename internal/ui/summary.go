package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
)

// Header is what is said before a run begins. Empty fields are left out.
type Header struct {
	Session, Workspace, MountPoint, Image, Engine, Model, Task string
	// Instructions says what of the workspace is part of the prompt.
	Instructions string
	// Tools are the user's own; "" is none.
	Tools   string
	Limits  trajectory.Limits
	Network string
	// Approval says which calls a person is asked about; "" is none.
	Approval string
	Loosened []string
	Started  time.Time
}

// Header shows what is about to run, and where.
func (r *Renderer) Header(h Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line("", "belljar", bold, spaced(Line(h.Session)), faint)
	r.field("task", Clip(Line(h.Task), r.width()-len("  ")-fieldWidth))
	workspace := Line(h.Workspace)
	if h.MountPoint != "" && h.MountPoint != h.Workspace {
		workspace += " as " + Line(h.MountPoint)
	}
	r.field("workspace", workspace)
	r.field("image", Line(h.Image))
	r.field("engine", Line(h.Engine))
	r.field("limits", limitsText(h.Limits))
	r.field("network", Line(h.Network))
	r.field("approval", Line(h.Approval))
	r.field("loosened", Line(strings.Join(h.Loosened, ", ")))
	r.field("model", Line(h.Model))
	r.field("instructions", Line(h.Instructions))
	r.field("own tools", Line(h.Tools))
	if !h.Started.IsZero() {
		r.field("started", h.Started.Local().Format(time.DateTime))
	}
}

// fieldWidth is the columns of a field's name, with the space after it.
const fieldWidth = len("instructions") + 2

// field writes one line of the header, in full: a path that is cut off is of
// no use.
func (r *Renderer) field(name, value string) {
	if value != "" {
		r.write("  " + r.paint(faint, pad(name, fieldWidth)) + value + "\n")
	}
}

// limitsText says the limits in one line.
func limitsText(l trajectory.Limits) string {
	if l.Memory == 0 && l.CPUs == 0 && l.Pids == 0 {
		return ""
	}
	text := Size(l.Memory) + " memory, " + cpusText(l.CPUs)
	if l.CPUSet != "" {
		text += " (" + Line(l.CPUSet) + ")"
	}
	if l.Pids > 0 {
		text += ", " + Plural(int(l.Pids), "process|processes")
	}
	return text
}

// cpusText says a number of processors without needless zeros.
func cpusText(cpus float64) string {
	if cpus == 1 {
		return "1 cpu"
	}
	return strconv.FormatFloat(cpus, 'f', -1, 64) + " cpus"
}

// Totals are what a run came to.
type Totals struct {
	// Stop says in words why the run ended.
	Stop  string
	Good  bool
	Turns int
	Usage trajectory.Usage
	// Waits counts the waits for the model's server, and Waited is how long
	// they were together.
	Waits  int
	Waited time.Duration
	Took   time.Duration
	// Again is the command that shows the run again; "" is none.
	Again string
}

// Totals shows what a run came to, in one line where it fits.
func (r *Renderer) Totals(t Totals) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endText()
	about := ""
	if t.Usage.Estimated {
		about = "about "
	}
	parts := []string{
		Line(t.Stop), Plural(t.Turns, "turn"),
		about + Plural(t.Usage.Input, "token") + " in, " + Number(t.Usage.Output) + " out",
	}
	// What costs nothing, and what was never asked, needs no word on it.
	if cost := t.Usage.CostUSD; (cost == nil || *cost > 0) && t.Usage.Input+t.Usage.Output > 0 {
		parts = append(parts, "cost "+Cost(cost, t.Usage.Estimated))
	}
	if t.Waits > 0 {
		parts = append(parts, Plural(t.Waits, "wait")+" for the model ("+Duration(t.Waited)+")")
	}
	if t.Took > 0 {
		parts = append(parts, Duration(t.Took))
	}
	if t.Again != "" {
		parts = append(parts, Line(t.Again))
	}
	color := green
	if !t.Good {
		color = red
	}
	r.erase()
	r.write("\n" + r.paint(color, "belljar: ") + joined(parts, len("belljar: "), r.width()) + "\n")
}

// joined puts parts in a line that begins at a column, and breaks it between
// two parts where it gets too wide.
func joined(parts []string, column, width int) string {
	const dot, indent = " · ", "  "
	var text strings.Builder
	for i, part := range parts {
		wide := widths().StringWidth(part)
		switch {
		case i == 0:
		case column+widths().StringWidth(dot)+wide > width:
			text.WriteString("\n" + indent)
			column = len(indent)
		default:
			text.WriteString(dot)
			column += widths().StringWidth(dot)
		}
		text.WriteString(part)
		column += wide
	}
	return text.String()
}
