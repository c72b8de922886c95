package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func scan(t testing.TB, opts GrepOptions, pattern, text string) FileMatch {
	t.Helper()
	var err error
	if opts.Pattern, err = NewPattern(pattern, PatternOptions{}); err != nil {
		t.Fatal(err)
	}
	found, err := newScanner(t.Context(), opts).file(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// all are the options that show everything.
func all(context int) GrepOptions {
	const much = 1 << 30
	return GrepOptions{Context: context, Limit: much, FileLimit: much, Bytes: much, LineBytes: 100}
}

// A file of several windows has the lines, numbers and context that it would
// have in one.
func TestScanPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	want := map[int64]bool{}
	n := int64(0)
	for b.Len() < 3*maxWindow {
		n++
		length := random.IntN(300)
		if random.IntN(2000) == 0 {
			length = maxWindow / 3
		}
		line := strings.Repeat("-", length)
		if random.IntN(500) == 0 {
			line += "needle"
			want[n] = true
		}
		b.WriteString(line + "\n")
	}
	found := scan(t, all(2), "needle", b.String())
	if found.Total != int64(len(want)) {
		t.Errorf("%d matches, want %d", found.Total, len(want))
	}
	lines := strings.Split(b.String(), "\n")
	last := int64(0)
	for _, l := range found.Lines {
		if l.Number <= last {
			t.Fatalf("line %d after line %d", l.Number, last)
		}
		last = l.Number
		if l.Match != want[l.Number] {
			t.Errorf("line %d matches: %v", l.Number, l.Match)
		}
		whole := lines[l.Number-1]
		if got := int64(len(l.Text)) + l.Before + l.After; got != int64(len(whole)) || !strings.Contains(whole, string(l.Text)) {
			t.Errorf("line %d has %d bytes, want %d", l.Number, got, len(whole))
		}
	}
}

// A line that no window holds is searched all the same.
func TestScanLineOfManyWindows(t *testing.T) {
	text := "first\n" + strings.Repeat("x", 2*maxWindow) + "needle" + strings.Repeat("x", maxWindow) + "\nneedle\n"
	found := scan(t, all(1), "needle", text)
	if found.Total != 2 {
		t.Fatalf("%d matches", found.Total)
	}
	if last := found.Lines[len(found.Lines)-1]; last.Number != 3 || string(last.Text) != "needle" {
		t.Errorf("the last is line %d, %q", last.Number, last.Text)
	}
}

// What is read before an error counts.
func TestScanReadError(t *testing.T) {
	p, err := NewPattern("needle", PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opts := all(0)
	opts.Pattern = p
	s := newScanner(t.Context(), opts)
	if _, err := s.file(iotest.ErrReader(fmt.Errorf("broken")), 10); err == nil {
		t.Error("no error")
	}
	// A file that has shrunk since its size was asked for.
	if found, err := s.file(iotest.OneByteReader(strings.NewReader("needle\n")), 100); err != nil || found.Total != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		begin, end int
		want       string
	}{
		{"short", "abc", 0, 1, "abc"},
		{"at the beginning", "0123456789abcdef", 0, 2, "0123456789"},
		{"at the end", "0123456789abcdef", 14, 16, "6789abcdef"},
		{"in the middle", "0123456789abcdef", 8, 9, "56789abcde"},
		{"longer than what is shown", "0123456789abcdef", 2, 16, "23456789ab"},
		{"not within a character", strings.Repeat("中", 10), 12, 15, "中中"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, to := clip([]byte(tt.line), tt.begin, tt.end, 10)
			if got := tt.line[from:to]; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever a file holds, the lines that are given are its lines, in their
// order, once, and as many match as the expression says.
func FuzzScan(f *testing.F) {
	f.Add("a", []byte("a\nb\na"), 1)
	f.Add("^$", []byte("\n\r\n\n"), 2)
	f.Add("b", []byte("\xff\xfeb\x00\n\x00"), 0)
	f.Add("x", bytes.Repeat([]byte("\x80x"), 200), 0)
	f.Add(".", []byte("\xef\xbb\xbf\n\x1b\n"), 3)
	f.Fuzz(func(t *testing.T, pattern string, text []byte, context int) {
		if len(pattern) > 50 || len(text) > 5000 || context < 0 || context > 5 {
			return
		}
		if _, err := NewPattern(pattern, PatternOptions{}); err != nil {
			return
		}
		found := scan(t, all(context), pattern, string(text))
		if bytes.IndexByte(text, 0) >= 0 || bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
			return
		}
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		var got []int
		last := int64(0)
		lines := bytes.Split(text, []byte("\n"))
		for _, l := range found.Lines {
			if l.Number <= last || !bytes.Contains(lines[l.Number-1], l.Text) {
				t.Fatalf("line %d, %q, after %d", l.Number, l.Text, last)
			}
			last = l.Number
			if l.Match {
				got = append(got, int(l.Number))
			}
		}
		if diff := cmp.Diff(naive(t, pattern, text), got); diff != "" || found.Total != int64(len(got)) {
			t.Errorf("%d matches (-want +got):\n%s", found.Total, diff)
		}
	})
}

// A line that matches is never shown as context of another.
func TestScanContextBeforeTheRest(t *testing.T) {
	opts := all(2)
	opts.FileLimit = 1
	got := scan(t, opts, "foo", "foo1\nbar\nfoo2\nbar\n")
	if len(got.Lines) != 2 || string(got.Lines[1].Text) != "bar" || got.Lines[1].Match {
		t.Errorf("%+v", got.Lines)
	}
}

// A file larger than a window is read as a small one is.
func TestScanLarge(t *testing.T) {
	filler := strings.Repeat(strings.Repeat("z", 79)+"\n", maxWindow/80*2)
	var wide bytes.Buffer
	wide.WriteString("\xff\xfe")
	for _, c := range []byte("first\n" + filler + "last\n") {
		wide.Write([]byte{c, 0})
	}
	for _, tt := range []struct{ name, pattern, text string }{
		{"byte order mark", "^first", "\xef\xbb\xbffirst\n" + filler},
		{"UTF-16", "^first$", wide.String()},
		{"the end of UTF-16", "^last$", wide.String()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := scan(t, all(0), tt.pattern, tt.text); got.Total != 1 {
				t.Errorf("%d matches", got.Total)
			}
		})
	}
}

// Several matches in a last line that does not end show that line once, and no
// line behind it.
func TestScanMatchesInLastLine(t *testing.T) {
	opts := all(1)
	var err error
	if opts.Pattern, err = NewPattern(`b|c`, PatternOptions{Multiline: true}); err != nil {
		t.Fatal(err)
	}
	const text = "a\nb c b"
	found, err := newScanner(t.Context(), opts).file(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	want := []Line{{Number: 1, Text: []byte("a")}, {Number: 2, Text: []byte("b c b"), Match: true}}
	if diff := cmp.Diff(want, found.Lines); diff != "" || found.Total != 3 || found.Long != 0 {
		t.Errorf("%d matches, %d long; lines (-want +got):\n%s", found.Total, found.Long, diff)
	}
}
