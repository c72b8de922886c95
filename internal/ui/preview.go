package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/belljar/belljar/agent/trajectory"
)

const (
	// previewHead and previewTail are how many lines of a result are shown, of
	// its beginning and its end: an answer often ends with what matters.
	previewHead = 3
	previewTail = 2
	// leastHidden is the least number of lines that one line in their place
	// stands for.
	leastHidden = 3
	// mostLines is more than a command can write.
	mostLines = 1 << 40
)

// preview picks the lines of a result that are shown while a run goes on.
func preview(event trajectory.ToolResult, lines []contentLine, width int) []contentLine {
	lines = withoutCode(event, lines)
	// The diff that a command prints may be about anything.
	isHeader := func(line contentLine) bool { return line.kind == kindHeader }
	if event.ExitCode == nil && slices.ContainsFunc(lines, isHeader) {
		return previewEdits(lines, width)
	}
	head, hidden, tail := split(lines, previewHead, previewTail)
	if hidden == nil {
		return head
	}
	count := 0
	for _, line := range hidden {
		count += stoodFor(line.text)
	}
	short := append(slices.Clone(head), contentLine{text: "… " + Plural(count, "more line")})
	return append(short, tail...)
}

// split divides lines into those at the beginning, those that one line stands
// for, and those at the end. Where that is not worth it all are at the
// beginning.
func split[L any](lines []L, head, tail int) (first, hidden, last []L) {
	if len(lines)-head-tail < leastHidden {
		return lines, nil, nil
	}
	return lines[:head], lines[head : len(lines)-tail], lines[len(lines)-tail:]
}

// stoodFor is how many lines of a command's output a line stands for: one, or
// as many as it says were left out for the model. What it says may be a lie of
// the command's.
func stoodFor(line string) int {
	text, begins := strings.CutPrefix(line, "[… ")
	number, rest, _ := strings.Cut(text, " ")
	count, err := strconv.Atoi(strings.ReplaceAll(number, ",", ""))
	if !begins || err != nil || count < 1 || count > mostLines || !strings.HasPrefix(rest, "line") || !strings.HasSuffix(rest, " omitted …]") {
		return 1
	}
	return count
}

// withoutCode drops the line that says the exit code at the end of a command's
// result: the line above the result says it already.
func withoutCode(event trajectory.ToolResult, lines []contentLine) []contentLine {
	if event.ExitCode == nil {
		return lines
	}
	code := "[exit code " + strconv.Itoa(*event.ExitCode) + "]"
	// Further lines in brackets may follow that of the exit code.
	last := len(lines) - 1
	for last >= 0 && lines[last].text != code && strings.HasPrefix(lines[last].text, "[") {
		last--
	}
	if last < 0 || lines[last].text != code {
		return lines
	}
	return append(slices.Clone(lines[:last]), lines[last+1:]...)
}
