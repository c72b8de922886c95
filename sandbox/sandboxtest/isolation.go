package sandboxtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// isolationTests check that the host is out of reach and that a command can
// neither raise its rights nor end the sandbox. What they run would hurt a
// host that is not kept out.
func isolationTests() []test {
	return []test{
		{"KillsAll", testKillsAll},
		{"Network", testNetwork},
		{"HostFiles", testHostFiles},
		{"HostProcesses", testHostProcesses},
		{"Privileges", testPrivileges},
		{"RootReadOnly", testRootReadOnly},
		{"WritableFolders", testWritableFolders},
		{"Escape", testEscape},
		{"MountReadOnly", testMountReadOnly},
	}
}

func testKillsAll(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, script := range []string{
		"echo a; kill -9 $PPID; exit 3",
		"echo a; kill -STOP $PPID; exit 3",
		"echo a; kill -TERM $PPID; exit 3",
		"echo a; kill -9 -1; exit 3",
		"echo a; kill -STOP -1; exit 3",
		"echo a; kill -TERM -1; exit 3",
		"echo a; kill -9 0",
	} {
		t.Run(script, func(t *testing.T) { wantSurvived(t, b, script) })
	}
}

// firstProcessTests check that commands cannot end the process that the sandbox
// stands on.
func firstProcessTests() []test {
	return []test{{"Killed", func(t *testing.T, s *suite) { wantSurvived(t, s.shared(t), "echo a; kill -9 1; exit 3") }}}
}

// wantSurvived runs a script that kills and exits with 3, and checks that the
// sandbox lives on.
func wantSurvived(t *testing.T, b *box, script string) {
	t.Helper()
	// What ends the process above the shell may hold the end back, but neither
	// for ever nor as a failure of the machine.
	out := b.run(t, sandbox.Command{Script: script, Timeout: 5 * time.Second})
	if out.Status == sandbox.Exited && *out.ExitCode != 3 {
		t.Errorf("got %s, want the script's own code or another status", show(out.Result))
	}
	for range 3 {
		next := b.script(t, "echo b; exit 4")
		wantExit(t, next, 4)
		wantOutput(t, next, "b\n")
	}
}

// tunnelDevices are those that some kernels make in every network namespace.
// They lead nowhere until somebody with rights sets them up.
func tunnelDevices() []string {
	return []string{"tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6gre0"}
}

func testNetwork(t *testing.T, s *suite) {
	b := s.shared(t)
	if network := b.Info().Network; network != sandbox.NetworkNone {
		t.Fatalf("Info().Network = %q, want %q by default", network, sandbox.NetworkNone)
	}
	out := b.script(t, "cat /proc/net/dev")
	wantExit(t, out, 0)
	var names []string
	for line := range strings.Lines(out.stdout) {
		name, _, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); found && !slices.Contains(tunnelDevices(), name) {
			names = append(names, name)
		}
	}
	if len(names) != 1 || names[0] != "lo" {
		t.Errorf("network devices = %v, want lo alone", names)
	}
	out = b.script(t, "cat /proc/net/route")
	wantExit(t, out, 0)
	if strings.Count(strings.TrimSpace(out.stdout), "\n") != 0 {
		t.Errorf("routes = %q, want none", out.stdout)
	}
}

func testHostFiles(t *testing.T, s *suite) {
	b := s.shared(t)
	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"", "/proc/1/root", "/proc/self/root", "/proc/1/cwd/../../../.."} {
		out := b.run(t, sandbox.Command{Script: `cat "$FILE" 2>/dev/null`, Env: []string{"FILE=" + prefix + canary}})
		if out.Status != sandbox.Exited || *out.ExitCode == 0 || out.stdout != "" {
			t.Errorf("a file of the host can be read as %s", prefix+canary)
		}
	}
	out := b.script(t, "for f in /var/run/docker.sock /run/docker.sock /run/podman/podman.sock; do test ! -e $f || echo $f; done")
	wantExit(t, out, 0)
	wantOutput(t, out, "")
}

func testHostProcesses(t *testing.T, s *suite) {
	b := s.shared(t)
	mark := newMark()
	ctx, cancel := context.WithCancel(t.Context())
	host := exec.CommandContext(ctx, "sleep", mark)
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		host.Wait()
	}()
	b.wantGone(t, mark)
}

// seccompTests check what keeps a command from more rights than it has.
func seccompTests() []test {
	return []test{{"Status", func(t *testing.T, s *suite) {
		eachStatus(t, s.shared(t), func(cmd sandbox.Command, got map[string]string) {
			for name, want := range map[string]string{"NoNewPrivs": "1", "Seccomp": "2"} {
				if got[name] != want {
					t.Errorf("%s: %s = %q, want %q", describe(cmd), name, got[name], want)
				}
			}
		})
	}}}
}

func testPrivileges(t *testing.T, s *suite) {
	b := s.shared(t)
	eachStatus(t, b, func(cmd sandbox.Command, got map[string]string) {
		for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			value, ok := got[name]
			if name == "CapAmb" && !ok {
				continue // this kernel has no ambient set
			}
			set, err := strconv.ParseUint(value, 16, 64)
			if extra := set &^ allowedCapabilities(b.spec); err != nil || extra != 0 {
				t.Errorf("%s: %s = %q, of which %#x must not be there", describe(cmd), name, value, extra)
			}
		}
	})
}

// eachStatus reads what the kernel says of a script and of an argv, by name.
func eachStatus(t *testing.T, b *box, check func(sandbox.Command, map[string]string)) {
	t.Helper()
	for _, cmd := range []sandbox.Command{
		{Script: "cat /proc/self/status"},
		{Args: []string{"cat", "/proc/self/status"}},
	} {
		out := b.run(t, cmd)
		wantExit(t, out, 0)
		got := map[string]string{}
		for line := range strings.Lines(out.stdout) {
			if name, value, found := strings.Cut(line, ":"); found {
				got[name] = strings.TrimSpace(value)
			}
		}
		check(cmd, got)
	}
}

// allowedCapabilities are those that commands may have, as the kernel shows
// sets of them.
func allowedCapabilities(spec sandbox.Spec) uint64 {
	if spec, err := spec.WithProfile(); err != nil || spec.User != sandbox.UserRoot {
		return 0
	}
	numbers := map[string]int{"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7} // capability.h
	set := uint64(0)
	for _, name := range sandbox.RootCapabilities() {
		set |= 1 << numbers[name]
	}
	return set
}

func testRootReadOnly(t *testing.T, s *suite) {
	b := s.shared(t)
	var dirs []string
	if spec, err := b.spec.WithProfile(); err == nil && spec.RootFS == sandbox.RootReadOnly {
		dirs = append(dirs, "/", "/etc", "/usr", "/usr/bin", "/var", "/sys/fs/cgroup")
	}
	if !strings.HasPrefix(b.Info().User, "0:") {
		// /dev is in memory, counted as such, and belongs to uid 0.
		dirs = append(dirs, "/dev")
	}
	for _, dir := range dirs {
		out := b.run(t, sandbox.Command{
			Script: `{ : >"$DIR/suite-probe"; } 2>/dev/null; test ! -e "$DIR/suite-probe"`,
			Env:    []string{"DIR=" + dir},
		})
		if out.Status != sandbox.Exited || *out.ExitCode != 0 {
			t.Errorf("%s can be written: %s", dir, show(out.Result))
		}
	}
	for _, file := range []string{
		"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
		"/sys/fs/cgroup/pids/pids.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/memory.max",
	} {
		out := b.run(t, sandbox.Command{
			Script: `test -e "$FILE" && sh -c '{ : >>"$FILE"; } 2>/dev/null'`,
			Env:    []string{"FILE=" + file},
		})
		if out.Status != sandbox.Exited || *out.ExitCode == 0 {
			t.Errorf("%s can be opened for writing: %s", file, show(out.Result))
		}
	}
}

func testWritableFolders(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, dir := range []string{"/tmp", "$HOME", "/dev/shm", b.mount} {
		out := b.script(t, `cd "`+dir+`" && printf '#!/bin/sh\necho runs\n' >suite-probe && chmod +x suite-probe && ./suite-probe && rm suite-probe`)
		wantExit(t, out, 0)
		wantOutput(t, out, "runs\n")
	}
}
