package docker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/system"
	"github.com/google/go-cmp/cmp"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"github.com/belljar/belljar/images"
)

func TestCheckPlatform(t *testing.T) {
	binfmt := t.TempDir()
	for _, name := range []string{"status", "register", "qemu-aarch64"} {
		if err := os.WriteFile(filepath.Join(binfmt, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, imageOS, imageArch, engineArch string
		wantErr, wantTalk                    string
	}{
		{name: "same", imageOS: "linux", imageArch: "amd64", engineArch: "x86_64"},
		{name: "compatible", imageOS: "linux", imageArch: "386", engineArch: "x86_64"},
		{name: "arm on arm64", imageOS: "linux", imageArch: "arm", engineArch: "aarch64"},
		{name: "no platform", engineArch: "x86_64"},
		{name: "other system", imageOS: "windows", imageArch: "amd64", engineArch: "x86_64",
			wantErr: "for windows/amd64, the engine runs linux/amd64; choose an image for linux"},
		{name: "emulated", imageOS: "linux", imageArch: "arm64", engineArch: "x86_64",
			wantTalk: "for linux/arm64, the engine runs linux/amd64; its programs run under emulation"},
		{name: "not emulated", imageOS: "linux", imageArch: "s390x", engineArch: "x86_64",
			wantErr: "for linux/s390x, the engine runs linux/amd64, and there is no emulation"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			engine := &Engine{info: system.Info{OSType: "linux", Architecture: test.engineArch}, endpoint: Endpoint{Host: "unix:///x"}}
			var talk bytes.Buffer
			err := engine.checkPlatformWith(binfmt, "x:y", image.InspectResponse{Os: test.imageOS, Architecture: test.imageArch}, newProgress(&talk))
			if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error = %v, want %q", err, test.wantErr)
			}
			if (talk.Len() > 0) != (test.wantTalk != "") || !strings.Contains(talk.String(), test.wantTalk) {
				t.Errorf("talk = %q, want %q", talk.String(), test.wantTalk)
			}
		})
	}
}

func TestListImages(t *testing.T) {
	got, err := imageEngine(t, &imageStore{}).ListImages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, one := range got {
		rows = append(rows, fmt.Sprintf("%s %s %d %v", one.Ref, one.ID, one.Size, one.Default))
	}
	want := []string{images.Tag() + " sha256:new 7 true", "belljar/default:0123456789ab sha256:old 5 false", " sha256:none 0 false"}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}

func TestRemoveImage(t *testing.T) {
	labelled := &dockerspec.DockerOCIImageConfig{}
	labelled.Labels = map[string]string{imageLabel: "default"}
	tests := []struct {
		name, ref string
		wantErr   string
		foreign   bool
	}{
		{name: "ours by name", ref: "ours:1"},
		{name: "ours by id", ref: "sha256:ours"},
		{name: "foreign by exact name", ref: "foreign:1"},
		{name: "foreign by id", ref: "sha256:foreign", foreign: true, wantErr: "name it exactly"},
		{name: "missing", ref: "gone:1", wantErr: "no image gone:1"},
		{name: "used", ref: "used:1", wantErr: "container 12 is using it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := &imageStore{}
			store.add("ours:1", image.InspectResponse{ID: "sha256:ours", Config: labelled})
			store.add("used:1", image.InspectResponse{ID: "sha256:used", Config: labelled})
			store.add("foreign:1", image.InspectResponse{ID: "sha256:foreign"})
			err := imageEngine(t, store).RemoveImage(t.Context(), test.ref)
			if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Fatalf("error = %v, want %q", err, test.wantErr)
			}
			if errors.Is(err, ErrForeignImage) != test.foreign {
				t.Errorf("error %v wraps ErrForeignImage: %v", err, !test.foreign)
			}
			if removed := slices.Contains(store.requests(), "remove "+test.ref); removed != (err == nil || test.name == "used") {
				t.Errorf("requests = %v", store.requests())
			}
		})
	}
}

func TestSameRef(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"a/b:1", "docker.io/a/b:1", true},
		{"localhost/a/b:1", "a/b:1", true},
		{"a/b:1", "a/b:2", false},
		{"localhost/a/b:1", "a/b:2", false},
		{"other/a/b:1", "a/b:1", false},
		{"UPPER", "a", false},
	}
	for _, test := range tests {
		if got := sameRef(test.a, test.b); got != test.want {
			t.Errorf("sameRef(%q, %q) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
