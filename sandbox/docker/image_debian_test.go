package docker

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/images"
)

const bookwormRelease = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_CODENAME=bookworm\n"

func TestHostSources(t *testing.T) {
	tests := []struct {
		name    string
		release string
		files   map[string]string
		want    string
	}{
		{
			name:    "stanzas",
			release: bookwormRelease,
			files: map[string]string{"debian.sources": "Types: deb\n# a remark\nURIs: http://mirror/debian\n" +
				"Suites: bookworm bookworm-updates\nComponents: main contrib\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n" +
				"Types: deb deb-src\nURIs: http://mirror/debian-security\nSuites: bookworm-security\nComponents: main\n"},
			want: "deb http://mirror/debian bookworm main\ndeb http://mirror/debian bookworm-updates main\n" +
				"deb http://mirror/debian-security bookworm-security main\n",
		},
		{
			name:    "lines",
			release: bookwormRelease,
			files:   map[string]string{"a.list": "deb [arch=amd64 signed-by=/x/debian-archive-keyring.gpg] https://m/debian/ bookworm main # x\ndeb-src https://m/debian bookworm main\n"},
			want:    "deb https://m/debian/ bookworm main\n",
		},
		{
			name:    "publishers with keys of their own",
			release: bookwormRelease,
			files: map[string]string{
				"a.list":    "deb [signed-by=/x/vendor.gpg] https://vendor/linux/debian bookworm main\n",
				"b.sources": "Types: deb\nURIs: https://vendor/debian\nSuites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n",
				"c.list":    "deb https://vendor/apt bookworm main\n",
				"d.list":    "deb file:///srv/debian bookworm main\n",
			},
		},
		{
			name:    "disabled and renamed",
			release: bookwormRelease,
			files: map[string]string{
				"a.sources":  "Enabled: no\nTypes: deb\nURIs: http://m/debian\nSuites: bookworm\nComponents: main\n",
				"b.list.bak": "deb http://m/debian bookworm main\n",
			},
		},
		{
			name:    "updates alone",
			release: bookwormRelease,
			files:   map[string]string{"a.list": "deb http://m/debian bookworm-updates main\n"},
		},
		{
			name:    "another release",
			release: "ID=debian\nVERSION_CODENAME=trixie\n",
			files:   map[string]string{"a.list": "deb http://m/debian bookworm main\n"},
		},
		{
			name:    "another distribution",
			release: "ID=ubuntu\nVERSION_CODENAME=bookworm\n",
			files:   map[string]string{"a.list": "deb http://m/debian bookworm main\n"},
		},
		{name: "no release file", files: map[string]string{"a.list": "deb http://m/debian bookworm main\n"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{}
			if test.release != "" {
				root["etc/os-release"] = &fstest.MapFile{Data: []byte(test.release)}
			}
			for name, content := range test.files {
				root["etc/apt/sources.list.d/"+name] = &fstest.MapFile{Data: []byte(content)}
			}
			if diff := cmp.Diff(test.want, hostSources(root)); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMmdebstrapArgs(t *testing.T) {
	args, err := mmdebstrapArgs("root", true)
	if err != nil {
		t.Fatal(err)
	}
	if got := args[len(args)-3:]; !slices.Equal(got, []string{debianRelease, "-", "-"}) {
		t.Errorf("the last arguments are %q", got)
	}
	if want := "--include=" + strings.Join(images.Packages(), ","); !slices.Contains(args, want) {
		t.Errorf("no %q in %q", want, args)
	}
	if args, _ := mmdebstrapArgs("unshare", false); args[0] != "--mode=unshare" || args[len(args)-2] != debianRelease {
		t.Errorf("without sources: %q", args)
	}
}

func TestImageReleaseIsTheBase(t *testing.T) {
	if !strings.Contains(images.Base(), debianRelease) {
		t.Errorf("the Dockerfile starts from %s, the other way from %s", images.Base(), debianRelease)
	}
}
