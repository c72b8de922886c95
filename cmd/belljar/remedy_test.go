package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/tripwire"
)

func TestRemedy(t *testing.T) {
	save := func(tripwire.Change) (string, error) { return "/state/originals/1", nil }
	full := func(tripwire.Change) (string, error) { return "", errors.New("the disk is full") }
	odd := func(tripwire.Change) (string, error) { return "/it's/1", nil }
	const unsafe = "no command is safe: not every shell and terminal takes its path as it is"
	kept := []byte{}
	for _, tt := range []struct {
		name   string
		teller riskTeller
		change tripwire.Change
		want   string // with the workspace as /w
	}{
		{"added", riskTeller{}, tripwire.Change{Path: "a b/.envrc", Kind: tripwire.Added}, `; to remove it: rm -- '/w/a b/.envrc'`},
		{"obeyed now", riskTeller{}, tripwire.Change{Path: "dir/x", Kind: tripwire.Obeyed},
			`; what makes it so is new or changed, and the file itself may have been there before`},
		{"changed", riskTeller{}, tripwire.Change{Path: ".envrc", Kind: tripwire.Changed, Original: kept},
			`; to put it back: rm -rf -- '/w/.envrc' && cp -p -- '/state/originals/1' '/w/.envrc'`},
		{"removed with its folders", riskTeller{}, tripwire.Change{Path: "dir/gone/too/.envrc", Kind: tripwire.Removed, Original: kept},
			`; to put it back: mkdir -p -- '/w/dir/gone/too' && cp -p -- '/state/originals/1' '/w/dir/gone/too/.envrc'`},
		{"not to be saved", riskTeller{save: full}, tripwire.Change{Path: ".envrc", Kind: tripwire.Removed, Original: kept},
			`; what it held could not be kept: the disk is full`},
		{"saved under an odd name", riskTeller{save: odd}, tripwire.Change{Path: ".envrc", Kind: tripwire.Removed, Original: kept},
			`; to put it back ` + unsafe + `; what it held is in "/it's/1"`},
		{"not kept", riskTeller{}, tripwire.Change{Path: ".envrc", Kind: tripwire.Changed},
			`; what it held was not kept: put it back from a copy of your own`},
		{"not kept in a repository", riskTeller{}, tripwire.Change{Path: ".envrc", Kind: tripwire.Changed, Repository: "."},
			`; what it held was not kept: put it back from a copy of your own, not by git here, since commands can change the repository too`},
		{"not kept in a nested one", riskTeller{}, tripwire.Change{Path: "a b/.envrc", Kind: tripwire.Changed, Repository: "a b"},
			`; what it held was not kept: put it back from a copy of your own, not by git in "a b", since commands can change that repository too`},
		{"a link before", riskTeller{}, tripwire.Change{Path: ".envrc", Kind: tripwire.Removed, Was: fs.ModeSymlink | 0o777},
			`; it was a link, which no command is given for: a link may lead the next one astray`},
		{"mode", riskTeller{}, tripwire.Change{Path: "dir/file", Kind: tripwire.Mode, Was: 0o640}, `; to put it back: chmod 640 -- '/w/dir/file'`},
		{"mode of a link", riskTeller{}, tripwire.Change{Path: "link", Kind: tripwire.Mode, Was: 0o640},
			`; to put it back no command is safe: it is no regular file`},
		{"added behind a link", riskTeller{}, tripwire.Change{Path: "link/.envrc", Kind: tripwire.Added},
			`; to remove it no command is safe: link is now a link to "/victim"`},
		{"changed behind a link", riskTeller{}, tripwire.Change{Path: "dir/inner/deep/.envrc", Kind: tripwire.Changed, Original: kept},
			`; to put it back no command is safe: dir/inner is now a link to "."; what it held is in /state/originals/1`},
		{"mode behind a link", riskTeller{}, tripwire.Change{Path: "dir/inner/file", Kind: tripwire.Mode, Was: 0o640},
			`; to put it back no command is safe: dir/inner is now a link to "."`},
		{"behind a file", riskTeller{}, tripwire.Change{Path: "dir/file/.envrc", Kind: tripwire.Removed, Original: kept},
			`; to put it back no command is safe: dir/file is now no folder; what it held is in /state/originals/1`},
		{"the sandbox may be alive", riskTeller{alive: true}, tripwire.Change{Path: ".envrc", Kind: tripwire.Changed, Original: kept},
			`; to put it back no command is safe: something may still work on the folder; what it held is in /state/originals/1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			teller, root := tt.teller, hostile(t)
			if teller.folder = root.Name(); teller.save == nil {
				teller.save = save
			}
			got := strings.ReplaceAll(teller.remedy(root, tt.change), root.Name(), "/w")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("remedy (-want +got):\n%s", diff)
			}
		})
	}
}

// hostile makes a folder as commands may leave it.
func hostile(t *testing.T) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "dir"), 0o755), os.MkdirAll(filepath.Join(dir, "a b"), 0o755),
		os.WriteFile(filepath.Join(dir, "dir/file"), nil, 0o644),
		os.Symlink("/victim", filepath.Join(dir, "link")), os.Symlink(".", filepath.Join(dir, "dir/inner")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestRemedyNames: no command is given for a name that could be taken for
// another one, or for a command, by some shell, a terminal or belljar itself.
func TestRemedyNames(t *testing.T) {
	root := hostile(t)
	teller := riskTeller{folder: root.Name()}
	for name, safe := range map[string]bool{
		".envrc": true, "-rf": true, "$(id)": true, "`id`": true, "a;b&c|d": true, "é": true, "*": true, "one space": true,
		"'; rm x '":               false,
		`\'; rm x #`:              false, // fish ends no quote at \'
		"!!":                      false,
		"\u2019; rm x #":          false, // PowerShell takes it for a quote
		"two  spaces":             false, // printed as one
		"ends in a space ":        true,  // with something after it
		"a\nb":                    false,
		"a\tb":                    false,
		"\x1b[A":                  false,
		"\u202eb":                 false,
		"\xff":                    false,
		"\ufffd":                  false,
		"a\u00a0b":                false,
		strings.Repeat("x/", 500): false,
	} {
		t.Run(name, func(t *testing.T) {
			got := teller.remedy(root, tripwire.Change{Path: name + "/.envrc", Kind: tripwire.Added})
			if strings.Contains(got, ": rm -- ") != safe || strings.Contains(got, "no command is safe") == safe {
				t.Errorf("remedy = %q, want a command: %v", got, safe)
			}
		})
	}
}

// TestShownPath: a path cannot look like part of the line, or like a command.
func TestShownPath(t *testing.T) {
	for name, want := range map[string]string{
		"a/.envrc":            "a/.envrc",
		"é/@x+y.code":         "é/@x+y.code",
		";rm${IFS}x":          `";rm${IFS}x"`,
		"x (y); to remove it": `"x (y); to remove it"`,
		"\x1b[A\n":            `"\x1b[A\n"`,
	} {
		if got := shownPath(name); got != want {
			t.Errorf("shownPath(%q) = %s, want %s", name, got, want)
		}
	}
}

// TestRemediesPasted changes a folder in every way there is to lead a command
// astray, and pastes what is printed, in one order and the other. Nothing
// outside may change, and no git may run.
func TestRemediesPasted(t *testing.T) {
	const victim = ".envrc .npmrc tasks.json config"
	for _, order := range []string{"as printed", "reversed"} {
		t.Run(order, func(t *testing.T) {
			base := t.TempDir()
			dir, outside, bin := filepath.Join(base, "w"), filepath.Join(base, "victim"), filepath.Join(base, "bin")
			for _, name := range strings.Fields(victim) {
				writeAt(t, filepath.Join(outside, name), "MINE")
			}
			writeAt(t, filepath.Join(bin, "git"), "#!/bin/sh\n: >"+filepath.Join(base, "git-ran")+"\n")
			if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{
				"a/.envrc", "b/c/.npmrc", ".vscode/tasks.json", "nest/.git/config", "kept/.envrc", "gone/.envrc", "file/.envrc", "moded/.envrc",
			} {
				writeAt(t, filepath.Join(dir, name), "OLD")
			}
			writeAt(t, filepath.Join(dir, "large/.envrc"), strings.Repeat("x", 300<<10))
			writeAt(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/main\n")
			wire, err := tripwire.Set(dir, tripwire.Options{})
			if err != nil {
				t.Fatal(err)
			}
			runScript(t, dir, nil, `ln -s "$1" l; for d in a b/c .vscode nest/.git gone file; do rm -r $d; done
				ln -s "$1" a; ln -s ../l b/c; ln -s l .vscode; ln -s "$1" nest/.git; echo >file
				chmod 700 moded/.envrc; for d in kept large; do echo bad >$d/.envrc; done; mkdir new; echo >new/.envrc
				ln -s "$1/.envrc" .bashrc; echo ../x >.git/commondir; mkdir -p "x'; touch $1/HIT; '"; echo >"x'; touch $1/HIT; '/.envrc"`, outside)
			report, err := wire.Check()
			if err != nil {
				t.Fatal(err)
			}
			kept := &keeper{folder: func() (string, error) { return makeOriginals(filepath.Join(base, "state")) }}
			var commands []string
			for _, line := range (riskTeller{folder: dir, save: kept.keep}).lines(report) {
				for _, mark := range []string{"; to put it back: ", "; to remove it: "} {
					if _, command, ok := strings.Cut(line, mark); ok {
						commands = append(commands, command)
					}
				}
			}
			if order == "reversed" {
				slices.Reverse(commands)
			}
			for _, command := range commands {
				runScript(t, base, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, command)
			}
			var names []string
			for _, name := range listed(t, outside) {
				names = append(names, name)
				if data, err := os.ReadFile(filepath.Join(outside, name)); err != nil || string(data) != "MINE" {
					t.Errorf("%s outside holds %q, %v; want it untouched", name, data, err)
				}
			}
			want := strings.Fields(victim)
			slices.Sort(want)
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("outside (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(base, "git-ran")); err == nil {
				t.Errorf("git was run by one of %q", commands)
			}
			for name, want := range map[string]string{"kept/.envrc": "OLD", "gone/.envrc": "OLD"} {
				if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
					t.Errorf("%s holds %q, %v; want it put back", name, data, err)
				}
			}
			for _, name := range []string{"new/.envrc", ".bashrc", ".git/commondir"} {
				if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v, want it removed", name, err)
				}
			}
		})
	}
}

func writeAt(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func runScript(t *testing.T, dir string, env []string, script string, args ...string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-ec", script, "sh"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v, %s", script, err, out)
	}
}

func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestOriginals: a command's folder is made for the first file, and the oldest
// of earlier ones go; nothing else does.
func TestOriginals(t *testing.T) {
	state := t.TempDir()
	writeAt(t, filepath.Join(state, originals, "notes"), "x")
	var last string
	for i := range keptCommands + 3 {
		kept := &keeper{folder: func() (string, error) { return makeOriginals(state) }}
		for n := range 2 {
			content := fmt.Sprint(i, n)
			file, err := kept.keep(tripwire.Change{Was: 0o640, Original: []byte(content)})
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil || string(data) != content {
				t.Errorf("%s holds %q, %v; want %q", file, data, err, content)
			}
			last = file
		}
	}
	if names := listed(t, filepath.Join(state, originals)); len(names) != keptCommands+1 || !slices.Contains(names, "notes") {
		t.Errorf("kept %q, want the last %d and the file of somebody else", names, keptCommands)
	}
	if info, err := os.Stat(last); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the last file: %v, %v; want it there with its mode", info, err)
	}
}
