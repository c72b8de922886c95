package output_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/output"
)

var cleanTests = []struct{ name, in, want string }{
	{"empty", "", ""},
	{"plain", "one\n\ttwo\n", "one\n\ttwo\n"},
	{"characters", "grün 中文 🫙\n", "grün 中文 🫙\n"},
	{"NUL and bells", "a\x00b\ac\bd\x7fe\vf\fg", "abcdefg"},
	{"C1 characters", "a\u0085b\u008dc", "abc"},
	{"invalid bytes", "a\xff\xfeb", "a\uFFFD\uFFFDb"},
	{"a replacement character stays", "a\uFFFDb", "a\uFFFDb"},
	{"cut character at the end", "a\xf0\x9f\x98", "a\uFFFD\uFFFD\uFFFD"},
	{"cut character before text", "\xe4\xb8b", "\uFFFD\uFFFDb"},
	{"colour", "\x1b[1;31mred\x1b[0m\n", "red\n"},
	{"colour with colons", "\x1b[38:2:1:2:3mred\x1b[m", "red"},
	{"private mode", "\x1b[?25lx\x1b[?25h", "x"},
	{"8-bit control sequence", "\u009b31mred", "red"},
	{"window title by BEL", "\x1b]0;title\aafter", "after"},
	{"window title by ST", "\x1b]0;title\x1b\\after", "after"},
	{"hyperlink", "\x1b]8;;http://x/\x1b\\text\x1b]8;;\x1b\\.", "text."},
	{"device control string", "\x1bPq#0;2;0\x1b\\after", "after"},
	{"application command", "\x1b_Gf=100;AAAA\x1b\\after", "after"},
	{"two-byte", "\x1b7\x1b8\x1bMx", "x"},
	{"character set", "\x1b(Bx\x1b)0y", "xy"},
	{"string without an end costs its line", "\x1b]0;title and on\nnext\n", "\nnext\n"},
	{"escape in a string", "\x1b]0;t\x1b[31mred", "red"},
	{"newline in a control sequence", "\x1b[31\nx", "\nx"},
	{"character in a control sequence", "\x1b[3中", "中"},
	{"escape at the end", "x\x1b", "x"},
	{"two escapes", "\x1b\x1b[31mx", "x"},
	{"escape before a character", "\x1b中", "中"},
	{"CRLF", "a\r\nb\r\n", "a\nb\n"},
	{"doubled CR before LF", "a\r\r\nb", "a\nb"},
	{"redraws", "  1%\r 50%\r100%\n", "100%\n"},
	{"redraw at the end", "50%\r", "50%"},
	{"redraw by something shorter", "downloading\rdone\nx", "done\nx"},
	{"redraw leaves earlier lines", "one\ntwo\r2\n", "one\n2\n"},
	{"erased line", "progress\r\x1b[K\nx", "\nx"},
	{"erased and drawn", "progress\x1b[2K\rdone\n", "done\n"},
	{"colour after CR keeps the line", "done\r\x1b[0m\nx", "done\nx"},
	{"tab redraws", "abc\r\tx", "\tx"},
}

func TestClean(t *testing.T) {
	for _, tt := range cleanTests {
		t.Run(tt.name, func(t *testing.T) {
			if got := output.Clean([]byte(tt.in)); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
			for _, size := range []int{1, 2, 3} {
				if got := inChunks(tt.in, size); got != tt.want {
					t.Errorf("in chunks of %d: %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

func TestCleanProgressLoop(t *testing.T) {
	var in strings.Builder
	for range 1000 {
		in.WriteString("\r\x1b[2K\x1b[32mworking\x1b[0m ...")
	}
	in.WriteString("\r\x1b[Kdone\r\n")
	if got := output.Clean([]byte(in.String())); got != "done\n" {
		t.Errorf("Clean = %q", got)
	}
}

func inChunks(in string, size int) string {
	c := output.NewCapture(1 << 16)
	for p := []byte(in); len(p) > 0; {
		n := min(size, len(p))
		c.Write(p[:n])
		p = p[n:]
	}
	return c.String()
}

// checkText fails unless s is valid UTF-8 without control characters.
func checkText(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			t.Errorf("control character %U in %q", r, s)
			return
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, tt := range cleanTests {
		f.Add([]byte(tt.in), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		want := output.Clean(in)
		checkText(t, want)
		if again := output.Clean([]byte(want)); again != want {
			t.Errorf("cleaned twice: %q, once: %q", again, want)
		}
		// In chunks of any size, and bounded.
		rnd := rand.New(rand.NewPCG(seed, 0))
		limit := output.MinLimit + rnd.IntN(200)
		full, small := output.NewCapture(len(in)*3+output.MinLimit), output.NewCapture(limit)
		for p := in; len(p) > 0; {
			n := 1 + rnd.IntN(len(p))
			full.Write(p[:n])
			small.Write(p[:n])
			p = p[n:]
		}
		if got := full.String(); got != want {
			t.Errorf("in chunks: %q, at once: %q", got, want)
		}
		checkBounded(t, small.Text(), want, limit)
	})
}

// checkBounded holds what a Capture kept against the whole text.
func checkBounded(t *testing.T, got output.Text, want string, limit int) {
	t.Helper()
	checkText(t, got.Text)
	if n := utf8.RuneCountInString(got.Text); n > limit {
		t.Errorf("%d characters over a limit of %d", n, limit)
	}
	if utf8.RuneCountInString(want) <= limit {
		if got.Text != want || got.DroppedBytes != 0 {
			t.Errorf("kept %q of %q", got.Text, want)
		}
		return
	}
	head, tail, ok := splitMarker(got, want)
	if !ok {
		t.Errorf("%+v is no head, marker and tail of %q", got, want)
		return
	}
	middle := want[len(head) : len(want)-len(tail)]
	if lines := int64(strings.Count(middle, "\n")); lines != got.DroppedLines {
		t.Errorf("DroppedLines = %d, want %d", got.DroppedLines, lines)
	}
}

// splitMarker finds the marker line, before and after which stand a prefix and
// a suffix of the whole text that lack as many bytes as the Text says. A
// newline before the marker can be the text's own or the marker's.
func splitMarker(got output.Text, whole string) (head, tail string, ok bool) {
	for at := 0; ; at += len("[… ") {
		i := strings.Index(got.Text[at:], "[… ")
		if i < 0 {
			return "", "", false
		}
		at += i
		_, tail, _ = strings.Cut(got.Text[at:], " omitted …]\n")
		for _, head := range []string{got.Text[:at], strings.TrimSuffix(got.Text[:at], "\n")} {
			if strings.HasPrefix(whole, head) && strings.HasSuffix(whole, tail) &&
				int64(len(whole)-len(head)-len(tail)) == got.DroppedBytes {
				return head, tail, true
			}
		}
	}
}

func BenchmarkCapture(b *testing.B) {
	for name, chunk := range map[string][]byte{
		"lines":  bytes.Repeat([]byte("a line of some output, not too long\n"), 1000),
		"yes":    bytes.Repeat([]byte("y\n"), 16<<10),
		"long":   bytes.Repeat([]byte("x"), 32<<10),
		"binary": bytes.Repeat([]byte("\x00\xff\x1b[3\r\n\x80ab"), 3<<10),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			c := output.NewCapture(30_000)
			for b.Loop() {
				c.Write(chunk)
			}
		})
	}
}
