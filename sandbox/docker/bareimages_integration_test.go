package docker_test

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/belljar/belljar/sandbox"
)

// TestBareImage uses an image that holds a static shell and nothing else: no
// /etc, no /tmp, no folder for anybody's home. Its own settings do not matter.
func TestBareImage(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	shell, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatalf("a static busybox is needed: %v (apt-get install busybox-static)", err)
	}
	program, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		uid     int
		changes []string
	}{
		{"the invoking user", os.Getuid(), nil},
		{"a number that the image does not know", 12345, nil},
		{"a shell as entrypoint", os.Getuid(), []string{`ENTRYPOINT ["/bin/sh"]`}},
		{"an entrypoint that is not there", os.Getuid(), []string{`ENTRYPOINT ["/none"]`, "USER nobody-knows"}},
		{"a volume for the home folder", os.Getuid(), []string{"VOLUME /home", "VOLUME /var/tmp"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.uid != os.Getuid() && os.Getuid() != 0 {
				t.Fatal("only root can ask for another user")
			}
			spec := newSpec(t, test.uid, test.uid)
			spec.Image = seen.importShell(t, program, test.changes)
			sb := start(t, engine, spec)
			if got := script(t, sb, "echo ok"); got != "ok\n" {
				t.Errorf("a script wrote %q", got)
			}
			want := strconv.Itoa(test.uid) + " known\n"
			if got := script(t, sb, `busybox id -u | busybox tr '\n' ' '; test -n "$(busybox whoami)" && echo known`); got != want {
				t.Errorf("the user = %q, want %q", got, want)
			}
			for _, dir := range []string{"/tmp", "$HOME"} {
				text := `cd "` + dir + `" && printf '#!/bin/sh\necho runs\n' >probe && busybox chmod +x probe && ./probe`
				if got := script(t, sb, text); got != "runs\n" {
					t.Errorf("a program in %s wrote %q", dir, got)
				}
			}
			got := execute(t, sb, sandbox.Command{Args: []string{"busybox", "echo", "ok"}})
			if got.err != nil || got.output != "ok\n" {
				t.Errorf("an argv wrote %q, error %v", got.output, got.err)
			}
		})
	}
}

// importShell makes an image of busybox alone and returns its name.
func (o observer) importShell(t *testing.T, program []byte, changes []string) string {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, head := range []*tar.Header{
		{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))},
		{Name: "bin/sh", Typeflag: tar.TypeSymlink, Linkname: "busybox"},
	} {
		if err := w.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if head.Size > 0 {
			if _, err := w.Write(program); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ref := "belljar-test/" + newSession() + ":1"
	answer, err := o.ImageImport(t.Context(), image.ImportSource{Source: &archive, SourceName: "-"}, ref, image.ImportOptions{Changes: changes})
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
