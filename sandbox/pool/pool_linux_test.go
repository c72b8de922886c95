package pool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/pool"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// A box is a sandbox that does nothing and can die.
type box struct {
	sandbox.Sandbox
	spec   sandbox.Spec
	id     string
	died   chan struct{}
	closed chan struct{}
	fills  int
}

func (b *box) Fill(content func() error) error { b.fills++; return content() }
func (b *box) Info() sandbox.Info              { return sandbox.Info{ID: b.id} }
func (b *box) Lost() <-chan struct{}           { return b.died }
func (b *box) Close() error                    { close(b.closed); return nil }
func (b *box) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// A runtime starts boxes and counts how many starts are under way.
type runtime struct {
	mu             sync.Mutex
	boxes          []*box
	starting, most int
	broken         bool
}

func (r *runtime) Capabilities() sandbox.Capabilities { return sandbox.Capabilities{} }

func (r *runtime) Start(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	r.mu.Lock()
	r.starting++
	r.most = max(r.most, r.starting)
	r.mu.Unlock()
	time.Sleep(time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting--
	if r.broken {
		return nil, errors.New("the engine is down")
	}
	b := &box{spec: spec, id: fmt.Sprintf("box %d", len(r.boxes)+1), died: make(chan struct{}), closed: make(chan struct{})}
	r.boxes = append(r.boxes, b)
	return b, nil
}

// started are the boxes so far, and how many starts were under way at most.
func (r *runtime) started() (boxes []*box, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.boxes), r.most
}

// mend lets the next start succeed.
func (r *runtime) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = false
}

// open lists the boxes that are not closed.
func (r *runtime) open() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, b := range r.boxes {
		if !b.isClosed() {
			list = append(list, b.id)
		}
	}
	return strings.Join(list, ", ")
}

func (r *runtime) wantOpen(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	if got := r.open(); got != want {
		t.Errorf("open are %q, want %q", got, want)
	}
}

// newPool makes a pool in a time bubble, and closes it.
func newPool(t *testing.T, r *runtime, opts pool.Options) (*pool.Pool, string) {
	t.Helper()
	opts.Dir = filepath.Join(t.TempDir(), "pool")
	p, err := pool.New(r, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		if _, err := p.Get(context.Background(), spec(), nil); !errors.Is(err, pool.ErrClosed) {
			t.Errorf("Get after Close: error = %v, want ErrClosed", err)
		}
		if left, err := os.ReadDir(opts.Dir); err != nil || len(left) > 0 {
			t.Errorf("%d folders are left, error %v", len(left), err)
		}
	})
	return p, opts.Dir
}

func spec() sandbox.Spec { return sandbox.Spec{Image: "some:image", Owner: owner()} }

// get takes a sandbox and tells how long that took.
func get(t *testing.T, p *pool.Pool, spec sandbox.Spec) (*pool.Sandbox, time.Duration) {
	t.Helper()
	began := time.Now()
	sb, err := p.Get(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sb, time.Since(began)
}

func TestGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, _ := newPool(t, r, pool.Options{Size: 2})
		first, took := get(t, p, spec())
		if took == 0 {
			t.Error("the first one was there before anybody asked")
		}
		time.Sleep(10 * time.Second)
		r.wantOpen(t, "box 1, box 2, box 3")
		if n := p.Waiting(); n != 2 {
			t.Errorf("%d wait, want 2", n)
		}
		named := spec()
		named.Session = "a session" // makes no other kind
		second, took := get(t, p, named)
		if id := second.Info().ID; took != 0 || id == first.Info().ID {
			t.Errorf("%s took %v, want another one at once", id, took)
		}
		time.Sleep(10 * time.Second)
		r.wantOpen(t, "box 1, box 2, box 3, box 4")
		other := spec()
		other.Env = []string{"A=b"}
		third, took := get(t, p, other)
		if took == 0 {
			t.Error("one of another kind was handed out")
		}
		if first.Workspace() == second.Workspace() || second.Workspace() == third.Workspace() {
			t.Error("two sandboxes have the same workspace")
		}
		for _, sb := range []*pool.Sandbox{first, second, third} {
			must(t, sb.Close(), sb.Close())
			if _, err := os.Stat(sb.Workspace()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the workspace after Close: %v", err)
			}
		}
	})
}

// TestFill has a sandbox told when its content comes, which counts for no limit.
func TestFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, _ := newPool(t, r, pool.Options{Size: 1})
		sb, err := p.Get(t.Context(), spec(), func(context.Context, string) error {
			if boxes, _ := r.started(); boxes[0].fills != 1 {
				t.Errorf("content came within %d fills, want 1", boxes[0].fills)
			}
			return nil
		})
		must(t, err, sb.Close())
		failed := errors.New("no content")
		if _, err := p.Get(t.Context(), spec(), func(context.Context, string) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("error = %v, want that of the content", err)
		}
	})
}

func TestGetNoDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, _ := newPool(t, r, pool.Options{})
		must(t, p.Warm(spec()))
		time.Sleep(10 * time.Second)
		boxes, _ := r.started()
		close(boxes[0].died)
		sb, _ := get(t, p, spec()) // nobody has had the time to notice
		defer sb.Close()
		if sb.Info().ID == "box 1" {
			t.Error("a dead sandbox was handed out")
		}
		time.Sleep(10 * time.Second)
		boxes, _ = r.started()
		close(boxes[len(boxes)-1].died)
		time.Sleep(10 * time.Second)
		next, took := get(t, p, spec())
		defer next.Close()
		if took != 0 {
			t.Errorf("one that died was not replaced: the next took %v", took)
		}
	})
}

func TestLifetimeAndIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, _ := newPool(t, r, pool.Options{Lifetime: time.Minute, Idle: 90 * time.Second})
		must(t, p.Warm(spec()))
		time.Sleep(10 * time.Second)
		r.wantOpen(t, "box 1")
		time.Sleep(time.Minute)
		r.wantOpen(t, "box 2")
		time.Sleep(time.Minute)
		r.wantOpen(t, "")
	})
}

func TestKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, _ := newPool(t, r, pool.Options{Kinds: 2})
		for _, image := range []string{"one", "two", "one", "three"} {
			must(t, p.Warm(sandbox.Spec{Image: image, Owner: owner()}))
			time.Sleep(10 * time.Second)
		}
		r.wantOpen(t, "box 1, box 3") // of "one" and "three"
	})
}

func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, _ := newPool(t, r, pool.Options{Size: 12, Parallel: 3})
		must(t, p.Warm(spec()))
		time.Sleep(time.Minute)
		if boxes, most := r.started(); len(boxes) != 12 || most != 3 {
			t.Errorf("%d sandboxes were started, at most %d at once; want 12 and 3", len(boxes), most)
		}
	})
}

// TestBroken has an engine that starts nothing: it is not tried again and again.
func TestBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{broken: true}
		p, dir := newPool(t, r, pool.Options{})
		if _, err := p.Get(t.Context(), spec(), nil); err == nil || !strings.Contains(err.Error(), "the engine is down") {
			t.Errorf("error = %v", err)
		}
		must(t, p.Warm(spec()))
		time.Sleep(time.Minute)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%d folders are left, error %v", len(left), err)
		}
		r.mend()
		must(t, p.Warm(spec()))
		time.Sleep(10 * time.Second)
		r.wantOpen(t, "box 1")
	})
}

// TestCloseDuringStart closes while sandboxes are being started.
func TestCloseDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, _ := newPool(t, r, pool.Options{Size: 4})
		must(t, p.Warm(spec()))
		time.Sleep(500 * time.Millisecond)
		must(t, p.Close())
		r.wantOpen(t, "")
		if err := p.Warm(spec()); !errors.Is(err, pool.ErrClosed) {
			t.Errorf("Warm after Close: error = %v", err)
		}
	})
}

func TestContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, dir := newPool(t, r, pool.Options{})
		from := spec()
		from.Workspace = t.TempDir()
		must(t, os.WriteFile(filepath.Join(from.Workspace, "file"), []byte("text"), 0o640))
		sb, _ := get(t, p, from)
		if diff := tree(t, sb.Workspace()); diff != tree(t, from.Workspace) {
			t.Errorf("the workspace holds\n%s", diff)
		}
		kept := ""
		must(t, sb.CloseWith(func(dir string) error {
			if boxes, _ := r.started(); !boxes[0].isClosed() {
				t.Error("keep was called while the sandbox ran")
			}
			data, err := os.ReadFile(filepath.Join(dir, "file"))
			kept = string(data)
			return err
		}), sb.CloseWith(func(string) error { return errors.New("called twice") }))
		if kept != "text" {
			t.Errorf("kept %q", kept)
		}
		time.Sleep(10 * time.Second)
		if _, err := p.Get(t.Context(), spec(), func(context.Context, string) error { return errors.New("no content") }); err == nil {
			t.Error("a sandbox was handed out without its content")
		}
		time.Sleep(10 * time.Second)
		r.wantOpen(t, "box 3")
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%d folders are left, want that of the one that waits", len(left))
		}
	})
}

func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		p, dir := newPool(t, r, pool.Options{})
		sb, _ := get(t, p, spec())
		time.Sleep(10 * time.Second)
		made := time.Unix(9e8, 0) // before the time of the bubble
		// As a process that was killed leaves them.
		dead, fresh := filepath.Join(dir, "dead"), filepath.Join(dir, "fresh")
		must(t,
			os.MkdirAll(filepath.Join(dead, "workspace", "closed"), 0o700),
			os.WriteFile(filepath.Join(dead, "lock"), nil, 0o600), os.Mkdir(fresh, 0o700),
			os.WriteFile(filepath.Join(dead, "workspace", "closed", "file"), nil, 0o400),
			os.Chmod(filepath.Join(dead, "workspace", "closed"), 0),
			os.Chtimes(dead, made, made), os.Chtimes(fresh, time.Now(), time.Now()),
			os.Chtimes(filepath.Dir(sb.Workspace()), made, made),
		)
		for _, dry := range []bool{true, false} {
			found, err := pool.Collect(dir, dry)
			must(t, err)
			if len(found) != 4 {
				t.Errorf("%d folders were found, want 4", len(found))
			}
			for _, l := range found {
				if l.Stale != (l.Path == dead) || l.Err != nil || l.Why == "" {
					t.Errorf("%s: stale %v (%s), error %v", l.Path, l.Stale, l.Why, l.Err)
				}
			}
			if _, err := os.Stat(dead); (err == nil) != dry {
				t.Errorf("dry run %v: %v", dry, err)
			}
		}
		must(t, sb.Close(), os.Remove(fresh))
		if found, err := pool.Collect(filepath.Join(dir, "missing"), false); err != nil || len(found) > 0 {
			t.Errorf("a folder that is missing has %d, error %v", len(found), err)
		}
	})
}

// TestConformance runs the core of the contract on sandboxes of a pool.
func TestConformance(t *testing.T) {
	runtime, err := sandboxtest.NewRuntime(sandboxtest.Options{})
	must(t, err)
	p, err := pool.New(runtime, pool.Options{Dir: t.TempDir(), Idle: time.Second})
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	sandboxtest.TestRuntime(t, sandboxtest.Config{
		Runtime: sandboxtest.Pooled(p, runtime.Capabilities()),
		Parts:   []string{"Status", "Script", "Left", "Env", "Dir", "Workspace", "Lifecycle"},
		Spec: func(t *testing.T) sandbox.Spec {
			return sandbox.Spec{Workspace: t.TempDir(), Owner: owner()}
		},
	})
}
