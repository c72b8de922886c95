package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/tools"
)

func TestOutputFile(t *testing.T) {
	const secret = "sk-canary-0123456789"
	raw := bytes.Repeat([]byte("0123456789abcdef\xff\x1b[31m\n"), 4000)
	long := []byte(output.Clean(raw))
	redrawn := bytes.Repeat([]byte("10%\r"), 10_000)
	for _, test := range []struct {
		name    string
		secrets []string
		output  []byte
		kept    bool
		want    []byte
	}{
		{name: "nothing", output: nil},
		{name: "short enough for the record", output: long[:spill]},
		{name: "short when cleaned", output: redrawn},
		{name: "cleaned", output: raw, kept: true, want: long},
		{
			name: "secret", secrets: []string{secret}, kept: true,
			output: append(bytes.Clone(raw), secret+"\nend"...),
			want:   append(bytes.Clone(long), trajectory.Hidden+"\nend"...),
		},
		{
			name: "too much", kept: true,
			output: bytes.Repeat([]byte("0123456789abcde\n"), 1<<20+1),
			want:   bytes.Repeat([]byte("0123456789abcde\n"), 1<<20),
		},
	} {
		for _, size := range []int{97, 4096, 1 << 20} {
			t.Run(test.name, func(t *testing.T) {
				session := t.TempDir()
				dir := filepath.Join(session, "outputs")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				made, err := newOutputs(dir, "/inside", trajectory.NewMasker(test.secrets...))
				if err != nil {
					t.Fatal(err)
				}
				out := made.file()
				for rest := test.output; len(rest) > 0; {
					n := min(size, len(rest))
					if _, err := out.Write(rest[:n]); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
				if !test.kept {
					if name := out.Name(); name != "" {
						t.Errorf("kept as %q", name)
					}
					return
				}
				if got, want := out.Name(), "outputs/0001.txt"; got != want {
					t.Errorf("name %q, want %q", got, want)
				}
				wantKept := tools.Kept{
					Path: "/inside/0001.txt", Bytes: int64(len(test.want)), Lines: int64(bytes.Count(test.want, []byte("\n"))),
					Cut: test.name == "too much",
				}
				if diff := cmp.Diff(wantKept, out.Kept()); diff != "" {
					t.Errorf("kept (-want +got):\n%s", diff)
				}
				if info, err := os.Stat(filepath.Join(dir, "0001.txt")); err != nil || info.Mode().Perm() != 0o644 {
					t.Errorf("%v, %v: the sandbox's user cannot read it", info, err)
				}
				got, err := os.ReadFile(filepath.Join(session, out.Name()))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, test.want) {
					t.Errorf("kept %d bytes, want %d; ends %q, want %q", len(got), len(test.want), tail(got), tail(test.want))
				}
			})
		}
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-60):] }

func TestSecrets(t *testing.T) {
	a := &app{lookupEnv: func(name string) (string, bool) {
		return "the-key", name == keyVariable
	}}
	got := strings.Join(a.secrets("", []string{"LANG=C.UTF-8", "GITHUB_TOKEN=abc=def", "DB_PASSWORD=", "my_secret=x"}), " ")
	if want := "the-key abc=def x"; got != want {
		t.Errorf("secrets %q, want %q", got, want)
	}
}
