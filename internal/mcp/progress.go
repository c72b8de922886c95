package mcp

import (
	"context"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/belljar/belljar/internal/output"
)

const (
	// waitingText and startingText are what a call waits for before it runs.
	waitingText  = "waits for other calls"
	startingText = "the sandbox is being started"
	// maxTail bounds the output that is looked at for its last line, in bytes, and
	// maxLine what is shown of that, in characters.
	maxTail = 4 << 10
	maxLine = 200
)

// A progress knows how far a call has come: how long it has run and the last line
// that it wrote. Safe for concurrent use.
type progress struct {
	begun time.Time

	mu   sync.Mutex
	what string // as long as nothing was written
	tail []byte
}

// newProgress makes one of a call that does what the text says.
func newProgress(what string) *progress { return &progress{begun: time.Now(), what: what} }

// begin changes what the call does.
func (p *progress) begin(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = what
}

// Write takes output.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(b) >= maxTail {
		p.tail = append(p.tail[:0], b[len(b)-maxTail:]...)
		return len(b), nil
	}
	if over := len(p.tail) + len(b) - maxTail; over > 0 {
		p.tail = append(p.tail[:0], p.tail[over:]...)
	}
	p.tail = append(p.tail, b...)
	return len(b), nil
}

// line is the last line with something in it.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.TrimSpace(output.Clean(p.tail))
	if text == "" {
		return p.what
	}
	line := []rune(text[strings.LastIndexByte(text, '\n')+1:])
	if len(line) > maxLine {
		line = append(line[:maxLine], '…')
	}
	return string(line)
}

// report tells of the progress until stop is called, which returns when nothing
// more will be told.
func (p *progress) report(ctx context.Context, tell func(seconds float64, message string)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{}) // closed when the goroutine below has ended
	go func() {
		defer close(done)
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				tell(math.Round(time.Since(p.begun).Seconds()*10)/10, p.line())
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
