package main

import (
	"io"
	"os"

	"github.com/belljar/belljar/internal/ui"
)

// tableWidth is where the rows of a table are cut: at the edge of the terminal
// that they go to, be it through a pipe. 0 is nowhere.
func (a *app) tableWidth() int {
	if terminal := ui.Detect(a.stdout, a.getenv); terminal.Terminal {
		return terminal.Width()
	}
	if terminal := ui.Detect(a.stderr, a.getenv); terminal.Terminal && isPipe(a.stdout) {
		return terminal.Width()
	}
	return 0
}

// isPersonal tells whether a table goes to a terminal at once, so that it may
// say things in fewer columns.
func (a *app) isPersonal() bool { return ui.Detect(a.stdout, a.getenv).Terminal }

// isPipe tells whether a writer is a pipe.
func isPipe(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
