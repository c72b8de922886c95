package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

// Bounds of what a person is shown of a difference; --json has more.
const (
	replayDiffLines = 12
	replayLine      = 160
)

// describe shows what the calls run in, and what of it is not the recorded.
func (r *replayJob) describe() {
	info := r.job.jar.Info()
	if was := r.manifest.Image; was.ID != "" && was.ID != info.Image.ID {
		r.talk("the image is not the recorded one: %s was %s, and is %s", was.Ref, was.ID, info.Image.ID)
	}
	if r.opts.json {
		return
	}
	now := r.manifest
	now.Engine, now.Runtime, now.Network, now.Loosened = info.Engine, info.Runtime, string(info.Network), info.Loosened
	now.Workspace, now.Image, now.Limits = r.job.spec.Workspace, trajectory.Image(info.Image), limitsOf(info.Limits)
	now.AllowHosts, now.InjectHeaders = r.job.gate.rules()
	header := headerOf(r.recorded.ID, now)
	header.Model, header.Approval, header.Started = "none, the calls are the recorded ones", "", time.Time{}
	header.Task, header.MountPoint = firstLine(r.manifest.Task), info.MountPoint
	renderer := ui.NewRenderer(r.app.stderr, ui.Options{Terminal: ui.Detect(r.app.stderr, r.app.getenv)})
	defer renderer.Close()
	renderer.Header(header)
}

// tell reports one call: with --json each, otherwise those that did not give
// what is on record. With the result of a call that had a sub-agent that one has
// ended.
func (r *replayJob) tell(call replay.Call) error {
	if call.Parent == "" {
		if err := r.agents.end(call.CallID); err != nil {
			return err
		}
	}
	if r.opts.json {
		return writeJSON(r.app.out(), struct {
			Type string `json:"type"`
			replay.Call
		}{"call", call})
	}
	if call.Outcome == replay.Same {
		return nil
	}
	_, err := fmt.Fprint(r.app.out(), callReport(call))
	return err
}

// callReport is what a person is told of a call.
func callReport(call replay.Call) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-8s call %d  %s  %s: ", outcomeWord(call.Outcome), call.Number, ui.Line(call.Name), ui.Clip(subjectOf(call), 60))
	if call.Outcome == replay.NotRun {
		return out.String() + notRunText(call.Why) + "\n"
	}
	var parts []string
	for _, d := range call.Differences {
		parts = append(parts, partText(d))
	}
	out.WriteString(strings.Join(parts, ", "))
	if call.Outcome == replay.Loose {
		out.WriteString(" (of a background job, which depends on time: not counted)")
	}
	out.WriteByte('\n')
	if call.Outcome == replay.Loose {
		return out.String()
	}
	for _, d := range call.Differences {
		if d.Part == "full_output" {
			d.Diff = "-" + d.Recorded + "\n+" + d.Replayed + "\n"
		}
		out.WriteString(shortDiff(d.Diff))
	}
	return out.String()
}

// shortDiff is the beginning of a diff, indented.
func shortDiff(diff string) string {
	var out strings.Builder
	shown := 0
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "@@") || line == "" && len(lines) == 1 {
			continue
		}
		if shown == replayDiffLines {
			fmt.Fprintf(&out, "    … %s more (--json)\n", ui.Plural(len(lines)-i, "line"))
			break
		}
		shown++
		out.WriteString("    " + ui.Clip(ui.Sanitize(line), replayLine) + "\n")
	}
	return out.String()
}

// subjectOf is what a call is about in one line: its first argument as a text.
func subjectOf(call replay.Call) string {
	var args map[string]any
	if json.Unmarshal([]byte(call.Arguments), &args) == nil {
		for _, name := range []string{"command", "path", "pattern", "job"} {
			if text, ok := args[name].(string); ok {
				return ui.Line(text)
			}
		}
	}
	return ui.Line(call.Arguments)
}

func outcomeWord(o replay.Outcome) string {
	if o == replay.NotRun {
		return "not run"
	}
	return string(o)
}

// partText says which part of a result differs, and how where that is short.
func partText(d replay.Difference) string {
	switch d.Part {
	case "output":
		return "output"
	case "full_output":
		return fmt.Sprintf("whole output from line %d on", d.Line)
	case "file":
		return fmt.Sprintf("file %s (%s, now %s)", ui.Line(d.Path), shortSum(d.Recorded), shortSum(d.Replayed))
	default:
		return fmt.Sprintf("%s %s, now %s", strings.ReplaceAll(d.Part, "_", " "), d.Recorded, d.Replayed)
	}
}

// shortSum is the beginning of a hash, or the word in its place.
func shortSum(sum string) string { return sum[:min(len(sum), 12)] }

// notRunText says why a call was not run.
func notRunText(why string) string {
	switch why {
	case "denied":
		return "it was denied"
	case "not_run":
		return "it did not run then"
	case "interrupted", "canceled":
		return "the run was stopped while it ran"
	case "failed", "lost":
		return "the sandbox was lost while it ran"
	case replay.WhyNoResult:
		return "no result is on record: the run was killed while it ran, or goes on"
	case replay.WhyNoTool:
		return "the tool cannot be had: it needs a model, or is not whole on record"
	case replay.WhyHidden:
		return "secrets were hidden in its arguments, so another call would run"
	default:
		return why
	}
}

// report sums up.
func (r *replayJob) report(sum replay.Summary) error {
	info := r.job.jar.Info()
	if r.opts.json {
		return writeJSON(r.app.out(), struct {
			Type    string `json:"type"`
			Session string `json:"session"`
			replay.Summary
			Workspace string           `json:"workspace"`
			Copied    bool             `json:"copied"`
			Image     trajectory.Image `json:"image"`
			Was       trajectory.Image `json:"recorded_image"`
			Loosened  []string         `json:"loosened"`
		}{
			"summary", r.recorded.ID, sum, r.job.spec.Workspace, r.opts.dir == "",
			trajectory.Image(info.Image), r.manifest.Image, append([]string{}, info.Loosened...),
		})
	}
	_, err := fmt.Fprintln(r.app.out(), summaryText(sum))
	return err
}

// summaryText is the last line of a report.
func summaryText(sum replay.Summary) string {
	parts := []string{fmt.Sprintf("%d the same", sum.Same)}
	if sum.Differs > 0 {
		parts = append(parts, ui.Plural(sum.Differs, "differs|differ"))
	}
	if sum.Loose > 0 {
		parts = append(parts, fmt.Sprintf("%d only in what depends on time", sum.Loose))
	}
	n := 0
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(sum.NotRun)) {
		n += sum.NotRun[reason]
		why = append(why, fmt.Sprintf("%d %s", sum.NotRun[reason], strings.ReplaceAll(reason, "_", " ")))
	}
	if n > 0 {
		parts = append(parts, fmt.Sprintf("%d not run (%s)", n, strings.Join(why, ", ")))
	}
	text := ui.Plural(sum.Calls, "call") + " on record: " + strings.Join(parts, ", ")
	switch {
	case sum.Truncated:
		text += "; the record stops in the middle of a line"
	case !sum.Ended:
		text += "; the record has no end: the run goes on, or was killed"
	}
	return text
}
