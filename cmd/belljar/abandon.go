package main

import (
	"os"
	"sync"
	"time"
)

// abandonTime bounds what is still done when a second interrupt ends the
// process: whoever sends it does not want to wait.
const abandonTime = time.Second

// abandonedText says what was left undone by a process that ended at once.
const abandonedText = "interrupted twice, so nothing was waited for: the sandbox is removed within a minute, and nobody " +
	"has looked at which files that programs on this machine run or obey changed"

// A lastAct is what is done when the process ends at once. Safe for concurrent
// use.
type lastAct struct {
	mu sync.Mutex
	do func() // nil is nothing
}

// set replaces what is done.
func (l *lastAct) set(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.do = do
}

// run does it.
func (l *lastAct) run() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.do != nil {
		l.do()
	}
}

// abandon ends the process at once, as a second interrupt asks for.
func (a *app) abandon(code int) {
	done := make(chan struct{}) // closed when the last act is over
	go func() {
		defer close(done)
		a.last.run()
	}()
	select {
	case <-done:
	case <-time.After(abandonTime):
	}
	a.exit(code)
}

// abandon ends the record as it stands, while the run itself goes on.
func (j *job) abandon() {
	if j.record.abandon() {
		j.app.notice("%s", abandonedText)
		j.app.noticeWhole(j.again())
	}
}

// forget removes a session that holds nothing yet.
func (j *job) forget() {
	_ = os.RemoveAll(j.session.Dir) // nobody is left to be told
	j.app.notice("%s", abandonedText)
}
