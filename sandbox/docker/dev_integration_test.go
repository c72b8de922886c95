//go:build linux

package docker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// devOwner is whom the workspaces of these tests belong to.
func devOwner() (uid, gid int) {
	if os.Getuid() != 0 {
		return os.Getuid(), os.Getgid()
	}
	return 1001, 1002
}

func devSpec(t testing.TB) sandbox.Spec {
	t.Helper()
	uid, gid := devOwner()
	spec := newSpec(t, uid, gid)
	spec.Profile = sandbox.ProfileDev
	return spec
}

// TestConformanceDev holds the contract against the profile whose commands are
// root.
func TestConformanceDev(t *testing.T) {
	engine := connect(t)
	sandboxtest.TestRuntime(t, sandboxtest.Config{
		Runtime: chosen(engine), Bash: true, Spec: func(t *testing.T) sandbox.Spec { return devSpec(t) },
		// What a profile does not touch is tested in strict.
		Parts: []string{
			"Status", "End", "Left", "Dir", "DirAlways", "Workspace", "Lifecycle", "KillTree", "ProcessLimit", "Counters",
			"Limits", "Isolated", "FirstProcess", "Seccomp",
		},
	})
}

// TestDevSystem does what installers of packages do, without a network.
func TestDevSystem(t *testing.T) {
	engine := connect(t)
	spec := devSpec(t)
	sb := start(t, engine, spec)
	for _, test := range []struct{ name, script, want string }{
		{"user and home", `id -u; echo "$HOME $USER"; touch ~/file; test -w /root`, "0\n/root root\n"},
		{"system", `echo '#!/bin/sh
echo tool' >/usr/bin/tool && chmod +x /usr/bin/tool && cd / && tool`, "tool\n"},
		{"file of another user", `touch /tmp/f && chown daemon:daemon /tmp/f && chmod 600 /tmp/f && echo x >>/tmp/f && find /tmp/f -printf '%u\n'`, "daemon\n"},
		{"become another user", `setpriv --reuid=65534 --regid=65534 --clear-groups id -u`, "65534\n"},
		{"new user", `echo 'new:x:4242:4242::/tmp:/bin/sh' >>/etc/passwd && id -un 4242`, "new\n"},
		{"package", `set -e
mkdir -p /tmp/p/DEBIAN /tmp/p/usr/share/trial && echo data >/tmp/p/usr/share/trial/file
printf 'Package: trial\nVersion: 1\nArchitecture: all\nMaintainer: t <t@example.org>\nDescription: trial\n' >/tmp/p/DEBIAN/control
printf '#!/bin/sh\nchown daemon /usr/share/trial/file\n' >/tmp/p/DEBIAN/postinst && chmod 755 /tmp/p/DEBIAN/postinst
dpkg-deb -b /tmp/p /tmp/trial.deb >/dev/null 2>&1 && dpkg -i /tmp/trial.deb >/dev/null 2>&1
find /usr/share/trial/file -printf '%u\n'`, "daemon\n"},
		{"git", `git init -q repo && git -C repo status --porcelain && git -C repo rev-parse --is-inside-work-tree`, "true\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := script(t, sb, test.script); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	want := []string{"user=root", "capabilities=CHOWN,DAC_OVERRIDE,FOWNER,KILL,SETGID,SETUID", "rootfs=writable"}
	info := sb.Info()
	if info.Limits.Pids == 0 { // a runtime that is a kernel of its own
		want = append(want, "pids=unlimited")
	}
	if diff := cmp.Diff(want, info.Loosened); diff != "" {
		t.Errorf("what is loosened (-want +got):\n%s", diff)
	}
	if info.Profile != sandbox.ProfileDev || info.User != "0:0" || info.Limits.Shm != 64*sandbox.MiB {
		t.Errorf("Info = %+v", info)
	}
	uid, gid := devOwner()
	wantOwner(t, spec.Workspace, uid, gid)
}

// TestSettings overrules single settings of a profile.
func TestSettings(t *testing.T) {
	engine := connect(t)
	uid, gid := devOwner()
	for _, test := range []struct {
		name     string
		edit     func(*sandbox.Spec)
		script   string
		want     string
		loosened []string
	}{
		{"strict with root", func(s *sandbox.Spec) { s.User = sandbox.UserRoot },
			"id -u; echo $HOME; touch ~/f /tmp/f made; touch /usr/f 2>/dev/null || echo read-only",
			"0\n/home/belljar\nread-only\n", []string{"user=root", "capabilities=CHOWN,DAC_OVERRIDE,FOWNER,KILL,SETGID,SETUID"}},
		{"strict and writable", func(s *sandbox.Spec) { s.RootFS = sandbox.RootWritable },
			"id -u; echo $HOME; touch ~/f /tmp/f made; touch /usr/f 2>/dev/null || echo not allowed; cat /proc/self/mounts | grep ' / ' | grep -c '[ ,]rw,'",
			fmt.Sprintf("%d\n/home/belljar\nnot allowed\n1\n", uid), []string{"rootfs=writable"}},
		{"dev as owner", func(s *sandbox.Spec) { s.Profile, s.User = sandbox.ProfileDev, sandbox.UserOwner },
			"id -u; echo $HOME; touch ~/f /tmp/f made; whoami >/dev/null", fmt.Sprintf("%d\n/home/belljar\n", uid), []string{"rootfs=writable"}},
		{"dev and read-only", func(s *sandbox.Spec) { s.Profile, s.RootFS = sandbox.ProfileDev, sandbox.RootReadOnly },
			"id -u; touch ~/f /tmp/f made; touch /usr/f 2>/dev/null || echo read-only", "0\nread-only\n",
			[]string{"user=root", "capabilities=CHOWN,DAC_OVERRIDE,FOWNER,KILL,SETGID,SETUID"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, uid, gid)
			test.edit(&spec)
			sb := start(t, engine, spec)
			if got := script(t, sb, test.script); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if diff := cmp.Diff(test.loosened, sb.Info().Loosened); diff != "" {
				t.Errorf("what is loosened (-want +got):\n%s", diff)
			}
			wantIds(t, filepath.Join(spec.Workspace, "made"), uid, gid)
		})
	}
	spec := newSpec(t, uid, gid)
	spec.Profile = "lax"
	if _, err := engine.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), `"lax" is unknown`) {
		t.Errorf("error = %v, want that the profile is unknown", err)
	}
}

func wantIds(t *testing.T, path string, uid, gid int) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Error(err)
		return
	}
	if stat := info.Sys().(*syscall.Stat_t); int(stat.Uid) != uid || int(stat.Gid) != gid {
		t.Errorf("%s belongs to %d:%d, want %d:%d", filepath.Base(path), stat.Uid, stat.Gid, uid, gid)
	}
}

// TestDevOwner looks at whom files belong to after a command, after one that
// was ended, and at the end of the sandbox.
func TestDevOwner(t *testing.T) {
	engine := connect(t)
	uid, gid := devOwner()
	spec := devSpec(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sb := start(t, engine, spec)
	script(t, sb, "mkdir -p -m 700 d/e && touch d/e/f && ln -s "+outside+" link && cp /bin/true s && chmod 4755 s && chown daemon d/e/f")
	for _, name := range []string{"d", "d/e", "d/e/f", "link", "s"} {
		wantIds(t, filepath.Join(spec.Workspace, name), uid, gid)
	}
	wantIds(t, outside, os.Getuid(), os.Getgid())
	if info, err := os.Stat(filepath.Join(spec.Workspace, "s")); err != nil || info.Mode()&os.ModeSetuid != 0 {
		t.Errorf("s has mode %v, error %v: a program that runs as its owner was handed out", info.Mode(), err)
	}
	got := execute(t, sb, sandbox.Command{Script: "touch timed; sleep 600", Timeout: time.Second})
	if got.err != nil || got.result.Status != sandbox.TimedOut || got.result.Reason != "" {
		t.Errorf("got %s, error %v, want a timeout", describe(got.result), got.err)
	}
	wantIds(t, filepath.Join(spec.Workspace, "timed"), uid, gid)

	// The folder itself, after a command and at the end.
	script(t, sb, "chown daemon:daemon .")
	wantIds(t, spec.Workspace, uid, gid)

	// One that goes on after its command, until the end of the sandbox.
	script(t, sb, "setsid sh -c 'while :; do mkdir -p bg; touch bg/$((i += 1)); chown daemon . bg/*; done' >/dev/null 2>&1 & until [ -e bg/3 ]; do sleep 0.05; done")
	if err := sb.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wantOwner(t, spec.Workspace, uid, gid)
}

// TestDevOwnerOfLost takes the container away while a command makes files.
func TestDevOwnerOfLost(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	uid, gid := devOwner()
	spec := devSpec(t)
	spec.Session = newSession()
	sb := start(t, engine, spec)
	wait := background(t, sb, sandbox.Command{Script: "mkdir d; touch d/{1..12}; cp /bin/true d/s; chmod 4755 d/s; echo ready; sleep 300"})
	wantIds(t, filepath.Join(spec.Workspace, "d/s"), 0, 0)
	if err := seen.ContainerKill(t.Context(), sb.Info().ID, "KILL"); err != nil {
		t.Fatal(err)
	}
	wantLost(t, wait())
	if err := sb.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wantOwner(t, spec.Workspace, uid, gid)
	if info, err := os.Stat(filepath.Join(spec.Workspace, "d/s")); err != nil || info.Mode()&os.ModeSetuid != 0 {
		t.Errorf("d/s has mode %v, error %v", info.Mode(), err)
	}
	if list := seen.labeled(t, "belljar.session="+spec.Session); len(list) != 0 {
		t.Errorf("%d containers are left", len(list))
	}
}

// TestDevFirstProcess lets root do what it can to PID 1.
func TestDevFirstProcess(t *testing.T) {
	engine := connect(t)
	sb := start(t, engine, devSpec(t))
	if !sb.Info().Capabilities.KillTree {
		// That kernel does not shield it: the sandbox is lost, and said to be.
		wantLost(t, execute(t, sb, sandbox.Command{Script: "kill -9 1; sleep 10"}))
		return
	}
	for _, attempt := range []string{
		"for s in $(seq 1 64); do kill -$s 1; done 2>/dev/null; :",
		"for s in $(seq 1 64); do kill -$s $PPID; done 2>/dev/null; kill -CONT $PPID; :",
		"! cat /proc/1/environ /proc/1/mem /proc/1/maps 2>/dev/null && ! : >/proc/1/fd/0",
		"! cat /proc/$PPID/environ 2>/dev/null && ! : </proc/$PPID/fd/0",
		`python3 -c 'import ctypes; l = ctypes.CDLL(None); exit(l.ptrace(16, 1, 0, 0) == 0)'`,
		"! mknod /tmp/device b 8 0 && ! mount -t tmpfs none /mnt && ! chroot / true",
	} {
		got := execute(t, sb, sandbox.Command{Script: "{ " + attempt + "; } 2>/dev/null", Timeout: 30 * time.Second})
		if got.err != nil || got.result.ExitCode != nil && *got.result.ExitCode != 0 {
			t.Errorf("%q: %s, error %v, output %q", attempt, describe(got.result), got.err, got.output)
		}
		if got := script(t, sb, "echo still there"); got != "still there\n" {
			t.Errorf("after %q: %q", attempt, got)
		}
	}
}
