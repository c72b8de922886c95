package output_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/output"
)

func TestCaptureWholeLines(t *testing.T) {
	c := output.NewCapture(1000)
	var want strings.Builder
	for i := range 500 {
		fmt.Fprintf(io.MultiWriter(c, &want), "line %d\n", i)
	}
	got := c.Text()
	checkBounded(t, got, want.String(), 1000)
	lines := strings.Split(got.Text, "\n")
	if lines[0] != "line 0" || lines[len(lines)-2] != "line 499" {
		t.Errorf("starts with %q, ends with %q", lines[0], lines[len(lines)-2])
	}
	markers := 0
	for _, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "[…") {
			markers++
			if want := fmt.Sprintf("[… %d lines (", got.DroppedLines); !strings.HasPrefix(line, want) {
				t.Errorf("marker %q, want it to start with %q", line, want)
			}
		} else if !strings.HasPrefix(line, "line ") {
			t.Errorf("cut line %q", line)
		}
	}
	if markers != 1 {
		t.Errorf("%d markers", markers)
	}
	head, tail, _ := splitMarker(got, want.String())
	if share := float64(len(head)) / float64(len(head)+len(tail)); share < 0.38 || share > 0.42 {
		t.Errorf("the head is %.2f of the text", share)
	}
}

func TestCaptureExactlyAtTheLimit(t *testing.T) {
	for _, extra := range []int{0, 1} {
		c := output.NewCapture(300)
		in := strings.Repeat("é", 300+extra)
		io.WriteString(c, in)
		if got := c.Text(); (got.DroppedBytes == 0) != (extra == 0) {
			t.Errorf("%d characters over the limit: dropped %d bytes", extra, got.DroppedBytes)
		}
	}
}

func TestCaptureLongLine(t *testing.T) {
	for _, r := range []string{"x", "é", "中", "🫙"} {
		t.Run(r, func(t *testing.T) {
			c := output.NewCapture(1000)
			in := "first\n" + strings.Repeat(r, 40_000) + "\nlast\n"
			for p := []byte(in); len(p) > 0; {
				n := min(7, len(p))
				c.Write(p[:n])
				p = p[n:]
			}
			got := c.Text()
			checkBounded(t, got, in, 1000)
			if !strings.HasPrefix(got.Text, "first\n"+r) || !strings.HasSuffix(got.Text, r+"\nlast\n") {
				t.Errorf("kept %q", got.Text)
			}
			if !strings.Contains(got.Text, "of a line omitted …]") {
				t.Error("the marker does not say that the line was cut")
			}
			if strings.Contains(got.Text, "\uFFFD") {
				t.Error("cut inside a character")
			}
			if n := utf8.RuneCountInString(got.Text); n < 900 {
				t.Errorf("only %d characters of 1000 used", n)
			}
		})
	}
}

// A long line that is drawn anew takes nothing of the output with it.
func TestCaptureRedrawOfALongLine(t *testing.T) {
	c := output.NewCapture(1000)
	io.WriteString(c, "before\n"+strings.Repeat("x", 1<<20)+"\rafter\n")
	if got := c.String(); got != "before\nafter\n" {
		t.Errorf("kept %q", got)
	}
}

func TestCaptureTextInBetween(t *testing.T) {
	c := output.NewCapture(1000)
	io.WriteString(c, "one\ntw\xc3")
	if got := c.String(); got != "one\ntw\uFFFD" {
		t.Errorf("in between: %q", got)
	}
	io.WriteString(c, "\xb6\r")
	io.WriteString(c, "\nthree")
	if got := c.String(); got != "one\ntwö\nthree" {
		t.Errorf("at the end: %q", got)
	}
}

func TestCaptureMemory(t *testing.T) {
	const limit = 30_000
	for name, chunk := range map[string]string{
		"lines":          strings.Repeat("y\n", 16<<10),
		"one line":       strings.Repeat("中", 10<<10),
		"redraws":        strings.Repeat("x", 1000) + "\r",
		"endless string": strings.Repeat("\x1b]x", 10<<10),
	} {
		t.Run(name, func(t *testing.T) {
			c := output.NewCapture(limit)
			p := []byte(chunk)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for range 8<<20/len(p) + 1 {
				c.Write(p)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32*limit {
				t.Errorf("holds %d bytes after 8 MiB", grown)
			}
			if n := utf8.RuneCountInString(c.String()); n > limit {
				t.Errorf("%d characters", n)
			}
		})
	}
}

func TestCaptureConcurrently(t *testing.T) {
	c := output.NewCapture(10_000)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				io.WriteString(c, "abc\n")
				_ = c.String()
			}
		})
	}
	group.Wait()
	if got := c.String(); got != strings.Repeat("abc\n", 800) {
		t.Errorf("kept %d bytes", len(got))
	}
}

func TestRaw(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		limit    int
		want     output.Kept
	}{
		{"empty", "", 10, output.Kept{}},
		{"everything", "a\x00\x1b[3m\r\n", 20, output.Kept{Head: "a\x00\x1b[3m\r\n"}},
		{"exactly the limit", "0123456789", 10, output.Kept{Head: "0123456789"}},
		{"one over", "0123456789a", 10, output.Kept{Head: "0123", Tail: "56789a", Dropped: 1}},
		{"not UTF-8", "a\xffb", 10, output.Kept{Head: "a\uFFFDb", Lossy: true}},
		{"cut characters", "中中中中中中", 10, output.Kept{Head: "中", Tail: "中中", Dropped: 9}},
		{"cut character at the end of the program", "a\xe4\xb8", 10, output.Kept{Head: "a\uFFFD", Lossy: true}},
		{"a character across head and tail", "abc中defg", 10, output.Kept{Head: "abc中defg"}},
		{"no room", "abc", 0, output.Kept{Dropped: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1000} {
				r := output.NewRaw(tt.limit)
				for p := []byte(tt.in); len(p) > 0; {
					n := min(size, len(p))
					r.Write(p[:n])
					p = p[n:]
				}
				if got := r.Kept(); got != tt.want {
					t.Errorf("in chunks of %d: %+v, want %+v", size, got, tt.want)
				}
			}
		})
	}
}

func TestKeptString(t *testing.T) {
	r := output.NewRaw(10)
	io.WriteString(r, strings.Repeat("0123456789", 200))
	if got, want := r.Kept().String(), "0123\n[… 1,990 bytes omitted …]\n456789"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}

func FuzzRaw(f *testing.F) {
	f.Add([]byte("中文abc\xff\xfe"), uint8(5), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, limit, size uint8) {
		once, chunked := output.NewRaw(int(limit)), output.NewRaw(int(limit))
		once.Write(in)
		for p := in; len(p) > 0; {
			n := min(int(size)+1, len(p))
			chunked.Write(p[:n])
			p = p[n:]
		}
		got := chunked.Kept()
		if want := once.Kept(); got != want {
			t.Errorf("in chunks %+v, at once %+v", got, want)
		}
		if !utf8.ValidString(got.Head) || !utf8.ValidString(got.Tail) {
			t.Errorf("not UTF-8: %+v", got)
		}
		if !got.Lossy && len(got.Head)+len(got.Tail)+int(got.Dropped) != len(in) {
			t.Errorf("%+v does not add up to %d bytes", got, len(in))
		}
		if !got.Lossy && len(got.Head)+len(got.Tail) > int(limit) {
			t.Errorf("%d bytes over a limit of %d", len(got.Head)+len(got.Tail), limit)
		}
		if utf8.Valid(in) && got.Lossy {
			t.Errorf("lossy, though the input is UTF-8: %+v", got)
		}
	})
}

func TestLimited(t *testing.T) {
	var buf bytes.Buffer
	l := output.NewLimited(&buf, 5)
	for _, s := range []string{"abc", "def", "ghi"} {
		if n, err := io.WriteString(l, s); n != len(s) || err != nil {
			t.Errorf("Write(%q) = %d, %v", s, n, err)
		}
	}
	if buf.String() != "abcde" || l.Dropped != 4 {
		t.Errorf("passed %q, dropped %d", buf.String(), l.Dropped)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestLimitedPassesErrors(t *testing.T) {
	if _, err := output.NewLimited(failing{}, 5).Write([]byte("x")); err == nil {
		t.Error("the error is lost")
	}
}

func TestWords(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1,023 bytes", 1024: "1 KiB", 1536: "1.5 KiB",
		1<<20 - 1: "1 MiB", 256 << 20: "256 MiB", 2 << 30: "2 GiB", 1<<63 - 1: "8 EiB",
	} {
		if got := output.Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 lines", 1: "1 line", 999: "999 lines", 1234567: "1,234,567 lines", -1234: "-1,234 lines"} {
		if got := output.Count(n, "line"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

// What is taken is gone, and the cleaning goes on where it was.
func TestCaptureTake(t *testing.T) {
	c := output.NewCapture(1000)
	for _, step := range []struct{ write, want string }{
		{"one\n", "one\n"},
		{"", ""},
		{"10%\r20%", "20%"},
		{"\r30%\n", "30%\n"},
		{"\x1b[3", ""},
		{"1mred\n", "red\n"},
		{"a\xe4\xb8", "a"},
		{"\xad\n", "中\n"},
		{strings.Repeat("x", 3000), strings.Repeat("x", 368) + "\n[… 2 KiB of a line omitted …]\n" + strings.Repeat("x", 552)},
		{"after", "after"},
	} {
		if _, err := io.WriteString(c, step.write); err != nil {
			t.Fatal(err)
		}
		if got := c.Take().Text; got != step.want {
			t.Errorf("after %.20q: %q, want %q", step.write, got, step.want)
		}
	}
	if got := c.Take(); got != (output.Text{}) {
		t.Errorf("in the end %+v", got)
	}
}
