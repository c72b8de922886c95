package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/ui"
)

// askTime is how long a person is given to answer a question about a host, since
// a command waits for it. Who does not answer is not there, and is asked about no
// more hosts.
const askTime = time.Minute

// heldTime is how long it takes to write a line to a terminal at most that nobody
// has stopped, as Ctrl-S does.
const heldTime = time.Second

// An asker asks whether a host and port may be reached.
type asker func(ctx context.Context, host string, port int) bool

// shower shows a question and returns what is called when it is over. It calls
// ready right before the question stands.
type shower func(question string, ready func()) (done func(answered bool))

// Why nobody answers.
var (
	errBackground = errors.New("belljar may not read from the terminal")
	errNoInput    = errors.New("the terminal's input ended")
)

// A prompter asks the person at the terminal, one question at a time, whoever
// raises it. Safe for concurrent use.
type prompter struct {
	in   *os.File
	show shower // shows a question about a host
	// turn is held by who asks; its capacity is one. A mutex would not let
	// a canceled question stop waiting. It guards what follows.
	turn  chan struct{}
	away  bool // nobody answered about a host
	ended bool // the input is at its end
}

// prompter makes one, if somebody is there who can be asked: both stdin and
// stderr are a terminal. Where nobody is it is nil.
func (a *app) prompter(show shower) *prompter {
	in, ok := a.stdin.(*os.File)
	if !ok || !ui.Detect(in, a.getenv).Terminal || !ui.Detect(a.stderr, a.getenv).Terminal {
		return nil
	}
	return newPrompter(in, show)
}

func newPrompter(in *os.File, show shower) *prompter {
	return &prompter{in: in, show: show, turn: make(chan struct{}, 1)}
}

// hosts gives what asks about hosts; nil where nobody can be asked.
func (p *prompter) hosts() asker {
	if p == nil {
		return nil
	}
	return p.askHost
}

// askHost asks whether a host may be reached.
func (p *prompter) askHost(ctx context.Context, host string, port int) bool {
	if !p.take(ctx) {
		return false
	}
	defer p.give()
	if p.away {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	line, err := p.question(limited, func(ready func()) func(bool) {
		return p.show(fmt.Sprintf("belljar: the sandbox asks for %s:%d; allow it for this run? [y/N] ", ui.Line(host), port), ready)
	})
	p.away = p.away || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil // of one that ends nothing is to be told
	answer := strings.ToLower(line)
	return err == nil && (answer == "y" || answer == "yes")
}

// discard drops what was typed before the question stood, which is no answer. Once
// it stands an answer may be there at any moment.
func (p *prompter) discard() {
	if inForeground(p.in) { // who is not is stopped by trying
		discardInput(p.in)
	}
}

// take waits for the turn to ask, and give gives it back.
func (p *prompter) take(ctx context.Context) bool {
	select {
	case p.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *prompter) give() { <-p.turn }

// question shows a question and reads the answer, without the space around it.
// The turn is held. Nothing is read from the terminal between questions: who is
// sent into the background then, and reads, is stopped.
func (p *prompter) question(ctx context.Context, show func(ready func()) (done func(answered bool))) (string, error) {
	switch {
	case p.ended:
		return "", errNoInput
	case !inForeground(p.in):
		return "", errBackground
	}
	var asked time.Time
	done := show(func() {
		asked = time.Now()
		p.discard()
	})
	answered := false
	defer func() { done(answered) }()
	if time.Since(asked) > heldTime { // nobody saw what they answered meanwhile
		p.discard()
	}
	line, err := readLine(ctx, p.in)
	if err != nil {
		if p.ended = ctx.Err() == nil; p.ended {
			err = errNoInput
		}
		return "", err
	}
	answered = strings.HasSuffix(line, "\n") // the terminal has echoed it
	return strings.TrimSpace(line), nil
}
