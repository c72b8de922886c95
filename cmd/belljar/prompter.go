package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/ui"
)

// askTime is how long a person is given to answer. Who does not answer is not
// there, and is asked nothing more.
const askTime = time.Minute

// An asker asks whether a host and port may be reached.
type asker func(ctx context.Context, host string, port int) bool

// A prompter asks the person at the terminal, one question at a time.
type prompter struct {
	in *os.File
	// show shows a question and returns what is called when it is over.
	show func(question string) (done func(answered bool))
	gone bool // nobody answered, or nobody can any more
}

// asker asks the person at the terminal, if one is there who can be asked: both
// stdin and stderr are a terminal. Where there is none it is nil.
func (a *app) asker(show func(question string) (done func(answered bool))) asker {
	in, ok := a.stdin.(*os.File)
	if !ok || !ui.Detect(in, a.getenv).Terminal || !ui.Detect(a.stderr, a.getenv).Terminal {
		return nil
	}
	return (&prompter{in: in, show: show}).ask
}

// ask asks one question. It is not called while another one is open. Nothing is
// read from the terminal between questions: who is sent into the background
// then, and reads, is stopped.
func (p *prompter) ask(ctx context.Context, host string, port int) bool {
	if p.gone || !inForeground(p.in) {
		return false
	}
	done := p.show(fmt.Sprintf("belljar: the sandbox asks for %s:%d; allow it for this run? [y/N] ", ui.Line(host), port))
	answered := false
	defer func() { done(answered) }()
	if inForeground(p.in) { // who is not is stopped by trying
		discardInput(p.in) // what was typed before the question stood is no answer
	}
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	line, err := readLine(limited, p.in)
	if err != nil {
		p.gone = ctx.Err() == nil // of one that ends nothing is to be told
		return false
	}
	answered = strings.HasSuffix(line, "\n") // the terminal has echoed it
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}
