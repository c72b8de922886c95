package ui

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/term"
)

const (
	// fallbackWidth is used where a terminal does not tell its width.
	fallbackWidth = 80
	// minWidth keeps lines readable on a terminal that claims to be tiny.
	minWidth = 20
	// plainWidth bounds the lines of tool output where there is no terminal.
	plainWidth = 120
)

// A Terminal says what a stream can show. The zero value is no terminal:
// nothing is coloured or redrawn.
type Terminal struct {
	// Terminal is set when a person's terminal is at the other end.
	Terminal bool
	// Color: escape sequences for colours are understood and wanted.
	Color bool
	// Live: a line may be drawn again.
	Live bool

	file *os.File
}

// Detect looks at what w is connected to. The environment is asked for
// NO_COLOR and TERM.
func Detect(w io.Writer, env func(string) string) Terminal {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Terminal{}
	}
	t := Terminal{Terminal: true, file: file}
	name := env("TERM")
	if runtime.GOOS == "windows" {
		// An old console prints escape sequences as they are; the newer ones
		// say who they are.
		t.Live = env("WT_SESSION") != "" || name != "" && name != "dumb"
	} else {
		t.Live = name != "" && name != "dumb"
	}
	t.Color = t.Live && env("NO_COLOR") == ""
	return t
}

// Width is the number of columns to use now; a terminal may be resized.
func (t Terminal) Width() int {
	if t.file == nil {
		return plainWidth
	}
	width, _, err := term.GetSize(int(t.file.Fd()))
	if err != nil || width <= 0 {
		return fallbackWidth
	}
	return max(width, minWidth)
}
