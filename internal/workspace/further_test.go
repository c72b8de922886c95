package workspace_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// TestFurther follows paths and links between the workspace and further
// folders, as the sandbox would.
func TestFurther(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"ws/file": "of the workspace", "outputs/0001.txt": "kept", "data/sub/file": "data", "outside/file": "hidden",
	} {
		put(t, filepath.Join(top, name), text)
	}
	link(t, "/belljar/outputs/0001.txt", filepath.Join(top, "ws/kept"))
	link(t, "/data", filepath.Join(top, "ws/data"))
	link(t, "/workspace/file", filepath.Join(top, "data/back"))
	link(t, "../outside/file", filepath.Join(top, "data/out"))
	link(t, "/belljar", filepath.Join(top, "ws/above"))
	w, err := workspace.Open(filepath.Join(top, "ws"), "/workspace", sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	for _, m := range []sandbox.Mount{
		{Source: filepath.Join(top, "outputs"), Target: "/belljar/outputs", ReadOnly: true},
		{Source: filepath.Join(top, "data"), Target: "/data"},
	} {
		if err := w.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"/belljar/outputs", "/data"}, w.Further(false)); diff != "" {
		t.Errorf("Further (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/data"}, w.Further(true)); diff != "" {
		t.Errorf("Further, writable (-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		path, name, text string
		err              error // of reading
		written          error // of writing
	}{
		{path: "/belljar/outputs/0001.txt", name: "/belljar/outputs/0001.txt", text: "kept", written: workspace.ErrReadOnly},
		{path: "kept", name: "/belljar/outputs/0001.txt", text: "kept", written: workspace.ErrReadOnly},
		{path: "../belljar/outputs/0001.txt", name: "/belljar/outputs/0001.txt", text: "kept", written: workspace.ErrReadOnly},
		{path: "above/outputs/0001.txt", name: "/belljar/outputs/0001.txt", text: "kept", written: workspace.ErrReadOnly},
		{path: "/belljar/outputs/../../workspace/file", name: "file", text: "of the workspace"},
		{path: "/belljar/outputs/new/file", err: fs.ErrNotExist, written: fs.ErrNotExist},
		{path: "/belljar/outputs/new", err: fs.ErrNotExist, written: workspace.ErrReadOnly},
		{path: "data/sub/file", name: "/data/sub/file", text: "data"},
		{path: "/data/back", name: "file", text: "of the workspace"},
		{path: "/data/out", err: workspace.ErrOutside, written: workspace.ErrOutside},
		{path: "/data/../outputs/0001.txt", err: workspace.ErrOutside, written: workspace.ErrOutside},
		{path: "above", err: workspace.ErrOutside, written: workspace.ErrOutside},
		{path: "/belljar", err: workspace.ErrOutside, written: workspace.ErrOutside},
		{path: "/datax", err: workspace.ErrOutside, written: workspace.ErrOutside},
	} {
		t.Run(test.path, func(t *testing.T) {
			f, err := w.Open(test.path)
			if !errors.Is(err, test.err) {
				t.Errorf("Open: %v, want %v", err, test.err)
			}
			if err == nil {
				text, err := io.ReadAll(f)
				if f.Name != test.name || string(text) != test.text || err != nil {
					t.Errorf("%q holds %q, %v, want %q with %q", f.Name, text, err, test.name, test.text)
				}
				_ = f.Close()
			}
			same := func(old []byte) ([]byte, error) { return old, nil }
			if _, err := updateFile(w, test.path, 1000, same); test.err == nil && !errors.Is(err, test.written) {
				t.Errorf("UpdateFile: %v, want %v", err, test.written)
			}
			if _, err := writeFile(w, test.path, []byte(test.text)); !errors.Is(err, test.written) {
				t.Errorf("WriteFile: %v, want %v", err, test.written)
			}
		})
	}
	entries, err := os.ReadDir(filepath.Join(top, "outputs"))
	if err != nil || len(entries) != 1 {
		t.Errorf("the read-only folder holds %v, %v", entries, err)
	}
	if err := w.Add(sandbox.Mount{Source: filepath.Join(top, "missing"), Target: "/x"}); err == nil {
		t.Error("a missing folder was added")
	}
}
