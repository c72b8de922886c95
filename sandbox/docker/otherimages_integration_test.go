package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/sandbox"
)

// loneProgram is all that an image without a shell has. It says what it was
// started with, leaves a file, and ends with a code of its own.
const loneProgram = `package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	fmt.Println(strings.Join(os.Args[1:], "|"))
	fmt.Fprintln(os.Stderr, os.Getenv("HOME"))
	if err := os.WriteFile("made", []byte("by the program\n"), 0o644); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(6)
}
`

// TestImageWithoutShell uses an image that holds one program and nothing else,
// no folder of the usual ones included.
func TestImageWithoutShell(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Image = seen.importProgram(t)
	sb := start(t, engine, spec)
	if shell := sb.Info().Shell; shell != "" {
		t.Errorf("Info().Shell = %q, want none", shell)
	}
	for range 2 {
		var stdout, stderr output
		got := execute(t, sb, sandbox.Command{Args: []string{"/program", "a b", "", "$c"}, Stdout: &stdout, Stderr: &stderr})
		if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 6 {
			t.Fatalf("the program: %s, error %v, want exit code 6", describe(got.result), got.err)
		}
		if stdout.String() != "a b||$c\n" || stderr.String() != "/home/belljar\n" {
			t.Errorf("the program wrote %q and %q", stdout.String(), stderr.String())
		}
	}
	if made, err := os.ReadFile(filepath.Join(spec.Workspace, "made")); err != nil || string(made) != "by the program\n" {
		t.Errorf("the program's file = %q, error %v", made, err)
	}
	got := execute(t, sb, sandbox.Command{Script: "echo hello"})
	if got.err == nil {
		t.Fatalf("a script gave %s, want an error", describe(got.result))
	}
	if text := got.err.Error(); !strings.Contains(text, "the image has no shell") || strings.Contains(text, "\n") {
		t.Errorf("a script: %q, want one line that says that the image has no shell", text)
	}
	got = execute(t, sb, sandbox.Command{Args: []string{"sh", "-c", "true"}})
	if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 127 {
		t.Errorf("a program that is not there: %s, error %v, want exit code 127", describe(got.result), got.err)
	}
	if got := execute(t, sb, sandbox.Command{Args: []string{"/program"}}); got.err != nil || *got.result.ExitCode != 6 {
		t.Errorf("afterwards: %s, error %v, want exit code 6", describe(got.result), got.err)
	}
}

// importProgram makes an image of the lone program and returns its name.
func (o observer) importProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(loneProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building a program: %v\n%s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ref := "belljar-test/" + newSession() + ":1"
	answer, err := o.ImageImport(t.Context(), image.ImportSource{Source: &archive, SourceName: "-"}, ref, image.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	if _, err := io.Copy(io.Discard, answer); err != nil {
		t.Fatal(err)
	}
	o.removeImageAtEnd(t, ref)
	return ref
}

func (o observer) removeImageAtEnd(t *testing.T, ref string) {
	t.Helper()
	t.Cleanup(func() {
		if _, err := o.ImageRemove(context.Background(), ref, image.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	})
}

// changed makes an image that is the default one with changes, in the words of
// a Dockerfile, and returns its name.
func (o observer) changed(t *testing.T, changes ...string) string {
	t.Helper()
	created, err := o.ContainerCreate(t.Context(), &container.Config{Image: images.Tag()}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	o.removeAtEnd(t, created.ID)
	ref := "belljar-test/" + newSession() + ":1"
	if _, err := o.ContainerCommit(t.Context(), created.ID, container.CommitOptions{Reference: ref, Changes: changes}); err != nil {
		t.Fatal(err)
	}
	o.removeImageAtEnd(t, ref)
	return ref
}

// TestImageSettings uses images whose own settings would get in the way.
func TestImageSettings(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	for _, test := range []struct {
		name    string
		changes []string
		check   func(*testing.T, sandbox.Sandbox)
	}{
		{"an entrypoint that fails", []string{`ENTRYPOINT ["/bin/false"]`, `CMD ["nothing"]`}, nil},
		{"an entrypoint that swallows", []string{`ENTRYPOINT ["/bin/echo"]`}, nil},
		{"a user", []string{"USER 12345:12345"}, nil},
		{"a working directory", []string{"WORKDIR /nowhere/at/all"}, nil},
		{"a health check", []string{`HEALTHCHECK --interval=1s CMD touch /workspace/checked`}, func(t *testing.T, sb sandbox.Sandbox) {
			if health := seen.inspect(t, sb.Info().ID).State.Health; health != nil && health.Status != container.NoHealthcheck {
				t.Errorf("the health check runs: %+v", health)
			}
		}},
		{"variables", []string{"ENV HOME=/root IMAGE_SAYS=hello PATH=/opt/bin:/usr/bin:/bin LANG=de_DE.UTF-8"}, func(t *testing.T, sb sandbox.Sandbox) {
			got := script(t, sb, "echo $HOME $IMAGE_SAYS $LANG; echo $PATH | cut -d: -f1-3")
			if want := "/home/belljar hello de_DE.UTF-8\n/opt/bin:/usr/bin:/bin\n"; got != want {
				t.Errorf("variables = %q, want %q", got, want)
			}
		}},
		{"volumes", []string{"VOLUME /data", "VOLUME " + sandbox.MountPoint, "VOLUME /tmp"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Image = seen.changed(t, test.changes...)
			sb := start(t, engine, spec)
			if got := script(t, sb, "pwd; echo $(id -u):$(id -g); echo text >file; echo x >/tmp/x"); got != sandbox.MountPoint+"\n"+sb.Info().User+"\n" {
				t.Errorf("a script wrote %q", got)
			}
			if text, err := os.ReadFile(filepath.Join(spec.Workspace, "file")); err != nil || string(text) != "text\n" {
				t.Errorf("the file on the host = %q, error %v", text, err)
			}
			if test.check != nil {
				test.check(t, sb)
			}
			volumes := seen.volumes(t, sb.Info().ID)
			if err := sb.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range volumes {
				if _, err := seen.VolumeInspect(t.Context(), name); !errdefs.IsNotFound(err) {
					t.Errorf("volume %s is left (%v)", name, err)
				}
			}
		})
	}
}

// volumes names the volumes of a container.
func (o observer) volumes(t *testing.T, id string) []string {
	t.Helper()
	var names []string
	for _, m := range o.inspect(t, id).Mounts {
		if m.Type == "volume" {
			names = append(names, m.Name)
		}
	}
	return names
}
