package renew_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/renew"
)

var errGone = fmt.Errorf("running a command: %w: the container was removed", sandbox.ErrLost)

// A box is a sandbox that is lost when somebody says so.
type box struct {
	id string

	mu     sync.Mutex
	lost   chan struct{} // closed when it is lost
	closed int
	close  error // what Close returns
}

func (b *box) Exec(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	if cmd.Script == "wait" {
		<-b.lost
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.lost:
		return sandbox.Result{}, errGone
	default:
	}
	if b.closed > 0 {
		return sandbox.Result{}, sandbox.ErrClosed
	}
	code := 0
	return sandbox.Result{Status: sandbox.Exited, ExitCode: &code, Dir: b.id}, nil
}

func (b *box) Info() sandbox.Info { return sandbox.Info{ID: b.id} }

func (b *box) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
	return b.close
}

func (b *box) lose() { close(b.lost) }

// A runtime starts boxes, after some failures.
type runtime struct {
	mu     sync.Mutex
	boxes  []*box
	refuse int // starts that fail from now on
	failed int
}

func (r *runtime) Capabilities() sandbox.Capabilities { return sandbox.Capabilities{} }

func (r *runtime) Start(ctx context.Context, _ sandbox.Spec) (sandbox.Sandbox, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.refuse != 0 {
		r.refuse--
		r.failed++
		return nil, errors.New("the engine does not answer")
	}
	b := &box{id: fmt.Sprintf("box %d", len(r.boxes)+1), lost: make(chan struct{})}
	r.boxes = append(r.boxes, b)
	return b, nil
}

func (r *runtime) last() *box {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.boxes[len(r.boxes)-1]
}

// start gives a sandbox whose renewals are written down.
func start(t *testing.T, r *runtime, opts renew.Options) (sb *renew.Sandbox, told *[]string) {
	t.Helper()
	first, err := r.Start(t.Context(), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	told = new([]string)
	if opts.OnRenew == nil {
		opts.OnRenew = func(e *sandbox.RenewedError) error {
			*told = append(*told, e.Error())
			return nil
		}
	}
	return renew.New(first, r, sandbox.Spec{}, opts), told
}

func runs(t *testing.T, sb sandbox.Sandbox, want string) {
	t.Helper()
	result, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"})
	if err != nil || result.Dir != want {
		t.Errorf("the command ran in %q, error %v, want %q", result.Dir, err, want)
	}
}

// renewed checks that a command met a loss that was made good.
func renewed(t *testing.T, sb sandbox.Sandbox, count int) {
	t.Helper()
	_, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"})
	var told *sandbox.RenewedError
	if !errors.As(err, &told) {
		t.Fatalf("error = %v, want a RenewedError", err)
	}
	if told.Count != count || told.Lost != errGone || errors.Is(err, sandbox.ErrLost) {
		t.Errorf("got %d, %v; want renewal %d because of %v, and no ErrLost", told.Count, told.Lost, count, errGone)
	}
}

func TestRenew(t *testing.T) {
	r := &runtime{}
	sb, told := start(t, r, renew.Options{Max: 2})
	runs(t, sb, "box 1")
	r.last().lose()
	renewed(t, sb, 1)
	runs(t, sb, "box 2")
	if id := sb.Info().ID; id != "box 2" {
		t.Errorf("Info tells of %q", id)
	}
	r.last().lose()
	renewed(t, sb, 2)
	runs(t, sb, "box 3")
	r.last().lose()
	if _, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"}); !errors.Is(err, sandbox.ErrLost) || !strings.Contains(err.Error(), "renewed 2 times") {
		t.Errorf("error = %v, want the loss itself once there were enough", err)
	}
	want := []string{
		"the sandbox was lost, and a new one stands over the same workspace (1 of at most 2): " + errGone.Error(),
		"the sandbox was lost, and a new one stands over the same workspace (2 of at most 2): " + errGone.Error(),
	}
	if diff := cmp.Diff(want, *told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if err := errors.Join(sb.Close(), sb.Close()); err != nil {
		t.Error(err)
	}
	if _, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"}); err == nil {
		t.Error("a command ran after Close")
	}
	for _, b := range r.boxes {
		if b.closed != 1 {
			t.Errorf("%s was closed %d times, want once", b.id, b.closed)
		}
	}
}

// TestRenewNotGiven loses a sandbox whose files could not be given to their
// owner, which nobody else tells.
func TestRenewNotGiven(t *testing.T) {
	r := &runtime{}
	sb, told := start(t, r, renew.Options{})
	defer sb.Close()
	r.last().close = errors.Join(errors.New("removing the container: it is busy"), &sandbox.NotGivenError{Why: "2 of them"})
	r.last().lose()
	renewed(t, sb, 1)
	want := []string{"the sandbox was lost, and a new one stands over the same workspace (1 of at most 3): " + errGone.Error() +
		"; not all files made in the workspace were given to its owner: 2 of them (chown -R as root gives you the rest)"}
	if diff := cmp.Diff(want, *told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestRenewTogether loses a sandbox that several commands use: it is renewed
// once, and each of them is told.
func TestRenewTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		sb, told := start(t, r, renew.Options{})
		defer sb.Close()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				_, err := sb.Exec(t.Context(), sandbox.Command{Script: "wait"})
				if renewed := new(sandbox.RenewedError); !errors.As(err, &renewed) || renewed.Count != 1 {
					t.Errorf("error = %v, want renewal 1", err)
				}
			})
		}
		synctest.Wait() // until all of them run
		r.last().lose()
		group.Wait()
		if len(r.boxes) != 2 || len(*told) != 1 {
			t.Errorf("%d sandboxes were started and %d renewals told, want 2 and 1", len(r.boxes), len(*told))
		}
		runs(t, sb, "box 2")
	})
}

// TestRenewWaits has an engine that comes back after a while.
func TestRenewWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		sb, _ := start(t, r, renew.Options{})
		defer sb.Close()
		r.last().lose()
		r.refuse = 20
		renewed(t, sb, 1)
		runs(t, sb, "box 2")
	})
}

// TestRenewGivesUp has an engine that does not come back in time.
func TestRenewGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		sb, _ := start(t, r, renew.Options{})
		defer sb.Close()
		r.last().lose()
		r.refuse = -1
		_, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"})
		if !errors.Is(err, sandbox.ErrLost) || !strings.Contains(err.Error(), "the engine does not answer") {
			t.Errorf("error = %v, want the loss and why it stays", err)
		}
		if r.failed < 10 {
			t.Errorf("%d starts were tried, want many", r.failed)
		}
	})
}

// TestRenewCanceled ends a renewal with its command; the next command tries
// again.
func TestRenewCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		sb, _ := start(t, r, renew.Options{})
		defer sb.Close()
		r.last().lose()
		r.refuse = -1
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := sb.Exec(ctx, sandbox.Command{Script: "true"})
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, sandbox.ErrLost) {
			t.Errorf("error = %v, want the loss", err)
		}
		r.refuse = 0
		renewed(t, sb, 2)
		runs(t, sb, "box 2")
	})
}

// TestRenewClosed closes during a renewal.
func TestRenewClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		sb, _ := start(t, r, renew.Options{})
		r.last().lose()
		r.refuse = -1
		ended := make(chan error)
		go func() {
			_, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"})
			ended <- err
		}()
		synctest.Wait()
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("error = %v, want one that wraps ErrClosed", err)
		}
	})
}

// TestRenewNotRecorded ends a command whose renewal nobody could be told of.
func TestRenewNotRecorded(t *testing.T) {
	r, full := &runtime{}, errors.New("the disk is full")
	sb, _ := start(t, r, renew.Options{OnRenew: func(*sandbox.RenewedError) error { return full }})
	defer sb.Close()
	r.last().lose()
	if _, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"}); !errors.Is(err, full) {
		t.Errorf("error = %v, want %v", err, full)
	}
}
