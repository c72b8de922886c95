package output

import "io"

// Limited passes the first bytes on to a writer and swallows the rest. It is
// not safe for concurrent use.
type Limited struct {
	w    io.Writer
	left int64
	// Dropped is the number of bytes swallowed.
	Dropped int64
}

// NewLimited makes a Limited that passes n bytes on to w.
func NewLimited(w io.Writer, n int64) *Limited { return &Limited{w: w, left: max(n, 0)} }

// Write takes all of p, unless w fails.
func (l *Limited) Write(p []byte) (int, error) {
	take := min(int64(len(p)), l.left)
	if take > 0 {
		n, err := l.w.Write(p[:take])
		l.left -= int64(n)
		if err != nil {
			return n, err
		}
	}
	l.Dropped += int64(len(p)) - take
	return len(p), nil
}
