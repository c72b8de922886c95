package docker

import (
	"errors"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/system"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/sandbox"
)

// labeled makes a folder with a label, which root may set on a system without
// SELinux, too.
func labeled(t *testing.T, kind string) string {
	t.Helper()
	dir := t.TempDir()
	if kind == "" {
		return dir
	}
	err := unix.Setxattr(dir, "security.selinux", []byte("system_u:object_r:"+kind+":s0\x00"), 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) {
		t.Skipf("labels cannot be set here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCheckLabels(t *testing.T) {
	confined := []string{"name=seccomp,profile=default", "name=selinux"}
	for _, tc := range []struct {
		name      string
		options   []string
		workspace string // its type
		mount     string // that of a further folder, "-" for none
		relabel   bool
		refused   string // a part of the error, with DIR for the folder
	}{
		{"no SELinux", []string{"name=seccomp,profile=default"}, "user_home_t", "-", false, ""},
		{"fit for containers", confined, "container_file_t", "-", false, ""},
		{"no label", confined, "", "-", false, ""},
		{"a home", confined, "user_home_t", "-", false, "chcon -R -t container_file_t 'DIR'"},
		{"with a word after the name", []string{"name=selinux,level=x"}, "user_home_t", "-", false, "whose type is user_home_t"},
		{"to be relabeled", confined, "user_home_t", "-", true, ""},
		{"a further folder", confined, "container_file_t", "var_t", true, "to be mounted at /mnt/x, whose type is var_t"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := &Engine{info: system.Info{SecurityOptions: tc.options}, opts: Options{CacheDir: t.TempDir()}}
			spec := sandbox.Spec{Workspace: labeled(t, tc.workspace), Relabel: tc.relabel}
			if tc.mount != "-" {
				spec.Mounts = []sandbox.Mount{{Source: labeled(t, tc.mount), Target: "/mnt/x"}}
			}
			err := e.checkLabels(spec)
			want := strings.ReplaceAll(tc.refused, "DIR", spec.Workspace)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error = %v, want one line with %q", err, want)
			}
		})
	}
	e := &Engine{info: system.Info{SecurityOptions: confined}, opts: Options{CacheDir: t.TempDir()}}
	if err := e.checkLabels(sandbox.Spec{Workspace: "/a:b", Relabel: true}); err == nil || !strings.Contains(err.Error(), "chcon -R -t container_file_t '/a:b'") {
		t.Errorf("error = %v, want what to do about the colon", err)
	}
	own := sandbox.Spec{Mounts: []sandbox.Mount{{Source: labeled(t, "data_home_t"), Target: "/belljar/outputs", ReadOnly: true}}}
	if err := e.checkLabels(own); err != nil {
		t.Errorf("belljar's own folder is refused: %v", err)
	}
	own.Mounts[0].Source = "/state/a:b"
	if err := e.checkLabels(own); err == nil || !strings.Contains(err.Error(), `"/state/a:b", which has a colon`) {
		t.Errorf("error = %v, want one on the colon in an own folder", err)
	}
	e.opts.CacheDir += "/a:b"
	if err := e.checkLabels(sandbox.Spec{}); err == nil || !strings.Contains(err.Error(), e.opts.CacheDir) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %v, want one on the colon in the cache", err)
	}
	if got, want := quoted("/it's"), `'/it'\''s'`; got != want {
		t.Errorf("quoted = %s, want %s", got, want)
	}
}

func TestRelabeled(t *testing.T) {
	list := []mount.Mount{
		bind("/src", sandbox.MountPoint, false), bind("/cache/helper", helperInside, true),
		bind("/cache/passwd", "/etc/passwd", true), bind("/src/.git", sandbox.MountPoint+"/.git", false),
		bind("/data", "/mnt/data", true), bind("/cache/hosts", "/etc/hosts", true), bind("/state/outputs", "/belljar/outputs", true),
	}
	own := []string{
		"/cache/helper:" + helperInside + ":ro,z", "/cache/passwd:/etc/passwd:ro,z", "/cache/hosts:/etc/hosts:ro,z",
		"/state/outputs:/belljar/outputs:ro,z",
	}
	for _, tc := range []struct {
		name     string
		options  []string
		relabel  bool
		rest     []mount.Mount
		relabels []string
	}{
		{"no SELinux", nil, true, list, nil},
		{"own files", []string{"name=selinux"}, false, []mount.Mount{list[0], list[3], list[4]}, own},
		{"the workspace too", []string{"name=selinux"}, true, list[3:5], append([]string{"/src:/workspace:z"}, own...)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &plan{engine: &Engine{info: system.Info{SecurityOptions: tc.options}}, spec: sandbox.Spec{Relabel: tc.relabel}, hosts: "/cache/hosts"}
			rest, relabels := p.relabeled(list)
			if diff := cmp.Diff(tc.rest, rest); diff != "" {
				t.Errorf("mounts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.relabels, relabels); diff != "" {
				t.Errorf("binds (-want +got):\n%s", diff)
			}
		})
	}
}
