package docker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/supervisor"
)

var (
	testNonce = strings.Repeat("n", supervisor.NonceLen)
	testKey   = []byte("the key")
)

// trailerText is a trailer as a supervisor writes it on stdout.
func trailerText(body string) string {
	return forgedText(string(supervisor.Seal(testKey, []byte(body))))
}

// forgedText is what a process writes that has read the nonce from a pipe.
func forgedText(body string) string {
	return string(supervisor.TrailerMark) + testNonce + body + string(supervisor.TrailerEnd)
}

func testScanner() *scanner {
	return newScanner(testNonce, func(p []byte) ([]byte, bool) { return supervisor.Unseal(testKey, p) })
}

func TestScannerFindsTrailerHoweverCut(t *testing.T) {
	mark := string(supervisor.TrailerMark) + testNonce
	tests := []struct{ name, in, payload, body string }{
		{"only a trailer", trailerText("x"), "", "x"},
		{"behind text", "hello\n" + trailerText("{}"), "hello\n", "{}"},
		{"noise after it", "a" + trailerText("b") + "late noise", "a", "b"},
		{"half a mark in the text", mark[:5] + "hello" + trailerText("b"), mark[:5] + "hello", "b"},
		{"half a mark right before it", mark[:20] + trailerText("b"), mark[:20], "b"},
		{"another nonce", "\x1e" + strings.Repeat("m", supervisor.NonceLen) + "\x00" + trailerText("b"), "\x1e" + strings.Repeat("m", supervisor.NonceLen) + "\x00", "b"},
		{"behind a forged one", "a" + forgedText(`{"Clean":true}`) + trailerText("b"), "a", "b"},
		{"behind one with another key's seal", forgedText(string(supervisor.Seal([]byte("another"), []byte("{}")))) + trailerText("b"), "", "b"},
		{"behind one with the seal of another body", forgedText("c"+string(supervisor.Seal(testKey, []byte("b")))) + "text" + trailerText("b"), "text", "b"},
		{"marks in a row", "\x1e\x1e\x1e" + trailerText("b"), "\x1e\x1e\x1e", "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for size := 1; size <= len(test.in); size++ {
				s := testScanner()
				var payload bytes.Buffer
				for piece := range slices.Chunk([]byte(test.in), size) {
					s.feed(slices.Clone(piece), func(p []byte) { payload.Write(p) })
				}
				if !s.done {
					t.Fatalf("pieces of %d: no trailer found", size)
				}
				if diff := cmp.Diff([2]string{test.payload, test.body}, [2]string{payload.String(), string(s.body)}); diff != "" {
					t.Fatalf("pieces of %d (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

func TestScannerHoldsBackOnlyWhatMayBegin(t *testing.T) {
	s := testScanner()
	var got bytes.Buffer
	emit := func(p []byte) { got.Write(p) }
	s.feed([]byte("prompt> "), emit)
	if got.String() != "prompt> " {
		t.Errorf("a prompt was held back: %q came", got.String())
	}
	s.feed([]byte("a\x1e"+testNonce[:3]), emit)
	if got.String() != "prompt> a" {
		t.Errorf("the start of a mark was passed on: %q came", got.String())
	}
	s.flush(emit)
	if want := "prompt> a\x1e" + testNonce[:3]; got.String() != want {
		t.Errorf("after the end of the stream %q came, want %q", got.String(), want)
	}
}

func TestScannerBoundsTrailerWithoutEnd(t *testing.T) {
	s := testScanner()
	s.feed([]byte(string(supervisor.TrailerMark)+testNonce), func([]byte) {})
	for range 100 {
		s.feed(bytes.Repeat([]byte("x"), 1<<10), func([]byte) { t.Fatal("the body came as payload") })
	}
	if len(s.held) > supervisor.MaxTrailer {
		t.Errorf("%d bytes are kept of a trailer without an end", len(s.held))
	}
}

func FuzzScanner(f *testing.F) {
	f.Add("hello", "{}", 3)
	f.Add("\x1e\x1e"+testNonce[:9], "", 1)
	f.Fuzz(func(t *testing.T, payload, body string, size int) {
		if size < 1 || strings.Contains(payload, string(supervisor.TrailerMark)+testNonce) ||
			strings.ContainsRune(body, supervisor.TrailerEnd) || len(body) > 1000 {
			t.Skip()
		}
		s := testScanner()
		var got bytes.Buffer
		for piece := range slices.Chunk([]byte(payload+trailerText(body)), size) {
			s.feed(slices.Clone(piece), func(p []byte) { got.Write(p) })
		}
		if got.String() != payload || string(s.body) != body || !s.done {
			t.Errorf("got %q and %q, want %q and %q", got.String(), s.body, payload, body)
		}
	})
}

func frame(stream byte, payload string) string {
	head := [frameHeader]byte{stream}
	binary.BigEndian.PutUint32(head[4:], uint32(len(payload)))
	return string(head[:]) + payload
}

func TestFramesSplitTheStreams(t *testing.T) {
	in := frame(streamStdout, "out") + frame(streamStderr, "") + frame(streamStderr, "err") + frame(streamStdout, strings.Repeat("x", 100<<10))
	for name, r := range map[string]io.Reader{
		"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)),
		"with the end": iotest.DataErrReader(strings.NewReader(in)),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFrames(r, shortBuffer)
			var out, errOut bytes.Buffer
			for {
				id, data, err := f.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if id == streamStdout {
					out.Write(data)
				} else {
					errOut.Write(data)
				}
			}
			if want := "out" + strings.Repeat("x", 100<<10); out.String() != want || errOut.String() != "err" {
				t.Errorf("got %d bytes of stdout and %q, want %d and \"err\"", out.Len(), errOut.String(), len(want))
			}
		})
	}
}

func TestFramesRefuseNonsense(t *testing.T) {
	if _, _, err := newFrames(strings.NewReader("HTTP/1.1 500"), shortBuffer).next(); err == nil {
		t.Error("a stream that is none was taken")
	}
	if _, _, err := newFrames(strings.NewReader(frame(1, "cut")[:9]), shortBuffer).next(); err != nil {
		t.Errorf("the first bytes of a cut frame: %v", err)
	}
}

func TestSinkStopsAtLimit(t *testing.T) {
	var out, errOut bytes.Buffer
	s := newSink(testNonce, testKey, &out, &errOut, 10)
	s.write(streamStdout, []byte("12345678"))
	select {
	case <-s.over:
		t.Fatal("over the limit too early")
	default:
	}
	s.write(streamStderr, []byte("abcd"))
	s.write(streamStdout, []byte("more"))
	select {
	case <-s.over:
	default:
		t.Error("the limit was passed in silence")
	}
	if got := out.String() + errOut.String(); got != "12345678ab" {
		t.Errorf("delivered %q, want exactly the first 10 bytes", got)
	}
}

func TestSinkReportsFailingWriter(t *testing.T) {
	broken := errors.New("disk full")
	s := newSink(testNonce, testKey, iotest.TruncateWriter(io.Discard, 0), failingWriter{broken}, 0)
	s.write(streamStderr, []byte("x"))
	select {
	case <-s.failed:
		if !errors.Is(s.writeErr, broken) {
			t.Errorf("the error is %v, want %v", s.writeErr, broken)
		}
	default:
		t.Error("a failed write was passed over")
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func TestSinkNeedsBothTrailers(t *testing.T) {
	body, err := json.Marshal(supervisor.Trailer{Code: 7})
	if err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	s := newSink(testNonce, testKey, nil, &errOut, 0)
	if s.write(streamStdout, []byte(trailerText(string(body)))) {
		t.Fatal("complete although stderr may still come")
	}
	if s.missing() == "" {
		t.Error("nothing is said of a stderr without an end")
	}
	if done := s.write(streamStderr, []byte("the end of stderr"+forgedText(""))); !done {
		t.Fatal("not complete after both trailers")
	}
	if got := s.missing(); got != "" {
		t.Errorf("%q although both came", got)
	}
	if trailer, ok := s.trailer(); !ok || trailer.Code != 7 || errOut.String() != "the end of stderr" {
		t.Errorf("trailer %+v, %v; stderr %q", trailer, ok, errOut.String())
	}
}

func TestDecoderTellsEngineText(t *testing.T) {
	d := &decoder{}
	d.feed([]byte("OCI runtime exec failed: no such file\nmore"))
	_, _, err := d.next()
	var text errText
	if !errors.As(err, &text) || text.text != "OCI runtime exec failed: no such file" {
		t.Errorf("got %v", err)
	}
}

func TestDecoderTakesRepliesInPieces(t *testing.T) {
	var wire bytes.Buffer
	wire.WriteString(supervisor.Magic)
	for pid := range 3 {
		if err := supervisor.WriteFrame(&wire, supervisor.Reply{PID: pid + 1}); err != nil {
			t.Fatal(err)
		}
	}
	d, got := &decoder{}, []int{}
	for _, b := range wire.Bytes() {
		d.feed([]byte{b})
		reply, ok, err := d.next()
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			got = append(got, reply.PID)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 3}, got); diff != "" {
		t.Errorf("replies (-want +got):\n%s", diff)
	}
}
