package output

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// Raw is an [io.Writer] that keeps a head and a tail of the bytes written to
// it, uncleaned. It is safe for concurrent use. Its memory is at most twice its
// limit.
type Raw struct {
	mu         sync.Mutex
	headMax    int
	tailMax    int
	head, tail []byte
	total      int64
}

// NewRaw makes a Raw that keeps at most limit bytes.
func NewRaw(limit int) *Raw {
	headMax := max(limit, 0) * 2 / 5
	return &Raw{headMax: headMax, tailMax: max(limit, 0) - headMax}
}

// Write takes the next bytes. It never fails.
func (r *Raw) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	r.total += int64(n)
	take := min(r.headMax-len(r.head), n)
	r.head = append(r.head, p[:take]...)
	p = p[take:]
	if len(p) > r.tailMax {
		p = p[len(p)-r.tailMax:]
		r.tail = r.tail[:0]
	}
	r.tail = append(r.tail, p...)
	if len(r.tail) > 2*r.tailMax {
		r.trim()
	}
	return n, nil
}

func (r *Raw) trim() {
	if extra := len(r.tail) - r.tailMax; extra > 0 {
		r.tail = append(r.tail[:0], r.tail[extra:]...)
	}
}

// A Kept is what a Raw kept: all of it in Head, or a head and a tail.
type Kept struct {
	// Head and Tail are valid UTF-8.
	Head, Tail string
	// Dropped is the number of bytes missing between them. It can be a little
	// more than what went over the limit: a cut character is missing whole.
	Dropped int64
	// Lossy is set when a byte that is not UTF-8 was replaced by U+FFFD.
	Lossy bool
}

// Kept tells what was kept so far. Writing may go on afterwards.
func (r *Raw) Kept() Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trim()
	head, tail := r.head, r.tail
	dropped := r.total - int64(len(head)+len(tail))
	if dropped == 0 {
		head, tail = append(head[:len(head):len(head)], tail...), nil
	} else {
		cutHead, cutTail := incomplete(head), continued(tail)
		head, tail = head[:len(head)-cutHead], tail[cutTail:]
		dropped += int64(cutHead + cutTail)
	}
	k := Kept{Dropped: dropped, Lossy: !utf8.Valid(head) || !utf8.Valid(tail)}
	k.Head = string(bytes.ToValidUTF8(head, []byte(replacement)))
	k.Tail = string(bytes.ToValidUTF8(tail, []byte(replacement)))
	return k
}

// String is the text with a line between head and tail that says what is
// missing.
func (k Kept) String() string {
	if k.Dropped == 0 {
		return k.Head
	}
	var b strings.Builder
	b.WriteString(k.Head)
	if !strings.HasSuffix(k.Head, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString("[… " + Count(k.Dropped, "byte") + " omitted …]\n")
	b.WriteString(k.Tail)
	return b.String()
}

// continued is the number of bytes at the start of p that end a character whose
// beginning was cut off.
func continued(p []byte) int {
	n := 0
	for n < len(p) && n < utf8.UTFMax-1 && !utf8.RuneStart(p[n]) {
		n++
	}
	return n
}
