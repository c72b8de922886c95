package docker

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types"

	"github.com/belljar/belljar/internal/supervisor"
)

// fakeSpare is a spare whose supervisor is a function of the test.
func fakeSpare(t *testing.T, answer func(supervisor.Request) supervisor.Reply) *spare {
	t.Helper()
	here, there := net.Pipe()
	s := &spare{conn: types.NewHijackedResponse(here, ""), replies: make(chan supervisor.Reply, 1),
		quit: make(chan struct{}), done: make(chan struct{})}
	go s.read()
	t.Cleanup(s.close)
	go func() {
		defer there.Close()
		for text := supervisor.Magic; ; text = "" {
			var req supervisor.Request
			if supervisor.ReadFrame(there, &req) != nil {
				return
			}
			reply := answer(req)
			reply.Seq = req.Seq
			message := bytes.NewBufferString(text)
			if supervisor.WriteFrame(message, reply) != nil {
				return
			}
			if _, err := there.Write([]byte(frame(streamStdout, message.String()))); err != nil {
				return
			}
		}
	}()
	return s
}

// fakeBox is a box without a container whose killer is a function of the test.
func fakeBox(t *testing.T, answer func(supervisor.Request) supervisor.Reply) *box {
	t.Helper()
	b := &box{lifetime: t.Context(), active: map[*run]struct{}{}, pool: newPool(false, nil)}
	b.pool.killer = fakeSpare(t, answer)
	return b
}

// settleWait lets a goroutine come to a lock that is held.
const settleWait = 50 * time.Millisecond

// TestEndProcessesSparesWhatCameMeanwhile has a command leave a process, and
// another one begin, while a third waits for its turn to be ended.
func TestEndProcessesSparesWhatCameMeanwhile(t *testing.T) {
	left, begun := supervisor.Proc{PID: 70, Start: 7, Session: 60}, supervisor.Proc{PID: 80, Start: 8}
	var known []supervisor.Proc
	b := fakeBox(t, func(req supervisor.Request) supervisor.Reply {
		if req.Op == supervisor.Kill {
			known = req.Known
		}
		return supervisor.Reply{Clean: true}
	})
	b.killing.Lock()
	ended := make(chan error, 1) // one answer, so the sender never waits
	go func() {
		_, err := b.endProcesses(supervisor.Request{Victims: []supervisor.Proc{{PID: 50, Start: 5}}})
		ended <- err
	}()
	time.Sleep(settleWait)
	b.remember([]supervisor.Proc{left})
	b.activate(&run{spare: &spare{self: begun}})
	b.killing.Unlock()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, want := range []supervisor.Proc{left, {Session: begun.PID}} {
		if !slices.Contains(known, want) {
			t.Errorf("%+v is not among what is spared: %+v", want, known)
		}
	}
}

// TestClearWaitsForBorrowedKiller finds the process limit full while the killer
// gives files.
func TestClearWaitsForBorrowedKiller(t *testing.T) {
	b := fakeBox(t, func(supervisor.Request) supervisor.Reply {
		return supervisor.Reply{Clean: true, Counters: supervisor.Counters{Pids: 90, PidsMax: 96}}
	})
	b.killing.Lock()
	giver := b.pool.borrowGiver()
	var cleared bool
	ended := make(chan error, 1) // one answer, so the sender never waits
	go func() {
		var err error
		cleared, err = b.clearFull()
		ended <- err
	}()
	time.Sleep(settleWait)
	b.pool.giveBack(giver)
	b.killing.Unlock()
	if err := <-ended; err != nil || !cleared || b.broken != nil {
		t.Errorf("cleared %v, error %v, broken %v, want a sandbox that was cleared", cleared, err, b.broken)
	}
}
