// Command gate reads the output of "go test -json", shows what a person wants
// to see of it and fails when a test failed or was skipped. A test that needs an
// engine must not pass by not running.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	ok, err := gate(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// An event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// A report is what became of the tests so far.
type report struct {
	out            io.Writer
	talk           map[string]*strings.Builder // output of tests that have not ended
	passed, failed int
	failedPackages int
	skipped        []string
}

// maxLine bounds one event, in bytes; a test may print a long line.
const maxLine = 64 << 20

// gate copies the closing lines of packages and the output of failed tests to
// out and reports whether every test ran and passed.
func gate(in io.Reader, out io.Writer) (bool, error) {
	r := &report{out: out, talk: make(map[string]*strings.Builder)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			// The go command itself talks like this when it cannot start.
			fmt.Fprintln(out, lines.Text())
			continue
		}
		r.take(e)
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("reading the test output: %w", err)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, len(r.skipped))
	for _, one := range r.skipped {
		fmt.Fprintf(out, "skipped: %s\n", one)
	}
	if r.passed == 0 && r.failed == 0 {
		return false, fmt.Errorf("no test ran")
	}
	return r.failed == 0 && r.failedPackages == 0 && len(r.skipped) == 0, nil
}

func (r *report) take(e event) {
	key := e.Package + " " + e.Test
	switch {
	case e.Action == "output" && e.Test == "", e.Action == "build-output":
		// The bare word says less than the line that follows it.
		if e.Output != "PASS\n" {
			io.WriteString(r.out, e.Output)
		}
	case e.Action == "output":
		if r.talk[key] == nil {
			r.talk[key] = new(strings.Builder)
		}
		r.talk[key].WriteString(e.Output)
	case e.Test == "":
		if e.Action == "fail" || e.Action == "build-fail" {
			r.failedPackages++
			r.showUnfinished(e.Package)
		}
	case e.Action == "pass":
		r.passed++
		delete(r.talk, key)
	case e.Action == "fail":
		r.failed++
		r.show(key)
	case e.Action == "skip":
		r.skipped = append(r.skipped, key+r.reason(key))
		delete(r.talk, key)
	}
}

// show prints what a test said.
func (r *report) show(key string) {
	if talk := r.talk[key]; talk != nil {
		io.WriteString(r.out, talk.String())
		delete(r.talk, key)
	}
}

// showUnfinished prints what tests said that a panic or the time limit ended.
func (r *report) showUnfinished(pkg string) {
	for key := range r.talk {
		if strings.HasPrefix(key, pkg+" ") {
			r.show(key)
		}
	}
}

// reason is the line that a test was skipped with.
func (r *report) reason(key string) string {
	if r.talk[key] == nil {
		return ""
	}
	for line := range strings.Lines(r.talk[key].String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			return ": " + line
		}
	}
	return ""
}
