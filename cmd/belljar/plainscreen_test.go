package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// TestOutputBehindAQuestion asserts that output neither covers a question nor
// waits for its end, and that its order stays.
func TestOutputBehindAQuestion(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answered bool
		want     string
	}{
		{"answered", true, "before question? out err more after"},
		{"not answered", false, "before question? \nout err more after"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var shown bytes.Buffer
			screen := &plainScreen{out: &shown, plain: true}
			stdout, stderr := screen.wrap(io.MultiWriter(&shown), io.MultiWriter(&shown))
			write := func(w io.Writer, text string) {
				data := []byte(text)
				if n, err := w.Write(data); n != len(text) || err != nil {
					t.Errorf("writing %q: %d, %v", text, n, err)
				}
				clear(data) // it belongs to the caller again
			}
			write(stdout, "before ")
			done := screen.show("question? ", func() {})
			write(stdout, "out ")
			write(stderr, "err ")
			write(stdout, "more ")
			if got := shown.String(); got != "before question? " {
				t.Errorf("while the question stands the screen shows %q", got)
			}
			done(tc.answered)
			write(stderr, "after")
			if got := shown.String(); got != tc.want {
				t.Errorf("the screen shows %q, want %q", got, tc.want)
			}
		})
	}
}

// TestOutputBehindAQuestionIsBounded asserts that too much output waits.
func TestOutputBehindAQuestionIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		screen := &plainScreen{out: io.Discard}
		stdout, _ := screen.wrap(&shown, &shown)
		done := screen.show("question?", func() {})
		if _, err := io.WriteString(stdout, strings.Repeat("a", maxBehind)); err != nil {
			t.Fatal(err)
		}
		written := false
		go func() {
			_, err := io.WriteString(stdout, "b")
			written = err == nil
		}()
		synctest.Wait()
		if written {
			t.Error("more than the bound was kept")
		}
		done(false)
		synctest.Wait()
		if !written || shown.Len() != maxBehind+1 || !strings.HasSuffix(shown.String(), "ab") {
			t.Errorf("written: %v; %d bytes are shown, want %d", written, shown.Len(), maxBehind+1)
		}
	})
}

// TestKeptOutputThatCannotBeWritten asserts that its loss is told.
func TestKeptOutputThatCannotBeWritten(t *testing.T) {
	reader, writer := io.Pipe()
	gone := errors.New("gone")
	reader.CloseWithError(gone)
	screen := &plainScreen{out: io.Discard}
	stdout, _ := screen.wrap(writer, writer)
	done := screen.show("question?", func() {})
	if _, err := io.WriteString(stdout, "text"); err != nil {
		t.Fatal(err)
	}
	done(true)
	if err := screen.failure(); !errors.Is(err, gone) {
		t.Errorf("failure is %v, want %v", err, gone)
	}
}
