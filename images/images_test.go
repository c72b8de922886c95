package images_test

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/belljar/belljar/images"
)

func TestTag(t *testing.T) {
	tag := images.Tag()
	if !regexp.MustCompile(`^belljar/default:[0-9a-f]{12}$`).MatchString(tag) {
		t.Errorf("tag = %q", tag)
	}
	if again := images.Tag(); again != tag {
		t.Errorf("the tag is %q, then %q", tag, again)
	}
	if sum, err := images.Hash(images.Default()); err != nil || tag != images.Repository+":"+sum {
		t.Errorf("the tag is %q and the hash %q, %v", tag, sum, err)
	}
}

// TestHashChanges has every change of a context give another hash.
func TestHashChanges(t *testing.T) {
	base := fstest.MapFS{
		"Dockerfile": {Data: []byte("FROM x"), Mode: 0o644},
		"d/list":     {Data: []byte("a\n"), Mode: 0o644},
	}
	tests := []struct {
		name   string
		same   bool
		change func(fstest.MapFS)
	}{
		{name: "nothing", same: true, change: func(fstest.MapFS) {}},
		{name: "an unimportant bit of the mode", same: true, change: func(m fstest.MapFS) { m["d/list"].Mode = 0o600 }},
		{name: "a byte", change: func(m fstest.MapFS) { m["d/list"].Data = []byte("b\n") }},
		{name: "the executable bit", change: func(m fstest.MapFS) { m["d/list"].Mode = 0o755 }},
		{name: "a name", change: func(m fstest.MapFS) { m["d/lisp"] = m["d/list"]; delete(m, "d/list") }},
		{name: "a new empty file", change: func(m fstest.MapFS) { m["e"] = &fstest.MapFile{Mode: 0o644} }},
		{name: "a file less", change: func(m fstest.MapFS) { delete(m, "d/list") }},
		{name: "bytes moved between files", change: func(m fstest.MapFS) {
			m["Dockerfile"].Data, m["d/list"].Data = []byte("FROM "), []byte("xa\n")
		}},
	}
	want, err := images.Hash(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			changed := make(fstest.MapFS)
			for name, file := range maps.All(base) {
				clone := *file
				changed[name] = &clone
			}
			test.change(changed)
			got, err := images.Hash(changed)
			if err != nil {
				t.Fatal(err)
			}
			if (got == want) != test.same {
				t.Errorf("the hash is %s, and was %s", got, want)
			}
		})
	}
}

func TestHashUnreadable(t *testing.T) {
	if sum, err := images.Hash(broken{}); err == nil {
		t.Errorf("the hash of what cannot be read is %s", sum)
	}
}

type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

func TestPackages(t *testing.T) {
	packages := images.Packages()
	if !slices.IsSorted(packages) || len(slices.Compact(slices.Clone(packages))) != len(packages) {
		t.Errorf("the packages are not sorted, or one is twice: %q", packages)
	}
	for _, name := range []string{"bash", "git", "python3", "ripgrep", "curl", "make", "gcc", "ca-certificates", "jq"} {
		if !slices.Contains(packages, name) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestDockerfile(t *testing.T) {
	data, err := fs.ReadFile(images.Default(), "Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{images.PackagesFile, "LANG=C.UTF-8", "belljar.image=default", "--no-install-recommends"} {
		if !strings.Contains(string(data), part) {
			t.Errorf("the Dockerfile lacks %q", part)
		}
	}
	if base := images.Base(); !strings.Contains(base, ":") {
		t.Errorf("the base %q is not pinned by a tag", base)
	}
}
