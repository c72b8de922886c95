//go:build linux

package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/enginetest"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// attackRounds is how many calls testFilesAttacked makes; the environment may
// name another number.
const (
	attackRounds   = 2000
	roundsVariable = "BELLJAR_TEST_ROUNDS"
)

// attacker swaps folders, links, FIFOs and hard links for each other for as long
// as it runs. OUT is the path of what lies outside on the host.
const attacker = `
import itertools, os, shutil
def folder(p):
    os.mkdir(p); os.mkdir(p + '/sub')
    for name in ('file', 'sub/file'):
        with open(p + '/' + name, 'w') as f: f.write('inside\n')
def link(target): return lambda p: os.symlink(target, p)
def hard(p): os.link('real', p)
def text(p):
    with open(p, 'w') as f: f.write('inside\n')
def clear(p):
    try:
        if os.path.isdir(p) and not os.path.islink(p): shutil.rmtree(p)
        else: os.remove(p)
    except OSError: pass
def becomes(name, makers):
    for make in itertools.cycle(makers):
        try:
            make('.next'); clear(name); os.rename('.next', name)
        except OSError: clear('.next')
        yield
text('real')
swaps = [
    becomes('spot', [folder, link('OUT'), folder, link('../outside'), os.mkfifo, folder, link('/'), link('spot'), hard]),
    becomes('leaf', [text, link('OUT/file'), os.mkfifo, hard, link('../outside/file'), text, folder, link('leaf')]),
]
print('begun', flush=True)
while True:
    for swap in swaps: next(swap)
`

// testFilesAttacked runs the file tools on the host while a process in the
// container swaps everything under their feet. Nothing outside is read or
// written, and no call waits.
func testFilesAttacked(t *testing.T, p *program) {
	t.Run("folder", func(t *testing.T) { attackFiles(t, p, sharedDir(t)) })
	if os.Geteuid() != 0 {
		return // others cannot mount
	}
	t.Run("file system of its own", func(t *testing.T) {
		base := sharedDir(t)
		inside := filepath.Join(base, "inside")
		if err := os.Mkdir(inside, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("tmpfs", inside, "tmpfs", 0, "size=16m,mode=755"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(inside, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		attackFiles(t, p, base)
	})
}

// attackFiles is the attack on a workspace in a folder, beside what lies outside.
func attackFiles(t *testing.T, p *program, base string) {
	rounds := attackRounds
	if text := os.Getenv(roundsVariable); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", roundsVariable, err)
		}
	}
	inside, outside := filepath.Join(base, "inside"), filepath.Join(base, "outside")
	const canary = "canary-51c9"
	for _, dir := range []string{inside, filepath.Join(outside, "sub")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "sub/file", canary} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(canary+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, outside)
	registry := attackTools(t, inside)
	stop := attackFromContainer(t, p, inside, strings.ReplaceAll(attacker, "OUT", outside))
	calls := []struct {
		tool string
		args map[string]any
	}{
		{"read_file", map[string]any{"path": "spot/file"}},
		{"write_file", map[string]any{"path": "spot/file", "content": "inside, by a tool\n"}},
		{"edit_file", map[string]any{"path": "spot/sub/file", "old_text": "inside", "new_text": "inside as well"}},
		{"read_file", map[string]any{"path": "leaf"}},
		{"edit_file", map[string]any{"path": "leaf", "old_text": "inside", "new_text": "inside as well"}},
		{"write_file", map[string]any{"path": "spot/new", "content": "inside\n"}},
		{"apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: leaf\n@@\n-inside\n+inside!\n*** Delete File: spot/new\n*** End Patch"}},
		{"grep", map[string]any{"pattern": "canary|inside"}},
		{"glob", map[string]any{"pattern": "**"}},
		{"read_file", map[string]any{"path": "spot"}},
	}
	done, refused, longest := 0, 0, time.Duration(0)
	for i := range rounds {
		call := calls[i%len(calls)]
		args, err := json.Marshal(call.args)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got, err := registry.Execute(t.Context(), call.tool, args)
		if err != nil {
			t.Fatalf("call %d, %s %s: %v", i, call.tool, args, err)
		}
		longest = max(longest, time.Since(began))
		if took := time.Since(began); took > hang {
			t.Fatalf("call %d, %s %s, took %v", i, call.tool, args, took)
		}
		for _, part := range got.Parts {
			if strings.Contains(part.Text, canary) {
				t.Fatalf("call %d, %s %s, has read outside: %q", i, call.tool, args, part.Text)
			}
		}
		if got.IsError {
			refused++
		} else {
			done++
		}
	}
	stop()
	if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
		t.Errorf("what lies outside has changed (-before +after):\n%s", diff)
	}
	if done == 0 || refused == 0 {
		t.Errorf("%d calls were done and %d refused: nothing was put to the test", done, refused)
	}
	t.Logf("%d calls were done and %d refused, the longest took %v", done, refused, longest)
}

// attackTools are the file tools over a folder.
func attackTools(t *testing.T, dir string) *tools.Registry {
	t.Helper()
	owner, err := workspace.OwnerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	space, err := workspace.Open(dir, sandbox.MountPoint, owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { space.Close() })
	registry, seen := new(tools.Registry), new(tools.Seen)
	for _, tool := range []tools.Tool{
		tools.NewReadFile(space, seen), tools.NewWriteFile(space, seen), tools.NewEditFile(space, seen),
		tools.NewApplyPatch(space, seen), tools.NewGlob(space), tools.NewGrep(space),
	} {
		if err := registry.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	return registry
}

// attackFromContainer runs a program of Python in a sandbox over a folder until
// stop is called, and returns when it has begun.
func attackFromContainer(t *testing.T, p *program, dir, script string) (stop func()) {
	t.Helper()
	owner, err := workspace.OwnerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	sb, err := enginetest.Require(t, p.path).Start(t.Context(), sandbox.Spec{Workspace: dir, Owner: owner, Image: images.Tag()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var output strings.Builder
		result, err := sb.Exec(ctx, sandbox.Command{Args: []string{"python3", "-c", script}, Stdout: &onFirst{began: began}, Stderr: &output})
		if err != nil || result.Status != sandbox.Canceled {
			t.Errorf("the attacker ended as %s, %v: %s", result.Status, err, &output)
		}
	}()
	select {
	case <-began:
	case <-ended:
		t.FailNow()
	case <-time.After(hang):
		t.Fatal("the attacker did not begin")
	}
	return func() {
		cancel()
		<-ended
	}
}

// onFirst closes a channel when the first bytes come.
type onFirst struct{ began chan struct{} }

func (w *onFirst) Write(p []byte) (int, error) {
	select {
	case <-w.began:
	default:
		close(w.began)
	}
	return len(p), nil
}

// tree is everything below a folder, with what files hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		found[path] = entry.Type().String()
		if entry.Type().IsRegular() {
			content, err := os.ReadFile(path)
			found[path] += string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
