package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// scriptTimeout ends scripts that hang. All of them share it, on a busy machine
// and with the race detector too.
const scriptTimeout = 15 * time.Minute

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		// The same program as belljar, over an engine whose sandboxes are
		// processes of the host.
		"belljar": func() {
			a := newApp(connectFake)
			os.Exit(a.run(context.Background(), os.Args[1:]))
		},
		// The program as it is built.
		"belljar-docker": func() {
			os.Exit(newApp(connectDocker).run(context.Background(), os.Args[1:]))
		},
	})
}

// TestScripts runs the program over a fake engine.
func TestScripts(t *testing.T) {
	takeHangups(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setupScript,
		Cmds:                scriptCommands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(scriptTimeout),
	})
}

// takeHangups lets what a test starts be ended by HUP, also where that is
// ignored, as under nohup: an ignored signal is inherited, a taken one is not.
func takeHangups(t *testing.T) {
	t.Helper()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
}

// setupScript gives each script a home, a folder for sessions and a workspace
// of its own.
func setupScript(env *testscript.Env) error {
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("BELLJAR_STATE_DIR", filepath.Join(env.WorkDir, "state"))
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "BELLJAR_MODEL", "NO_COLOR"} {
		env.Setenv(name, "")
	}
	env.Setenv("WS", filepath.Join(env.WorkDir, "ws"))
	for _, dir := range []string{"home", "ws"} {
		if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// scriptCommands are the commands of the scripts beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		// exits CODE CMD [ARG...] runs a program and asserts its exit code.
		"exits": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 2 {
				ts.Fatalf("usage: exits CODE CMD [ARG...]")
			}
			want, err := strconv.Atoi(args[0])
			ts.Check(err)
			got := 0
			var failed *exec.ExitError
			if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
				got = failed.ExitCode()
			} else {
				ts.Check(err)
			}
			if got != want {
				ts.Fatalf("exit code %d, want %d", got, want)
			}
		},
		// waitfor FILE waits until a file is there.
		"waitfor": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 {
				ts.Fatalf("usage: waitfor FILE")
			}
			for end := time.Now().Add(scriptTimeout); ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
					return
				}
				if time.Now().After(end) {
					ts.Fatalf("%s never came", args[0])
				}
			}
		},
		// empty FILE asserts that a file has no bytes.
		"empty": func(ts *testscript.TestScript, neg bool, args []string) {
			if len(args) != 1 {
				ts.Fatalf("usage: empty FILE")
			}
			if text := ts.ReadFile(args[0]); (text == "") == neg {
				ts.Fatalf("%s holds %q", args[0], text)
			}
		},
	}
}

// A fakeEngine has images in a list and starts sandboxes as processes.
type fakeEngine struct {
	sandbox.Runtime
	images []docker.LocalImage
}

// connectFake gives a fakeEngine; the context "down" has none, and in the
// context "lacking" no limit on memory holds.
func connectFake(_ context.Context, opts docker.Options) (engine, error) {
	if opts.Context == "down" {
		return nil, errors.New("no container engine answers: the fake one is down; start it")
	}
	runtime, err := sandboxtest.NewRuntime(sandboxtest.Options{})
	if err != nil {
		return nil, err
	}
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fake := &fakeEngine{Runtime: runtime, images: []docker.LocalImage{
		{Ref: images.Tag(), ID: "sha256:0123456789abcdef0123456789abcdef", Size: 300 << 20, Created: made, Default: true},
		{Ref: "belljar/default:old", ID: "sha256:fedcba9876543210fedcba9876543210", Size: 200 << 20, Created: made},
	}}
	if opts.Context == "lacking" {
		return lackingEngine{fake}, nil
	}
	return fake, nil
}

func (f *fakeEngine) Description() string                { return "Fake Engine 1.0" }
func (f *fakeEngine) Endpoint() docker.Endpoint          { return docker.Endpoint{} }
func (f *fakeEngine) Sweep(context.Context) (int, error) { return 0, nil }
func (f *fakeEngine) DataRoot() string                   { return "" }
func (f *fakeEngine) Close() error                       { return nil }

func (f *fakeEngine) List(context.Context) ([]docker.Listed, error) {
	made := time.Now().Add(-90 * time.Minute)
	return []docker.Listed{
		{ID: "0123456789abcdef0123", Session: "20260102-030405-abcd", PID: 42, Owner: docker.OwnerAlive, Image: "some:image", State: "running", Created: made, Workspace: "/home/u/w"},
		{ID: "fedcba98765432100123", PID: 43, Owner: docker.OwnerDead, Image: "some:image", State: "exited", Created: made.Add(-100 * time.Hour)},
		{ID: "aaaabbbbccccdddd0123", PID: 44, Owner: docker.OwnerElsewhere, Image: "some:image", State: "running", Created: made},
	}, nil
}

func (f *fakeEngine) Collect(_ context.Context, dry bool) ([]docker.Leftover, error) {
	broken := docker.Leftover{Kind: "file", Name: "/cache/x", Stale: true, Why: "it was not used for a week"}
	if !dry {
		broken.Err = errors.New("removing /cache/x: it is a fake")
	}
	return []docker.Leftover{
		{Kind: "container", Name: "0123456789abcdef0123", Why: "its owner, process 42, lives"},
		{Kind: "container", Name: "fedcba98765432100123", Stale: true, Why: "its owner, process 43, is dead"},
		broken,
	}, nil
}

func (f *fakeEngine) find(ref string) (sandbox.Image, bool) {
	for _, image := range f.images {
		if image.Ref == ref {
			return sandbox.Image{Ref: image.Ref, ID: image.ID}, true
		}
	}
	return sandbox.Image{}, false
}

func (f *fakeEngine) Image(_ context.Context, ref string) (sandbox.Image, bool, error) {
	image, found := f.find(ref)
	return image, found, nil
}

func (f *fakeEngine) EnsureImage(_ context.Context, ref string, _ io.Writer) (sandbox.Image, error) {
	if image, found := f.find(ref); found {
		return image, nil
	}
	return sandbox.Image{}, errors.New("pulling " + ref + ": the registry does not answer; check the name")
}

func (f *fakeEngine) BuildDefault(ctx context.Context, progress io.Writer) (sandbox.Image, error) {
	return f.EnsureImage(ctx, images.Tag(), progress)
}

func (f *fakeEngine) ListImages(context.Context) ([]docker.LocalImage, error) { return f.images, nil }

func (f *fakeEngine) RemoveImage(context.Context, string) error { return nil }
