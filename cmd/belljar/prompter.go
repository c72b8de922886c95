package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
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

	once sync.Once
	gone bool // nobody answered

	mu      sync.Mutex
	waiting chan string // takes the next line; nil when nothing is asked
	ended   bool        // the terminal's input has come to its end
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

// showPlain shows a question where nothing else is drawn.
func (a *app) showPlain(question string) (done func(answered bool)) {
	fmt.Fprint(a.stderr, question)
	return func(answered bool) {
		if !answered {
			fmt.Fprintln(a.stderr)
		}
	}
}

// ask asks one question. It is not called while another one is open.
func (p *prompter) ask(ctx context.Context, host string, port int) bool {
	// A program in the background that reads from its terminal is stopped.
	if p.gone || p.over() || !inForeground(p.in) {
		return false
	}
	discardInput(p.in)             // what was typed before is no answer
	answer := make(chan string, 1) // one line, so the reader never waits
	p.expect(answer)
	defer p.expect(nil)
	p.once.Do(func() { go p.read() })
	done := p.show(fmt.Sprintf("belljar: the sandbox asks for %s:%d; allow it for this run? [y/N] ", ui.Line(host), port))
	answered := false
	defer func() { done(answered) }()
	timer := time.NewTimer(askTime)
	defer timer.Stop()
	select {
	case line := <-answer:
		answered = strings.HasSuffix(line, "\n") // the terminal has echoed it
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes"
	case <-timer.C:
		p.gone = true
		return false
	case <-ctx.Done():
		return false
	}
}

// over tells whether no line can come any more.
func (p *prompter) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// expect says where the next line goes.
func (p *prompter) expect(answer chan string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = answer
}

// read reads lines for as long as the process lives: a read from a terminal
// cannot be given up. What nobody asked for is dropped.
func (p *prompter) read() {
	in := bufio.NewReader(io.LimitReader(p.in, 1<<20))
	for {
		line, err := in.ReadString('\n')
		p.mu.Lock()
		if p.waiting != nil && (line != "" || err != nil) {
			p.waiting <- line
			p.waiting = nil
		}
		p.ended = err != nil
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}
