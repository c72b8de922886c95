package docker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// selfEnd is how long a container may outlive its owner's connection: a minute
// of silence, and some time for a busy engine.
const selfEnd = 2 * time.Minute

// leaseStall is how long the engine may leave a lease unanswered in these tests:
// shorter than usual, and more than a busy engine needs.
const leaseStall = 10 * time.Second

// A relayed is a sandbox whose engine is reached through a relay.
type relayed struct {
	sandbox.Sandbox
	engine    *docker.Engine
	relay     *relay
	seen      observer // not through the relay
	workspace string
}

// startRelayed starts a sandbox that is closed at the end of the test; what
// Close says then is up to what the test did to the connection.
func startRelayed(t *testing.T, seen observer, host string) relayed {
	t.Helper()
	r := newRelay(t, host)
	path, err := helper.build()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := docker.Connect(t.Context(), docker.Options{Host: r.host(), Helper: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	docker.SetLeaseTimes(engine, 200*time.Millisecond, leaseStall)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	sb, err := engine.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { within(t, hang, "Close", func() { _ = sb.Close() }) })
	return relayed{sb, engine, r, seen, spec.Workspace}
}

// TestConnection makes the connection to the engine fail. Each test's container
// must end although nobody can tell the engine to remove it.
func TestConnection(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	host := engine.Endpoint().Host
	for _, test := range []struct {
		name string
		run  func(*testing.T, relayed)
	}{
		{"held for new connections", testHeldLater},
		{"stalled during a command", testStalledDuring},
		{"cut during a command", testCutDuring},
		{"cut before a command", testCutBefore},
		{"cut and refused during a command", testDownDuring},
		{"refused for new connections", testRefusedLater},
		{"stalled before a command", testStalledBefore},
		{"silent but alive", testSilentCommand},
	} {
		t.Run(test.name, func(t *testing.T) {
			// A stalled one needs a minute; the others pass beside it.
			t.Parallel()
			test.run(t, startRelayed(t, seen, host))
		})
	}
}

func testCutDuring(t *testing.T, sb relayed) {
	wait := background(t, sb, sandbox.Command{Script: "echo ready; sleep 300; exit 3"})
	sb.relay.cut()
	wantLost(t, wait())
	wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}))
	sb.seen.wantGone(t, sb.Info().ID, selfEnd/2) // long before the silence ends it
	if err := sb.Close(); err != nil {
		t.Errorf("Close over new connections: %v", err)
	}
}

func testCutBefore(t *testing.T, sb relayed) {
	script(t, sb, "echo works")
	sb.relay.cut()
	wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}))
	sb.seen.wantGone(t, sb.Info().ID, selfEnd/2)
}

func testDownDuring(t *testing.T, sb relayed) {
	wait := background(t, sb, sandbox.Command{Script: "echo ready; sleep 300; exit 3"})
	sb.relay.refuse()
	sb.relay.cut()
	wantLost(t, wait(), sb.relay.host(), "does not answer any more")
	wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}), "does not answer any more")
	sb.seen.wantGone(t, sb.Info().ID, selfEnd/2)
	within(t, hang, "Close", func() {
		if err := sb.Close(); err == nil {
			t.Error("Close says that the container was removed, which it cannot know")
		}
	})
}

// testRefusedLater lets what is open go on: a command under way ends as it
// would. Others run only as long as the spares last.
func testRefusedLater(t *testing.T, sb relayed) {
	wait := background(t, sb, sandbox.Command{Script: "echo ready; until test -e go; do sleep 0.05; done; exit 3"})
	sb.relay.refuse()
	var last answer
	for range maxSpares + 1 {
		last = execute(t, sb, sandbox.Command{Script: "exit 4"})
		if last.err == nil && (last.result.Status != sandbox.Exited || *last.result.ExitCode != 4) {
			t.Errorf("got %s, want exit code 4", describe(last.result))
		}
	}
	wantLost(t, last, "the engine at "+sb.relay.host()+" does not answer any more")
	if err := os.WriteFile(filepath.Join(sb.workspace, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := wait(); got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 3 {
		t.Errorf("the command under way: %s, error %v, want exit code 3", describe(got.result), got.err)
	}
	within(t, hang, "Close", func() { _ = sb.Close() })
	sb.seen.wantGone(t, sb.Info().ID, selfEnd/2)
}

func testStalledDuring(t *testing.T, sb relayed) {
	wait := background(t, sb, sandbox.Command{Script: "echo ready; sleep 300; exit 3"})
	sb.relay.stall()
	wantLost(t, wait(), "the engine at "+sb.relay.host()+" does not answer any more")
	wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}))
	within(t, hang, "Close", func() { _ = sb.Close() })
	sb.seen.wantGone(t, sb.Info().ID, selfEnd)
}

func testStalledBefore(t *testing.T, sb relayed) {
	script(t, sb, "echo works")
	sb.relay.stall()
	wantLost(t, execute(t, sb, sandbox.Command{Script: "exit 3"}))
	within(t, hang, "Close", func() { _ = sb.Close() })
	sb.relay.close()
	sb.seen.wantGone(t, sb.Info().ID, selfEnd/2)
}

// testHeldLater has an engine that takes new connections and says nothing on
// them: what needs one fails after its time, and Close works all the same.
func testHeldLater(t *testing.T, sb relayed) {
	script(t, sb, "echo works")
	sb.relay.hold()
	var last answer
	for range maxSpares + 1 {
		if last = execute(t, sb, sandbox.Command{Script: "exit 4"}); last.err != nil {
			break
		}
	}
	if last.err == nil || !strings.Contains(last.err.Error(), "the engine") || strings.Contains(last.err.Error(), "\n") {
		t.Errorf("error = %v, want one line about the engine", last.err)
	}
	within(t, hang, "Close", func() { _ = sb.Close() })
	sb.seen.wantGone(t, sb.Info().ID, selfEnd/2)
}

// testSilentCommand writes nothing for longer than a lease may be unanswered:
// a command's silence is no stall.
func testSilentCommand(t *testing.T, sb relayed) {
	seconds := (leaseStall + 3*time.Second).Seconds()
	got := execute(t, sb, sandbox.Command{Script: fmt.Sprintf("sleep %v; echo done; exit 3", seconds)})
	if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 3 || got.output != "done\n" {
		t.Errorf("%s, error %v, output %q, want exit code 3", describe(got.result), got.err, got.output)
	}
}
