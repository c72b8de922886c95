package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/supervisor"
)

// spareStart bounds the start of one exec, from its place among those that are
// started on. It takes about 0.1 s; engines with many starts at once were seen
// to take half a minute.
const spareStart = 60 * time.Second

// A spare is an exec that was started ahead. Its reader goroutine lives from
// the start of the exec to the end of its stream; done is closed when it ends.
type spare struct {
	conn   types.HijackedResponse
	execID string
	self   supervisor.Proc // inside
	shell  string
	// One reply fits: the next request is sent after the answer was taken. A
	// late answer, to a request that was given up, waits here and is dropped.
	replies chan supervisor.Reply
	quit    chan struct{} // closed by close
	once    sync.Once
	done    chan struct{}
	err     error // why the stream ended; nil after both trailers; valid once done

	writing sync.Mutex // held while a request is sent
	taken   bool       // a Run was sent: whatever follows is the command's input

	mu   sync.Mutex
	seq  int   // of the last request that is answered
	sink *sink // set with a Run; output follows the reply of that number
}

// startSpare starts an exec with a supervisor in it, once there is a place for
// it, and waits until it is ready.
func (b *box) startSpare(ctx context.Context, enter func(context.Context) (leave func(), err error), bound time.Duration) (*spare, error) {
	b.queued.Add(1)
	leave, err := enter(ctx)
	b.queued.Add(-1)
	if err != nil {
		return nil, err
	}
	defer leave()
	held := time.AfterFunc(placeBound, leave)
	defer held.Stop()
	defer after(stuckWait, func() { b.wake() })()
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("%w within %v", errSlowExec, bound))
	defer cancel()
	created, err := b.engine.api.ContainerExecCreate(ctx, b.id, container.ExecOptions{
		User: b.user, Cmd: supervisor.ExecArgs(helperInside), Env: supervisor.Environ(),
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return nil, orCause(ctx, "creating an exec", err)
	}
	conn, err := b.engine.hijack(ctx, "/exec/"+created.ID+"/start", container.ExecStartOptions{})
	if err != nil {
		return nil, orCause(ctx, "starting an exec", err)
	}
	s := &spare{conn: conn, execID: created.ID, replies: make(chan supervisor.Reply, 1),
		quit: make(chan struct{}), done: make(chan struct{})}
	b.readers.Add(1)
	go func() {
		defer b.readers.Done()
		s.read()
	}()
	ready, err := s.reply(ctx)
	if err != nil {
		s.close()
		return nil, orCause(ctx, "starting the supervisor in the container", err)
	}
	s.self, s.shell = supervisor.Proc{PID: ready.PID, Start: ready.Start}, ready.Shell
	return s, nil
}

// errSlowExec says that an exec did not start in its time.
var errSlowExec = errors.New("the engine started no exec")

// orCause says what was being done, and prefers the reason why the context
// ended to the error that its end brought about.
func orCause(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// read is the reader goroutine.
func (s *spare) read() {
	defer close(s.done)
	defer s.conn.Close()
	in, dec := newFrames(s.conn.Reader, outputBuffer), &decoder{}
	raw := false
	for {
		id, data, err := in.next()
		if err != nil {
			if out, _ := s.output(); raw {
				out.flush()
			}
			if dec.buf.Len() > 0 && !dec.magic {
				err = errText{dec.text()}
			}
			s.err = err
			return
		}
		if raw {
			if out, _ := s.output(); out.write(id, data) {
				return
			}
			continue
		}
		if id != streamStdout && dec.magic {
			// The streams have copiers of their own, so the first of a
			// command's stderr may overtake the acknowledgement.
			if out, _ := s.output(); out != nil && out.write(id, data) {
				return
			}
			continue
		}
		dec.feed(data)
		reply, ok, err := dec.next()
		var text errText
		switch {
		case errors.As(err, &text):
			// The engine's error text may come in pieces: read to the end.
			continue
		case err != nil:
			s.err = err
			return
		case !ok:
			continue
		}
		out, seq := s.output()
		if reply.Seq < seq {
			continue // nobody waits for it any more
		}
		select {
		case s.replies <- reply:
		case <-s.quit:
			return
		}
		if out != nil && reply.Error == "" {
			raw = true
			if rest := dec.buf.Bytes(); len(rest) > 0 && out.write(streamStdout, rest) {
				return
			}
		}
	}
}

// output returns where the command's output goes, if a Run was sent, and the
// number of the last request.
func (s *spare) output() (*sink, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sink, s.seq
}

// reply waits for the answer to the last request.
func (s *spare) reply(ctx context.Context) (supervisor.Reply, error) {
	var r supervisor.Reply
	select {
	case r = <-s.replies:
	case <-ctx.Done():
		return r, context.Cause(ctx)
	case <-s.done:
		// The answer may have come just before the end.
		select {
		case r = <-s.replies:
		default:
			if s.err == nil || errors.Is(s.err, io.EOF) {
				return r, errSpareGone
			}
			return r, s.err
		}
	}
	if r.Error != "" {
		return r, refusal{r.Error}
	}
	return r, nil
}

// A refusal is a supervisor's word that a request cannot be served.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

// errSpareGone says that a supervisor ended before it answered.
var errSpareGone = errors.New("the supervisor in the container ended before it answered")

// ask sends a request and waits for its answer.
func (s *spare) ask(ctx context.Context, req supervisor.Request) (supervisor.Reply, error) {
	if err := s.send(req, nil, nil); err != nil {
		return supervisor.Reply{}, err
	}
	return s.reply(ctx)
}

// prepare asks for a shell ahead, unless the spare is taken. It is not
// answered; a spare that cannot take it shows when it is used.
func (s *spare) prepare(setup supervisor.Setup) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.taken {
		return
	}
	// A supervisor that is stopped does not read; that must not hold the pool.
	_ = s.conn.Conn.SetWriteDeadline(time.Now().Add(ackWait))
	if err := supervisor.WriteFrame(s.conn.Conn, supervisor.Request{Op: supervisor.Prepare, Setup: setup}); err != nil {
		s.conn.Close() // half a message may be on its way
		return
	}
	_ = s.conn.Conn.SetWriteDeadline(time.Time{})
}

// send writes a request that is answered, and the script of a Run right behind
// it. Output goes to out from the answer on.
func (s *spare) send(req supervisor.Request, script []byte, out *sink) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	s.seq++
	req.Seq, s.sink = s.seq, out
	s.mu.Unlock()
	select {
	case <-s.replies: // a late answer to a request that was given up
	default:
	}
	s.taken = req.Op == supervisor.Run
	// A deadline cannot be set on a closed connection, which is no failure of
	// the sending: a short command may have ended already.
	_ = s.conn.Conn.SetWriteDeadline(time.Now().Add(spareStart))
	defer func() { _ = s.conn.Conn.SetWriteDeadline(time.Time{}) }()
	// In one piece: each costs a round through the engine's copiers.
	var message bytes.Buffer
	if err := supervisor.WriteFrame(&message, req); err != nil {
		return err
	}
	message.Write(script)
	_, err := s.conn.Conn.Write(message.Bytes())
	return err
}

// tell sends a request to a supervisor whose command runs. Nothing answers it
// but the trailer.
func (s *spare) tell(req supervisor.Request) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.Conn.SetWriteDeadline(time.Now().Add(ackWait))
	return supervisor.WriteFrame(s.conn.Conn, req)
}

// alive tells whether the stream is still open.
func (s *spare) alive() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// closeWait bounds the wait for a reader whose command's writer blocks.
const closeWait = 2 * time.Second

// close ends the stream; a supervisor that waits ends by itself then. The
// reader has ended too, unless the command's own writer blocks it.
func (s *spare) close() {
	s.once.Do(func() { close(s.quit) })
	s.conn.Close()
	select {
	case <-s.done:
	case <-time.After(closeWait):
	}
}
