package docker

import (
	"bytes"
	"log/slog"
	"testing"
)

func discardLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestProgressPlain(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	p.say("one\n%s", "two")
	p.update("step", "1 %")
	p.update("step", "2 %")
	p.update("", "only a detail")
	p.update("other\x1b[2J", "")
	p.close()
	if want := "one two\nstep\nother[2J\n"; out.String() != want {
		t.Errorf("output = %q, want %q", out.String(), want)
	}
}

func TestProgressTerminal(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	p.width = 10
	p.update("step", "1 %")
	p.update("step", "12345678")
	p.say("done")
	p.close()
	if want := "step  1 %\r\x1b[Kstep  123\r\x1b[Kdone\n"; out.String() != want {
		t.Errorf("output = %q, want %q", out.String(), want)
	}
}
