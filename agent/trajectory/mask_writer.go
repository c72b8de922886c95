package trajectory

import (
	"fmt"
	"io"
	"strings"
)

// A MaskWriter hides the secrets of a Masker in a text that comes in pieces,
// however it is cut. It holds back what may be the beginning of a secret. Not
// safe for concurrent use.
type MaskWriter struct {
	to      io.Writer
	forms   []string // the longest first
	pending string
}

// Writer returns a MaskWriter to an underlying writer, which the caller closes.
func (m *Masker) Writer(to io.Writer) *MaskWriter { return &MaskWriter{to: to, forms: m.forms} }

// Write passes on what is known to be no part of a secret, and Hidden for each
// secret.
func (w *MaskWriter) Write(p []byte) (int, error) {
	w.pending += string(p)
	return len(p), w.pass(false)
}

// Flush passes on what was held back, at the end of the text.
func (w *MaskWriter) Flush() error { return w.pass(true) }

// pass writes as much of what is pending as can be decided. A secret at its
// beginning can be, once there is room for the longest: a shorter one may be
// the beginning of a longer.
func (w *MaskWriter) pass(end bool) error {
	hold := 0
	if len(w.forms) > 0 && !end {
		hold = len(w.forms[0])
	}
	var ready strings.Builder
	for len(w.pending) > hold || end && w.pending != "" {
		at, form := w.find()
		// Without a secret there may be the beginning of one at the end.
		safe := max(len(w.pending)-max(hold-1, 0), 0)
		if at < 0 || at > safe {
			ready.WriteString(w.pending[:safe])
			w.pending = w.pending[safe:]
			break
		}
		if !end && len(w.pending)-at < hold {
			ready.WriteString(w.pending[:at])
			w.pending = w.pending[at:]
			break
		}
		ready.WriteString(w.pending[:at] + Hidden)
		w.pending = w.pending[at+len(form):]
	}
	if _, err := io.WriteString(w.to, ready.String()); err != nil {
		return fmt.Errorf("writing masked text: %w", err)
	}
	return nil
}

// find finds the first secret that is pending, the longest one at that place.
func (w *MaskWriter) find() (at int, form string) {
	at = -1
	for _, f := range w.forms {
		if i := strings.Index(w.pending, f); i >= 0 && (at < 0 || i < at) {
			at, form = i, f
		}
	}
	return at, form
}
