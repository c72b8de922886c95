//go:build linux

package docker_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// TestFullMemoryFolders fills what is in memory and goes on. Nothing else there
// may take in more, such as /dev.
func TestFullMemoryFolders(t *testing.T) {
	engine := connect(t)
	little := newSpec(t, os.Getuid(), os.Getgid())
	little.Limits.Memory = 96 * sandbox.MiB
	littleDev := devSpec(t)
	littleDev.Limits.Memory = 96 * sandbox.MiB
	memory, shm := []string{"/tmp", "$HOME", "/dev/shm"}, []string{"/dev/shm"}
	type full struct {
		spec sandbox.Spec
		dirs []string
	}
	tests := map[string]full{
		"strict": {newSpec(t, os.Getuid(), os.Getgid()), memory},
		"dev":    {devSpec(t), shm},
	}
	// Where root can fill /dev so little leaves no room for it, see docs/engines.md.
	if !engine.Podman() && os.Getenv("BELLJAR_TEST_RUNTIME") == "" {
		tests["strict, with little memory"], tests["dev, with little memory"] = full{little, memory}, full{littleDev, shm}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sb := start(t, engine, test.spec)
			for _, dir := range test.dirs {
				got := execute(t, sb, sandbox.Command{Script: "head -c 1G /dev/zero >" + dir + "/filled"})
				if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode == 0 || !strings.Contains(got.output, "No space left") {
					t.Errorf("filling %s: %s, error %v, output %q", dir, describe(got.result), got.err, got.output)
				}
			}
			script(t, sb, "head -c 64M /dev/zero >/dev/filled || true")
			for range 3 {
				if got := script(t, sb, "echo next; git --version >/dev/null"); got != "next\n" {
					t.Errorf("after all are full: %q", got)
				}
			}
		})
	}
}

// TestMemoryFoldersKnown looks for file systems in memory that commands can
// write to and that nothing was kept free for.
func TestMemoryFoldersKnown(t *testing.T) {
	engine := connect(t)
	dev := ""
	if engine.Podman() && os.Getuid() == 0 {
		dev = "/dev\n" // which room is left for
	}
	const look = `while read -r _ place kind _; do
	case $kind in tmpfs | ramfs) (: >"$place/belljar-try") 2>/dev/null && echo "$place" ;; esac
done </proc/self/mounts | sort -u`
	for name, test := range map[string]struct {
		spec sandbox.Spec
		want string
	}{
		"strict": {newSpec(t, os.Getuid(), os.Getgid()), dev + "/dev/shm\n" + sandbox.HomePoint + "\n/tmp\n"},
		"dev":    {devSpec(t), dev + "/dev/shm\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := script(t, start(t, engine, test.spec), look)
			if engine.Podman() { // there with control groups of version 1 only, and said in docs/engines.md
				got = strings.Replace(got, "/sys/fs/cgroup\n", "", 1)
			}
			if got != test.want {
				t.Errorf("in memory and writable: %q, want %q", got, test.want)
			}
		})
	}
}

// TestDiskLimit has runaway writers, each in a sandbox that goes on after.
func TestDiskLimit(t *testing.T) {
	engine := connect(t)
	const many = "i=0; while :; do head -c 4M /dev/zero >DIR/f$i; i=$((i + 1)); done"
	for _, test := range []struct {
		name, dir, script string
		dev               bool
	}{
		{"many files in the workspace", "/workspace", many, false},
		{"many small files", "/workspace/small", "mkdir -p DIR; i=0; while :; do echo x >DIR/f$i; i=$((i + 1)); done", false},
		{"the writable layer", "/var/cache", many, true},
		{"tmp in dev", "/tmp", many, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			if test.dev {
				spec = devSpec(t)
			}
			spec.Limits.Disk = 32 * sandbox.MiB
			if strings.Contains(test.script, "echo x") {
				spec.Limits.Disk = 4 * sandbox.MiB
			}
			sb := start(t, engine, spec)
			got := execute(t, sb, sandbox.Command{
				Script: strings.ReplaceAll(test.script, "DIR", test.dir), Timeout: time.Minute,
			})
			if test.dir == "/tmp" && !sb.Info().Capabilities.Counters && got.result.Status == sandbox.OutOfMemory {
				return // gVisor keeps an empty /tmp of the image in memory
			}
			if got.err != nil || got.result.Status != sandbox.DiskLimit || got.result.ExitCode != nil {
				t.Fatalf("got %s, error %v, want the disk limit", describe(got.result), got.err)
			}
			if !strings.Contains(got.result.Reason, `"`+test.dir) {
				t.Errorf("the reason %q does not name what is in %s", got.result.Reason, test.dir)
			}
			if got := script(t, sb, "rm -rf "+test.dir+"/*; echo freed"); got != "freed\n" {
				t.Errorf("the next command: %q", got)
			}
			if got := script(t, sb, "head -c 1M /dev/zero >"+test.dir+"/more && sleep 1; echo fine"); got != "fine\n" {
				t.Errorf("a little more: %q", got)
			}
		})
	}
}

// TestDiskLimitOfOneFile has the kernel stop a file, with or without blocks.
func TestDiskLimitOfOneFile(t *testing.T) {
	engine := connect(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.Disk = 16 * sandbox.MiB
	sb := start(t, engine, spec)
	got := execute(t, sb, sandbox.Command{Script: "truncate -s 17M sparse"})
	if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode == 0 {
		t.Errorf("got %s, error %v, want that the file is refused", describe(got.result), got.err)
	}
	for name, script := range map[string]string{
		"of a shell's child":      "head -c 17M /dev/zero >full",
		"of the shell":            "exec head -c 17M /dev/zero >full",
		"that is told as failure": "trap '' XFSZ; head -c 17M /dev/zero >full",
	} {
		t.Run(name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Limits.Disk = 16 * sandbox.MiB
			got := execute(t, start(t, engine, spec), sandbox.Command{Script: script})
			if got.err != nil || got.result.Status != sandbox.DiskLimit || !strings.Contains(got.result.Reason, "/workspace/full") {
				t.Errorf("got %s, error %v, want the disk limit with the file", describe(got.result), got.err)
			}
		})
	}
	if got := script(t, sb, "truncate -s 15M sparse; echo next"); got != "next\n" {
		t.Errorf("the next command: %q", got)
	}
	spec = newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.Disk = sandbox.NoLimit
	sb = start(t, engine, spec)
	if got := script(t, sb, "ulimit -f"); got != "unlimited\n" {
		t.Errorf("without a limit ulimit says %q", got)
	}
	if got := sb.Info().Loosened; !slices.Contains(got, "disk=none") {
		t.Errorf("loosened = %q, want disk=none in it", got)
	}
}

// TestDiskLimitOfNames has writers of what takes no bytes, and of what has no
// name that a look at the folders would find.
func TestDiskLimitOfNames(t *testing.T) {
	engine := connect(t)
	const (
		empty = `mkdir DIR/empty && cd DIR/empty && i=0; while [ $i -lt 60000 ]; do : >f$i; i=$((i + 1)); done; sleep 20`
		open  = `cd DIR; for i in 1 2 3 4 5 6 7 8 9; do
	exec {fd}>u; rm u; head -c 15M /dev/zero >&$fd
done; sleep 60`
	)
	for _, test := range []struct {
		name, dir, script, words string
		dev                      bool
	}{
		{"empty files", "/workspace", empty, `"/workspace/empty"`, false},
		{"empty files in the layer", "/var", empty, `"/var/empty"`, true},
		{"deleted while open", "/workspace", open, `"/workspace/u (deleted)"`, false},
		{"deleted while open in the layer", "/var", open, `"/var/u (deleted)"`, true},
	} {
		if test.dev && os.Getuid() != 0 && test.script == open {
			continue // what root has open is not seen without root, see docs/security.md
		}
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			if test.dev {
				spec = devSpec(t)
			}
			spec.Limits.Disk = 16 * sandbox.MiB
			sb := start(t, engine, spec)
			got := execute(t, sb, sandbox.Command{Script: strings.ReplaceAll(test.script, "DIR", test.dir), Timeout: time.Minute})
			if got.err != nil || got.result.Status != sandbox.DiskLimit || !strings.Contains(got.result.Reason, test.words) {
				t.Fatalf("got %s, error %v, output %q, want the disk limit with %s", describe(got.result), got.err, got.output, test.words)
			}
			if got := script(t, sb, "rm -rf "+test.dir+"/empty; echo freed"); got != "freed\n" {
				t.Errorf("the next command: %q", got)
			}
		})
	}
}

// TestDiskLimitOfBackground ends a writer that its command left.
func TestDiskLimitOfBackground(t *testing.T) {
	engine := connect(t)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Limits.Disk = 32 * sandbox.MiB
	sb := start(t, engine, spec)
	script(t, sb, "setsid sh -c 'while :; do head -c 1M /dev/zero >>grows; sleep 0.05; done' >/dev/null 2>&1 &")
	eventually(t, hang, "the writer is ended", func() bool {
		got := execute(t, sb, sandbox.Command{Script: "! pgrep -f 'head -c 1M' >/dev/null && ! pgrep -f '[g]rows' >/dev/null"})
		return got.err == nil && got.result.Status == sandbox.Exited && *got.result.ExitCode == 0
	})
	if got := script(t, sb, "echo next"); got != "next\n" {
		t.Errorf("the next command: %q", got)
	}
}
