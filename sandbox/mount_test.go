package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

func TestCheckMounts(t *testing.T) {
	at := func(targets ...string) []sandbox.Mount {
		var mounts []sandbox.Mount
		for _, target := range targets {
			mounts = append(mounts, sandbox.Mount{Source: "/src", Target: target})
		}
		return mounts
	}
	for _, test := range []struct {
		name   string
		mounts []sandbox.Mount
		want   string // "" is none
	}{
		{"none", nil, ""},
		{"beside each other", at("/data", "/data2", "/mnt/a", "/mnt/b", "/etc/ssl", "/tmp/x", "/home/other", "/home/belljar/.cache"), ""},
		{"relative source", []sandbox.Mount{{Source: "src", Target: "/data"}}, "not an absolute path"},
		{"source not UTF-8", []sandbox.Mount{{Source: "/src\xff", Target: "/data"}}, "not UTF-8"},
		{"relative target", at("data"), "clean absolute path"},
		{"empty target", at(""), "clean absolute path"},
		{"target not clean", at("/data/../proc"), "clean absolute path"},
		{"target ends in a slash", at("/data/"), "clean absolute path"},
		{"target of two lines", at("/data\nx"), "control characters"},
		{"root", at("/"), "would hide"},
		{"workspace", at("/workspace"), "would hide /workspace"},
		{"in the workspace", at("/workspace/data"), "lies in the workspace"},
		{"beside the workspace", at("/workspace2"), ""},
		{"proc", at("/proc"), "would hide"},
		{"in proc", at("/proc/sys"), "in /proc"},
		{"in sys", at("/sys/fs/cgroup"), "in /sys"},
		{"dev", at("/dev"), "would hide /dev/shm"},
		{"in dev", at("/dev/disk"), "in /dev"},
		{"tmp", at("/tmp"), "would hide /tmp"},
		{"home", at("/home/belljar"), "would hide"},
		{"above home", at("/home"), "would hide"},
		{"etc", at("/etc"), "would hide /etc/passwd"},
		{"passwd", at("/etc/passwd"), "would hide"},
		{"programs", at("/bin"), "would hide programs"},
		{"libraries", at("/usr/lib"), "would hide programs"},
		{"libraries of another size", at("/lib64"), "would hide programs"},
		{"libraries of a processor", at("/usr/lib/x86_64-linux-gnu"), "would hide programs"},
		{"all of the system", at("/usr"), "would hide programs"},
		{"in the system", at("/usr/lib/node_modules", "/usr/local/bin", "/usr/share/dict", "/opt"), ""},
		{"the supervisor", at("/.belljar"), "would hide"},
		{"in the supervisor's folder", at("/.belljar/belljar"), "in /.belljar"},
		{"twice", at("/data", "/data"), "lie in each other"},
		{"above", at("/data/a", "/data"), "lie in each other"},
		{"below", at("/data", "/data/a"), "lie in each other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := sandbox.CheckMounts(test.mounts)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q has more than one line", err)
			}
		})
	}
}

func TestOwnMount(t *testing.T) {
	for target, want := range map[string]bool{"/belljar": true, "/belljar/outputs": true, "/belljar/tools": false, "/belljars": false, "/mnt/belljar": false} {
		if got := (sandbox.Mount{Target: target}).Own(); got != want {
			t.Errorf("Own of %s = %v, want %v", target, got, want)
		}
	}
	if !(sandbox.Mount{Target: sandbox.ProgramsPoint}).Reserved() {
		t.Errorf("%s is not reserved", sandbox.ProgramsPoint)
	}
}

func TestCheckMountsOfSpec(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	for _, name := range []string{"work/sub", "data"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(work, "sub"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, source string
		readOnly     bool
		user         sandbox.User
		want         string // "" is none
	}{
		{"beside", "data", false, sandbox.UserOwner, ""},
		{"the workspace", "work", true, sandbox.UserOwner, "is the workspace, in it or around it"},
		{"in the workspace", "work/sub", true, sandbox.UserOwner, "is the workspace, in it or around it"},
		{"around the workspace", ".", true, sandbox.UserOwner, "is the workspace, in it or around it"},
		{"into the workspace by a link", "link", true, sandbox.UserOwner, "is the workspace, in it or around it"},
		{"written by root", "data", false, sandbox.UserRoot, "mount it read-only"},
		{"read by root", "data", true, sandbox.UserRoot, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			mount := sandbox.Mount{Source: filepath.Join(dir, test.source), Target: "/mnt/x", ReadOnly: test.readOnly}
			err := sandbox.Spec{Workspace: work, User: test.user, Mounts: []sandbox.Mount{mount}}.CheckMounts()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
