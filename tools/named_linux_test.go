package tools_test

import (
	"strings"
	"testing"
)

// hiddenNames are names that no tool shows as they are.
var hiddenNames = []string{
	"a\u202eb.txt", "\ufeffnotes.txt", "a\u2028b.txt", "\u2066x\u2069.txt", "c\x1bd", "caf\xe9", "tab\there", "new\nline",
	"say ⟦1b⟧", "[a]*{b}\x01\\?", "folder\u202e/sub\x07/file",
}

// A name as glob shows it is taken by every tool for the file that has it, and
// only for that: what is named like the spelling itself stays as it is.
func TestShownNamesCanBeUsed(t *testing.T) {
	for _, name := range hiddenNames {
		t.Run(name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, name, "one\n")
			shown, _ := f.call(t, "glob", map[string]any{"pattern": "**"})
			shown = strings.TrimSuffix(shown, "\n")
			if shown == name {
				t.Fatalf("%q is shown as it is", name)
			}
			f.put(t, shown, "decoy\n")
			answers := func(tool string, args map[string]any, want string) {
				t.Helper()
				if got, isError := f.call(t, tool, args); isError || !strings.Contains(got, want) || strings.Contains(got, "decoy") {
					t.Errorf("%s %v: %q, want %q", tool, args, got, want)
				}
			}
			answers("read_file", map[string]any{"path": shown}, "1\tone\n")
			answers("read_file", map[string]any{"path": "/workspace/" + shown}, "1\tone\n")
			answers("grep", map[string]any{"pattern": "one", "path": shown}, "1:one")
			answers("edit_file", map[string]any{"path": shown, "old_text": "one", "new_text": "two"}, "edited "+shown)
			answers("write_file", map[string]any{"path": shown, "content": "three\n"}, "overwrote "+shown)
			answers("apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: " + shown + "\n-three\n+four\n*** End Patch"}, "edited "+shown)
			if got := f.content(t, name); got != "four\n" {
				t.Errorf("%q holds %q", name, got)
			}
			if got := f.content(t, shown); got != "decoy\n" {
				t.Errorf("%q holds %q", shown, got)
			}
			answers("apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: " + shown + "\n*** Move to: plain\n*** End Patch"}, "moved "+shown+" to plain")
			if got := f.content(t, "plain"); got != "four\n" {
				t.Errorf("plain holds %q", got)
			}
		})
	}
}

// A shown name is also a pattern of names, but for marks of one that it has.
func TestShownNamesAreFound(t *testing.T) {
	for _, name := range hiddenNames {
		if strings.ContainsAny(name, "*") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, name, "one\n")
			f.put(t, "other", "one\n")
			shown, _ := f.call(t, "glob", map[string]any{"pattern": "**"})
			shown, _, _ = strings.Cut(strings.TrimPrefix(shown, "other\n"), "\n")
			if got, _ := f.call(t, "glob", map[string]any{"pattern": shown}); got != shown+"\n" {
				t.Errorf("glob %q: %q", shown, got)
			}
			if got, _ := f.call(t, "grep", map[string]any{"pattern": "one", "glob": shown}); got != shown+"\n1:one\n" {
				t.Errorf("grep with glob %q: %q", shown, got)
			}
		})
	}
	f := newFiles(t)
	f.put(t, "a*", "x\n")
	f.put(t, "ab", "x\n")
	if got, _ := f.call(t, "glob", map[string]any{"pattern": "a⟦2a⟧"}); got != "a*\n" {
		t.Errorf("a mark that is spelled is no mark: %q", got)
	}
}

// What is new is called what the model called it, in the folder that it means.
func TestNewNamesAreAsWritten(t *testing.T) {
	f := newFiles(t)
	f.put(t, "dir\u202e/old", "x\n")
	for path, want := range map[string]string{"a⟦1b⟧": "a⟦1b⟧", "dir⟦e2⟧⟦80⟧⟦ae⟧/new": "dir\u202e/new", "dir⟦e2⟧⟦80⟧⟦ae⟧/n⟦01⟧": "dir\u202e/n⟦01⟧"} {
		if got, isError := f.call(t, "write_file", map[string]any{"path": path, "content": "new\n"}); isError {
			t.Errorf("writing %q: %q", path, got)
		}
		if got := f.content(t, want); got != "new\n" {
			t.Errorf("%q holds %q", want, got)
		}
	}
	for _, path := range []string{"gone⟦1b⟧", "..⟦2f⟧..⟦2f⟧etc⟦2f⟧passwd", strings.Repeat("⟦2e⟧/", 5000)} {
		if got, isError := f.call(t, "read_file", map[string]any{"path": path}); !isError {
			t.Errorf("reading %.40q: %q", path, got)
		}
	}
}
