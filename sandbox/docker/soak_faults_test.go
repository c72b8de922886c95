//go:build soak

package docker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

const (
	// faultCells is how many sandboxes are used at the same time, each with a
	// connection of its own, and faultSide how many commands in each.
	faultCells, faultSide = 4, 3
	// faultEvery is how long a sandbox lives without a fault from outside at
	// most.
	faultEvery = 20 * time.Second
)

// TestSoakFaults runs commands in several sandboxes while containers are
// killed, connections cut, and commands do the worst they can. No result may be
// wrong, nothing may run twice, nothing hang, and nothing be left.
func TestSoakFaults(t *testing.T) {
	soakFaults(t, setting(t, faultsVariable, 2_000), nil, func() {})
}

// soakFaults is TestSoakFaults with some number of commands, on an engine that
// may be away at times until settle has returned.
func soakFaults(t *testing.T, total int, away *outage, settle func()) {
	seed := newSeed(t)
	leaktest.Check(t, 16) // idle connections of the engines
	temp := t.TempDir()
	engine := connect(t)
	t.Setenv("TMPDIR", temp)
	tally := &tally{counts: map[string]int{}}
	next := new(atomic.Int64)
	began := time.Now()
	session := newSession()
	seen := observe(t, engine)
	var group sync.WaitGroup
	for i := range faultCells {
		c := &cell{
			t: t, seen: seen, away: away, session: session, tally: tally, next: next, total: int64(total),
			relay: newRelay(t, engine.Endpoint().Host), rand: rand.New(rand.NewPCG(seed, uint64(i))),
			dir: t.TempDir(), number: i,
		}
		c.connect()
		group.Go(c.live)
	}
	group.Wait()
	settle()
	t.Logf("%d commands in %v: %v", next.Load(), time.Since(began).Round(time.Second), tally)
	eventually(t, hang, "no container is left", func() bool { return len(seen.labeled(t, "belljar.session="+session)) == 0 })
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
	if tally.counts["fault cut"]+tally.counts["fault kill"]+tally.counts["fault remove"] == 0 {
		t.Error("no fault came from outside, so the run says nothing")
	}
}

// A tally counts what came of commands, and keeps the longest time of each.
type tally struct {
	mu      sync.Mutex
	counts  map[string]int
	longest time.Duration
}

func (l *tally) add(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[what]++
}

func (l *tally) took(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = max(l.longest, d)
}

func (l *tally) String() string {
	return fmt.Sprintf("%v, the longest %v", l.counts, l.longest.Round(time.Millisecond))
}

// A cell uses one sandbox after another.
type cell struct {
	t       *testing.T
	seen    observer
	away    *outage
	engine  *docker.Engine
	relay   *relay
	session string
	tally   *tally
	next    *atomic.Int64 // commands begun by all cells
	total   int64
	dir     string // has a workspace for each sandbox
	number  int

	mu   sync.Mutex
	rand *rand.Rand
}

// chance is a number below n.
func (c *cell) chance(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.IntN(n)
}

func (c *cell) connect() {
	path, err := helper.build()
	if err != nil {
		c.t.Fatal(err)
	}
	c.engine, err = docker.Connect(c.t.Context(), docker.Options{Host: c.relay.host(), Helper: path})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := c.engine.Close(); err != nil {
			c.t.Error(err)
		}
	})
}

// live uses sandboxes until enough commands have been begun.
func (c *cell) live() {
	for n := 0; c.next.Load() < c.total && !c.t.Failed(); n++ {
		workspace := filepath.Join(c.dir, fmt.Sprint(n))
		if err := os.Mkdir(workspace, 0o755); err != nil {
			c.t.Error(err)
			return
		}
		began, cut := c.away.now(), c.maybeCut()
		sb, err := c.engine.Start(c.t.Context(), c.spec(workspace))
		wasCut := cut()
		if err != nil {
			away := c.away.since(began)
			if !wasCut && !away || strings.Contains(err.Error(), "\n") {
				c.t.Errorf("cell %d: %v", c.number, err)
			}
			c.tally.add("start failed")
			if away {
				time.Sleep(200 * time.Millisecond) // the engine is being started
			}
			continue
		}
		c.use(sb, workspace, began, wasCut)
	}
}

func (c *cell) spec(workspace string) sandbox.Spec {
	return sandbox.Spec{
		Workspace: workspace, Owner: sandbox.Owner{UID: os.Getuid(), GID: os.Getgid(), Umask: 0o022},
		Image: newImage, Session: c.session,
		Limits: sandbox.Limits{Memory: 128 * sandbox.MiB, Pids: 96, Disk: 48 * sandbox.MiB},
	}
}

// maybeCut cuts the connections during one start of eight. The function that it
// returns waits for that and tells whether it was done.
func (c *cell) maybeCut() (wait func() bool) {
	if c.chance(8) != 0 {
		return func() bool { return false }
	}
	done := make(chan struct{})
	pause := time.Duration(c.chance(700)) * time.Millisecond
	go func() {
		defer close(done)
		time.Sleep(pause)
		c.relay.cut()
	}()
	return func() bool {
		<-done
		return true
	}
}

// use runs commands in a sandbox, whose start began at a moment, until it is
// lost, and closes it. One that was cut already needs no further fault.
func (c *cell) use(sb sandbox.Sandbox, workspace string, began moment, cut bool) {
	faulted, used := make(chan struct{}), make(chan struct{})
	var faults, workers sync.WaitGroup
	if cut {
		close(faulted)
	} else {
		faults.Go(func() { c.fault(sb, faulted, used) })
	}
	for range faultSide {
		workers.Go(func() {
			for {
				n := c.next.Add(1)
				if n > c.total {
					return
				}
				if !c.command(sb, workspace, int(n), began, faulted) {
					return
				}
			}
		})
	}
	workers.Wait()
	close(used)
	faults.Wait()
	closing := time.Now()
	if err := sb.Close(); err != nil && (!c.away.since(began) || strings.Contains(err.Error(), "\n")) {
		c.t.Errorf("cell %d: closing: %v", c.number, err)
	}
	c.tally.took(time.Since(closing))
}

// fault harms the sandbox from outside after a while. It closes faulted before.
func (c *cell) fault(sb sandbox.Sandbox, faulted, used chan struct{}) {
	select {
	case <-time.After(time.Duration(c.chance(int(faultEvery)))):
	case <-used:
		return
	}
	close(faulted)
	id, ctx := sb.Info().ID, context.WithoutCancel(c.t.Context())
	switch c.chance(4) {
	case 0:
		c.tally.add("fault kill")
		_ = c.seen.ContainerKill(ctx, id, "KILL") // commands may have ended it
	case 1:
		c.tally.add("fault remove")
		_ = c.seen.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
	case 2:
		c.tally.add("fault cut")
		c.relay.cut()
	default:
		c.tally.add("fault hold")
		c.relay.hold()
		time.Sleep(time.Duration(c.chance(3000)) * time.Millisecond)
		c.relay.release()
	}
}

// command runs one command and checks what came of it. It tells whether the
// sandbox is of further use.
func (c *cell) command(sb sandbox.Sandbox, workspace string, n int, started moment, faulted <-chan struct{}) (more bool) {
	harm := c.harm(n)
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	if harm.cancel >= 0 {
		late := time.AfterFunc(harm.cancel, cancel)
		defer late.Stop()
	}
	stdout, stderr := &output{}, &output{}
	harm.cmd.Stdout, harm.cmd.Stderr = stdout, stderr
	began := time.Now()
	result, err := sb.Exec(ctx, harm.cmd)
	took := time.Since(began)
	c.tally.took(took)
	if took > hang {
		c.t.Errorf("%s took %v", harm.name, took)
	}
	marks := 0
	if _, err := os.Stat(filepath.Join(workspace, fmt.Sprintf("mark-%d", n))); err == nil {
		text, err := os.ReadFile(filepath.Join(workspace, fmt.Sprintf("mark-%d", n)))
		if err != nil {
			c.t.Error(err)
		}
		marks = strings.Count(string(text), "m")
	}
	if marks > 1 {
		c.t.Errorf("command %d (%s) ran %d times", n, harm.name, marks)
	}
	if err != nil {
		c.tally.add("lost")
		if !errors.Is(err, sandbox.ErrLost) || strings.Contains(err.Error(), "\n") {
			c.t.Errorf("command %d (%s): %q, want one line that wraps ErrLost", n, harm.name, err)
		}
		if !closed(faulted) && !c.away.since(started) {
			c.t.Logf("command %d (%s) without a fault from outside: %v", n, harm.name, err)
			c.seen.wantGone(c.t, sb.Info().ID, hang) // then commands have ended it
		}
		return false
	}
	c.tally.add(harm.name + ": " + string(result.Status))
	if wrong := harm.wrong(result, stdout.String(), stderr.String(), marks); wrong != "" {
		c.t.Errorf("command %d (%s): %s: %s", n, harm.name, describe(result), wrong)
	}
	return true
}

// closed tells whether a channel that only ever is closed has been.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
