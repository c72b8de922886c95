//go:build linux

package docker_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
	"github.com/belljar/belljar/sandbox/pool"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// newPool makes a pool that is closed at the end of the test.
func newPool(t testing.TB, engine *docker.Engine, opts pool.Options) *pool.Pool {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	p, err := pool.New(engine, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		within(t, hang, "closing the pool", func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	})
	return p
}

// filled waits until one sandbox waits in the pool.
func filled(t testing.TB, p *pool.Pool) {
	t.Helper()
	eventually(t, hang, "a sandbox waits", func() bool { return p.Waiting() == 1 })
}

// over returns the running container whose workspace is below a pool's folder,
// other than those that are given.
func (o observer) over(t testing.TB, dir string, but ...string) (id string) {
	t.Helper()
	eventually(t, hang, "a container runs over a folder of the pool", func() bool {
		for _, c := range o.labeled(t, "belljar=sandbox") {
			for _, m := range c.Mounts {
				if c.State == "running" && filepath.Dir(filepath.Dir(m.Source)) == dir && !slices.Contains(but, c.ID) {
					id = c.ID
				}
			}
		}
		return id != ""
	})
	return id
}

// TestPoolConformance runs the core of the contract on sandboxes of a pool.
func TestPoolConformance(t *testing.T) {
	p := newPool(t, connect(t), pool.Options{Idle: 3 * time.Second})
	sandboxtest.TestRuntime(t, sandboxtest.Config{
		Runtime: sandboxtest.Pooled(p, sandbox.Capabilities{}), Bash: true,
		Parts: []string{"Status", "Left", "Env", "Dir", "Workspace", "Lifecycle"},
		Spec:  func(t *testing.T) sandbox.Spec { return newSpec(t, os.Getuid(), os.Getgid()) },
	})
}

// TestPool takes a sandbox that waited, and none that has died.
func TestPool(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	dir := t.TempDir()
	p := newPool(t, engine, pool.Options{Dir: dir})
	spec := newSpec(t, os.Getuid(), os.Getgid())
	if err := os.WriteFile(filepath.Join(spec.Workspace, "file"), []byte("brought\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Warm(spec); err != nil {
		t.Fatal(err)
	}
	filled(t, p)
	dead := seen.over(t, dir)
	if err := seen.ContainerKill(t.Context(), dead, "KILL"); err != nil {
		t.Fatal(err)
	}
	seen.wantGone(t, dead, hang)
	waits := seen.over(t, dir) // begun when the pool knew of the death
	filled(t, p)
	sb, err := p.Get(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id := sb.Info().ID; id != waits {
		t.Errorf("%.12s was handed out, want %.12s, which waited; %.12s had died", id, waits, dead)
	}
	if got := script(t, sb, "cat file; echo made >made"); got != "brought\n" {
		t.Errorf("output = %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(sb.Workspace(), "made")); err != nil || string(got) != "made\n" {
		t.Errorf("the host sees %q, %v", got, err)
	}
	filled(t, p)
	next := seen.over(t, dir, sb.Info().ID)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	seen.wantGone(t, next, hang)
	if got := script(t, sb, "cat made"); got != "made\n" { // it outlives the pool
		t.Errorf("output = %q", got)
	}
	if err := sb.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d folders are left, error %v", len(left), err)
	}
}

// pooler is the variable that makes TestPoolKilled, run in a process of its own,
// hold a pool in the folder that it names until it is killed.
const pooler = "BELLJAR_TEST_POOL"

// TestPoolKilled kills a process that has a pool: the containers end, and its
// folders are found.
func TestPoolKilled(t *testing.T) {
	if dir := os.Getenv(pooler); dir != "" {
		p := newPool(t, connect(t), pool.Options{Dir: dir})
		if err := p.Warm(newSpec(t, os.Getuid(), os.Getgid())); err != nil {
			t.Fatal(err)
		}
		time.Sleep(hang)
		t.Fatal("nobody killed this process")
	}
	engine := connect(t)
	seen := observe(t, engine)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	other := exec.CommandContext(t.Context(), self, "-test.run", "^TestPoolKilled$")
	// It is killed before it removes its own temporary folder.
	other.Env = append(os.Environ(), pooler+"="+dir, helperVariable+"="+helper.path, "TMPDIR="+t.TempDir())
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	id := seen.over(t, dir)
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed, which is an error here
	seen.wantGone(t, id, selfEnd/2)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d folders were left, error %v; want some to collect", len(entries), err)
	}
	old := time.Now().Add(-time.Hour)
	for _, entry := range entries {
		if err := os.Chtimes(filepath.Join(dir, entry.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	found, err := pool.Collect(dir, false)
	if err != nil || len(found) != len(entries) {
		t.Errorf("%d folders were found, error %v, want %d", len(found), err, len(entries))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d folders are left, error %v", len(left), err)
	}
}

// TestCloseInTime closes sandboxes whose commands do not want to end. It takes
// half a second on a machine that does nothing else.
func TestCloseInTime(t *testing.T) {
	engine := connect(t)
	sb := start(t, engine, newSpec(t, os.Getuid(), os.Getgid()))
	wait := background(t, sb, sandbox.Command{Script: `trap "" TERM HUP INT; echo ready; while :; do sleep 300; done`})
	began := time.Now()
	if err := sb.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("Close took %v", took)
	} else {
		t.Logf("Close took %v", took.Round(time.Millisecond))
	}
	if got := wait(); got.err == nil {
		t.Errorf("the command ended as %s", describe(got.result))
	}
}

// TestRemovedBeforeTheNext loses the connection to an engine whose container
// goes on, so that it cannot be removed: the next start removes it first.
func TestRemovedBeforeTheNext(t *testing.T) {
	direct := connect(t)
	seen := observe(t, direct)
	sb := startRelayed(t, seen, direct.Endpoint().Host)
	id := sb.Info().ID
	seen.awaitExecs(t, id, 2)
	if err := seen.ContainerPause(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	sb.relay.hold()
	sb.relay.cut()
	within(t, hang, "Close", func() {
		if err := sb.Close(); err == nil {
			t.Error("Close says that the container was removed, which it cannot know")
		}
	})
	sb.relay.release()
	next := start(t, sb.engine, newSpec(t, os.Getuid(), os.Getgid()))
	if seen.exists(t, id) {
		t.Error("the container that was lost is there beside the next one")
		_ = seen.ContainerRemove(t.Context(), id, container.RemoveOptions{Force: true})
	}
	script(t, next, "echo works")
}

// BenchmarkPool takes sandboxes that wait from a pool, with an empty workspace,
// and runs the first command in each.
func BenchmarkPool(b *testing.B) {
	engine := connect(b)
	p := newPool(b, engine, pool.Options{})
	spec := newSpec(b, os.Getuid(), os.Getgid())
	spec.Workspace = ""
	if err := p.Warm(spec); err != nil {
		b.Fatal(err)
	}
	var ready, first durations
	for b.Loop() {
		filled(b, p)
		time.Sleep(think) // so that its second spare is ready too
		begin := time.Now()
		box, err := p.Get(context.Background(), spec, nil)
		if err != nil {
			b.Fatal(err)
		}
		ready = append(ready, time.Since(begin))
		first.measure(b, func() error { return runTrue(box) })
		if err := box.Close(); err != nil {
			b.Fatal(err)
		}
	}
	ready.report(b, "ready")
	first.report(b, "first")
}
