package docker_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// TestForeignImage uses an image whose programs are for another processor, by
// its own word and by what is in it.
func TestForeignImage(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	if runtime.GOARCH == "s390x" {
		t.Fatal("the image of this test is for s390x, which this machine is")
	}
	for _, test := range []struct{ name, arch, words string }{
		{"told by the image", "s390x", "is for linux/s390x"},
		{"not told", runtime.GOARCH, "/bin/sh: is no program for this machine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := newSpec(t, os.Getuid(), os.Getgid())
			spec.Image, spec.Session = seen.loadForeign(t, test.arch), newSession()
			_, err := engine.EnsureImage(t.Context(), spec.Image, io.Discard)
			if err == nil {
				var sb sandbox.Sandbox
				within(t, hang, "the start", func() { sb, err = engine.Start(t.Context(), spec) })
				if err == nil {
					got := execute(t, sb, sandbox.Command{Script: "echo ok"})
					if err = got.err; err == nil {
						t.Errorf("a script: %s, output %q, want an error", describe(got.result), got.output)
					}
					if err := sb.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			// What the machine emulates cannot always be known before a try.
			const tried = "/bin/sh: is no program for this machine"
			if err == nil || !strings.Contains(err.Error(), test.words) && !strings.Contains(err.Error(), tried) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %v, want one line with %q", err, test.words)
			}
			if list := seen.labeled(t, "belljar.session="+spec.Session); len(list) != 0 {
				t.Errorf("%d containers are left", len(list))
			}
		})
	}
}

// loadForeign makes an image whose only program is for no processor that is
// here, and returns its name. arch is what the image says of itself.
func (o observer) loadForeign(t *testing.T, arch string) string {
	t.Helper()
	// The head of an ELF file, see elf(5): 64 bits, most significant byte first,
	// an executable for machine 22.
	program := append([]byte("\x7fELF\x02\x02\x01"), make([]byte, 57)...)
	program[17], program[19], program[23] = 2, 22, 1
	layer := archiveOf(t, map[string][]byte{"bin/sh": program})
	ref := "belljar-test/" + newSession() + ":1"
	archive := archiveOf(t, map[string][]byte{
		"layer.tar": layer,
		"config.json": fmt.Appendf(nil, `{"architecture":%q,"os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`,
			arch, sha256.Sum256(layer)),
		"manifest.json": fmt.Appendf(nil, `[{"Config":"config.json","RepoTags":[%q],"Layers":["layer.tar"]}]`, ref),
	})
	answer, err := o.ImageLoad(t.Context(), bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	o.removeImageAtEnd(t, ref)
	return ref
}

// archiveOf makes a tar archive of programs.
func archiveOf(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}
