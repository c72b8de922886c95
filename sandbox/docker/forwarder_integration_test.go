package docker_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/sandbox"
)

// TestForwarderIsReplaced kills what passes connections on: twice it is set up
// again, and then it is said that nothing can be reached any more.
func TestForwarderIsReplaced(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	var mu sync.Mutex
	var told []string
	w := openWayWith(t, engine, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }, func(spec *sandbox.Spec) {
		spec.Notify = func(text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, text)
		}
	})
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(told)
	}
	for round := 1; round <= 3; round++ {
		if err := seen.ContainerKill(t.Context(), seen.forwarder(t, w), "KILL"); err != nil {
			t.Fatal(err)
		}
		eventually(t, hang, "somebody is told", func() bool { return count() == round })
		outcome, reached := "it was set up again", "hello\n"
		if round == 3 {
			outcome, reached = "nothing can be reached from this sandbox any more", ""
		}
		if text := told[round-1]; !strings.Contains(text, "exit code 137") || !strings.HasSuffix(text, outcome) || strings.Contains(text, "\n") {
			t.Errorf("after %d kills: %q", round, text)
		}
		got := execute(t, w, sandbox.Command{Script: "curl -s " + w.url + "; true"})
		if got.err != nil || got.output != reached || !strings.HasSuffix(got.result.Reason, outcome) {
			t.Errorf("after %d kills the next command: %q, %s, %v", round, got.output, describe(got.result), got.err)
		}
		if got = execute(t, w, sandbox.Command{Script: "true"}); got.err != nil || got.result.Reason != "" {
			t.Errorf("after %d kills the command after that: %s, %v", round, describe(got.result), got.err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if left := seen.labeled(t, "belljar.session="+w.session); len(left) > 0 {
		t.Errorf("%d containers are left", len(left))
	}
	if n := count(); n != 3 {
		t.Errorf("told %d times: %q", n, told)
	}
}

// TestForwarderEndsWithSandbox: the end of the sandbox is not told as that of
// its way out.
func TestForwarderEndsWithSandbox(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	proxy := egress.New(egress.Options{})
	defer proxy.Close()
	told := make(chan string, 10) // more than can come
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Network, spec.Proxy, spec.Session = sandbox.NetworkAllow, proxy, newSession()
	spec.Notify = func(text string) { told <- text }
	sb := start(t, engine, spec)
	for _, c := range seen.labeled(t, "belljar.session="+spec.Session) {
		if err := seen.ContainerKill(t.Context(), c.ID, "KILL"); err != nil {
			t.Fatal(err)
		}
	}
	wantLost(t, execute(t, sb, sandbox.Command{Script: "true"}))
	if err := sb.Close(); err != nil {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Errorf("told %q", <-told)
	}
}
