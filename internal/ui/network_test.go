package ui_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
)

func TestNetworkEvents(t *testing.T) {
	allowed := trajectory.Network{Host: "good.example", Port: 443, Allowed: true, Rule: "*.example"}
	denied := trajectory.Network{Host: "bad.example\x1b[2J", Port: 80, Reason: "no rule allows it"}
	for _, test := range []struct {
		name string
		opts ui.Options
		want string
	}{
		{"while it goes on", ui.Options{}, "belljar: network: bad.example:80 was denied: no rule allows it\n"},
		{"afterwards", ui.Options{Whole: true}, "belljar: network: good.example:443 was allowed (*.example)\n" +
			strings.Repeat("belljar: network: bad.example:80 was denied: no rule allows it\n", 2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			r := ui.NewRenderer(&out, test.opts)
			for _, event := range []trajectory.Network{allowed, denied, denied} {
				if err := r.Record(event); err != nil {
					t.Fatal(err)
				}
			}
			r.Close()
			if got := out.String(); got != test.want {
				t.Errorf("shown:\n%q\nwant:\n%q", got, test.want)
			}
		})
	}
}

// TestNetworkEventsAreBounded: asking for hosts without end does not fill the
// screen.
func TestNetworkEventsAreBounded(t *testing.T) {
	var out bytes.Buffer
	r := ui.NewRenderer(&out, ui.Options{})
	for i := range 1000 {
		if err := r.Record(trajectory.Network{Host: fmt.Sprintf("h%d.example", i), Port: 80, Reason: "no"}); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	if lines := strings.Count(out.String(), "\n"); lines < 2 || lines > 100 {
		t.Errorf("%d lines are shown", lines)
	}
}

// TestQuestionIsNotCovered: what comes while a question stands is shown after
// its answer, and the end of the screen shows it in any case.
func TestQuestionIsNotCovered(t *testing.T) {
	var out bytes.Buffer
	r := ui.NewRenderer(&out, ui.Options{Terminal: ui.Terminal{Live: true}, Width: 60})
	if err := r.Record(trajectory.Start{}); err != nil {
		t.Fatal(err)
	}
	for _, answered := range []bool{true, false} {
		out.Reset()
		done := r.Question("allow it?", func() {})
		r.Text("the model goes on")
		r.Notice("something happened")
		if got := out.String(); got != "allow it? " {
			t.Errorf("while the question stands %q is shown", got)
		}
		done(answered)
		if got := out.String(); !strings.Contains(got, "the model goes on") || !strings.Contains(got, "something happened") || !answered && !strings.HasPrefix(got, "allow it? \n") {
			t.Errorf("after the answer %q is shown", got)
		}
	}
	out.Reset()
	r.Question("and now?", func() {})
	r.Notice("the end")
	r.Close()
	if got := out.String(); !strings.Contains(got, "the end") {
		t.Errorf("at the end %q is shown", got)
	}
}

func TestQuestion(t *testing.T) {
	var out bytes.Buffer
	r := ui.NewRenderer(&out, ui.Options{})
	done := r.Question("belljar: allow\x1b[2J it? [y/N] ", func() {})
	done(true)
	r.Question("and this? ", func() {})(false)
	r.Close()
	if got := out.String(); got != "belljar: allow it? [y/N] and this? \n" {
		t.Errorf("shown %q", got)
	}
}
