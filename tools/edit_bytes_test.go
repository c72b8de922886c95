package tools_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// inUTF16 is a text in UTF-16 with a byte order mark.
func inUTF16(order binary.AppendByteOrder, text string) string {
	var data []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		data = order.AppendUint16(data, unit)
	}
	return string(data)
}

func TestEncodings(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	for _, tt := range []struct {
		name, content, old, new, want string // want "" is refused
		has                           string
	}{
		{"UTF-16, little end first", inUTF16(le, "one\r\ntwo é\r\n😀\r\n"), "two é\n", "zwei ü\nx\n", inUTF16(le, "one\r\nzwei ü\r\nx\r\n😀\r\n"), "[the file is UTF-16, and stays so]"},
		{"UTF-16, big end first", inUTF16(be, "one\ntwo"), "two", "2", inUTF16(be, "one\n2"), "UTF-16"},
		{"UTF-16 with half a character", inUTF16(le, "one\n") + "\x00\xd8", "one", "1", "", "not valid as that"},
		{"UTF-16 of an odd length", inUTF16(le, "one\n") + "x", "one", "1", "", "not valid as that"},
		{"UTF-16 and a spelled byte", inUTF16(le, "one\n"), "one", "⟦e9⟧", "", "no characters"},
		{"UTF-32", "\xff\xfe\x00\x00o\x00\x00\x00", "o", "x", "", "UTF-32"},
		{"Latin-1, ASCII edit", "caf\xe9 noir\n", "noir", "blanc", "caf\xe9 blanc\n", ""},
		{"Latin-1, new characters", "caf\xe9 noir\n", "noir", "crème", "", "older encoding"},
		{"Latin-1, spelled", "caf\xe9 noir\n", "noir", "cr⟦e8⟧me", "caf\xe9 cr\xe8me\n", ""},
		{"some bytes of UTF-8 are wrong", "é caf\xe9\n", "caf", "ü", "é ü\xe9\n", ""},
		{"a byte order mark", "\ufeffone\n", "one", "two", "\ufefftwo\n", "\n-one\n+two\n"},
		{"a byte order mark, spelled", "\ufeffone\n", "⟦ef⟧⟦bb⟧⟦bf⟧one", "two", "two\n", "-⟦ef⟧⟦bb⟧⟦bf⟧one\n+two\n"},
		{"a byte order mark before what stays", "\ufeffone\ntwo\n", "two", "2", "\ufeffone\n2\n", "\n one\n-two\n+2\n"},
		{"a byte order mark in the middle", "one\n\ufefftwo\n", "one", "1", "1\n\ufefftwo\n", "\n ⟦ef⟧⟦bb⟧⟦bf⟧two\n"},
		{"a byte order mark in a file of UTF-16", inUTF16(le, "one\n"), "one", "two", inUTF16(le, "two\n"), "\n-one\n+two\n"},
		{"a byte order mark of the nearest line", "\ufeffone two three\n", "one too three", "x", "", "     1|one two three\n"},
		{"a byte order mark that is added", "one\n", "one", "\ufeffone", "\ufeffone\n", "-one\n+⟦ef⟧⟦bb⟧⟦bf⟧one\n"},
		{"marks of order", "if a {\u202e } \n", "if a {⟦e2⟧⟦80⟧⟦ae⟧ } ", "if a { }", "if a { }\n", "-if a {⟦e2⟧⟦80⟧⟦ae⟧ } \n+if a { }\n"},
		{"NUL bytes", "a\x00b\n", "b", "c", "a\x00c\n", ""},
		{"carriage returns alone", "a\rb\rc", "b", "x\ny", "a\rx\ny\rc", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", tt.content)
			got, isError := f.call(t, "edit_file", map[string]any{"path": "file", "old_text": tt.old, "new_text": tt.new})
			want := tt.want
			if want == "" {
				want = tt.content
			}
			if content := f.content(t, "file"); content != want || isError != (tt.want == "") || !strings.Contains(got, tt.has) {
				t.Errorf("content %q, want %q; answer %q", content, want, got)
			}
		})
	}
}

// What a file has that its reader is not shown outlives a rewrite.
func TestWriteFileKeepsTheForm(t *testing.T) {
	for _, tt := range []struct{ name, content, write, want, has string }{
		{"CRLF", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", "overwrote file: 6 bytes, 2 lines\n[its lines still end in CRLF]"},
		{"CRLF asked for", "a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n", ""},
		{"mixed ends", "a\r\nb\n", "x\ny\n", "x\ny\n", ""},
		{"byte order mark", "\xef\xbb\xbfa\n", "x\n", "\xef\xbb\xbfx\n", "overwrote file: 5 bytes, 1 line\n[the byte order mark at its start was kept]"},
		{"byte order mark given", "\xef\xbb\xbfa\n", "\xef\xbb\xbfx\n", "\xef\xbb\xbfx\n", ""},
		{"no newline at the end", "a", "b", "b", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", tt.content)
			f.call(t, "read_file", map[string]any{"path": "file"})
			got, isError := f.call(t, "write_file", map[string]any{"path": "file", "content": tt.write})
			if content := f.content(t, "file"); content != tt.want || isError || !strings.Contains(got, tt.has) {
				t.Errorf("content %q, want %q; answer %q", content, tt.want, got)
			}
		})
	}
}

// What read_file shows spelled is not written back as that spelling: a rewrite is
// refused, whichever of the spelled characters it still has, and the file stays.
func TestWriteFileRefusesSpellings(t *testing.T) {
	const escaped = "⟦e2⟧⟦9f⟧⟦a6⟧1b⟧" // the text ⟦1b⟧ as it is shown
	for _, tt := range []struct{ name, content, write, want string }{
		{"isolates", "msg = \"\u2067שלום\u2069\"\nn = 1\n", "msg = \"⟦e2⟧⟦81⟧⟦a7⟧שלום⟦e2⟧⟦81⟧⟦a9⟧\"\nn = 2\n", ""},
		{"another isolate than there is", "a\u2067b\n", "a⟦e2⟧⟦81⟧⟦a6⟧b\n", ""},
		{"two that were apart", "\u2067a\u2069\n", "⟦e2⟧⟦81⟧⟦a7⟧⟦e2⟧⟦81⟧⟦a9⟧\n", ""},
		{"upper case", "a\x1bb\n", "a⟦1B⟧b\n", ""},
		{"control byte", "a\x1bb\n", "a⟦1b⟧c\n", ""},
		{"Latin-1", "caf\xe9\n", "un caf⟦e9⟧\n", ""},
		{"a byte order mark, spelled", "\ufeffone\n", "⟦ef⟧⟦bb⟧⟦bf⟧three\n", ""},
		{"UTF-16", inUTF16(binary.LittleEndian, "a\u202eb\n"), "a⟦e2⟧⟦80⟧⟦ae⟧c\n", ""},
		{"a CR within a line", "a\rb\n", "a⟦0d⟧c\n", ""},
		{"a spelling as text, as it is shown", "say ⟦1b⟧\n", "say " + escaped + "!\n", ""},
		{"a spelling as text, as it is", "say ⟦1b⟧\r\n", "say ⟦1b⟧!\n", "say ⟦1b⟧!\r\n"},
		{"no spelling in what is written", "a\x1bb\n", "ab ⟦x⟧\n", "ab ⟦x⟧\n"},
		{"nothing spelled in the file", "a\n", "⟦1b⟧\n", "⟦1b⟧\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", tt.content)
			f.call(t, "read_file", map[string]any{"path": "file"})
			got, isError := f.call(t, "write_file", map[string]any{"path": "file", "content": tt.write})
			want := tt.want
			if want == "" {
				want = tt.content
			}
			if content := f.content(t, "file"); content != want || isError != (tt.want == "") || isError && !strings.Contains(got, "use edit_file") {
				t.Errorf("content %q, want %q; answer %q", content, want, got)
			}
		})
	}
}

// Random edits of random files, with all kinds of line ends and bytes: what is
// outside of the texts that were replaced stays as it was, byte for byte.
func TestEditsLeaveAllElseAlone(t *testing.T) {
	f := newFiles(t)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		var (
			content, want strings.Builder
			edits         []any
		)
		if r.IntN(4) == 0 {
			content.WriteString("\xef\xbb\xbf")
			want.WriteString("\xef\xbb\xbf")
		}
		for i := range 1 + r.IntN(30) {
			line := randomLine(r)
			end := []string{"\n", "\r\n", "\n\r\n", " \n"}[r.IntN(4)]
			if r.IntN(4) > 0 {
				content.WriteString(line + end)
				want.WriteString(line + end)
				continue
			}
			mark := fmt.Sprintf("<%d>", i)
			content.WriteString(line + mark + end)
			changed := fmt.Sprintf("<new %d>", i)
			want.WriteString(line + changed + end)
			edits = append(edits, ed(mark, changed))
		}
		if r.IntN(2) == 0 {
			content.WriteString("<end>")
			want.WriteString("[end]")
			edits = append(edits, ed("<end>", "[end]"))
		}
		if len(edits) == 0 {
			continue
		}
		r.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
		name := fmt.Sprint(seed)
		f.put(t, name, content.String())
		mode := os.FileMode(0o600 | r.IntN(0o200))
		if err := os.Chmod(filepath.Join(f.dir, name), mode); err != nil {
			t.Fatal(err)
		}
		got, isError := f.call(t, "edit_file", map[string]any{"path": name, "edits": edits})
		if isError || f.content(t, name) != want.String() {
			t.Fatalf("seed %d: %s\ncontent %q\nwant    %q", seed, got, f.content(t, name), want.String())
		}
		if info, err := os.Stat(filepath.Join(f.dir, name)); err != nil || info.Mode() != mode {
			t.Fatalf("seed %d: mode %v, want %v (%v)", seed, info.Mode(), mode, err)
		}
	}
}

// randomLine is a line of text, of another encoding or of any bytes.
func randomLine(r *rand.Rand) string {
	pieces := []string{"word ", "\t", "  ", "é", "e\u0301", "“x”", "\xe9", "\x00", "\x1b[1m", "\r", "⟦1b⟧", "😀", "=", "{", "}"}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	line := b.String()
	return strings.TrimSuffix(line, "\r") // it would be a part of the end
}

// A file's first line is one without the byte order mark before it, which no
// tool shows: a patch finds it, and the mark stays the first of the file.
func TestPatchBehindByteOrderMark(t *testing.T) {
	const mark = "\ufeff"
	for _, tt := range []struct{ name, content, chunk, want string }{
		{"as what stays", "one\ntwo\n", " one\n-two\n+2\n", "one\n2\n"},
		{"as what goes", "one\ntwo\n", "-one\n+1\n two\n", "1\ntwo\n"},
		{"with all else", "one\n", "-one\n+1\n", "1\n"},
		{"with a line before it", "one\n", "+zero\n one\n", "zero\none\n"},
		{"indented otherwise", "\tone\n\ttwo\n", "     one\n-    two\n+    2\n", "\tone\n\t2\n"},
		{"as a header", "one\nx\none more\nx\n", "@@ one\n-x\n+y\n", "one\ny\none more\nx\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFiles(t)
			f.put(t, "file", mark+tt.content)
			f.call(t, "read_file", map[string]any{"path": "file"})
			got, isError := f.call(t, "apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: file\n" + tt.chunk + "*** End Patch"})
			if content := f.content(t, "file"); isError || content != mark+tt.want {
				t.Errorf("content %q, want %q; answer %q", content, mark+tt.want, got)
			}
			if strings.Contains(got, "⟦") {
				t.Errorf("the mark is shown: %q", got)
			}
		})
	}
}
