package tools

import (
	"strings"

	"github.com/belljar/belljar/internal/output"
)

const (
	// maxNearest is for how many of the texts that are not in one file the
	// nearest lines are looked for, and nearestBytes how much of the file is.
	maxNearest   = 2
	nearestBytes = 2 << 20
)

// A subject is a text that edits are looked for in, with what is made of it for
// all of them once.
type subject struct {
	folded
	loosened [looseForm + 1]*loose
	nearests int // how often the nearest lines were looked for
	encoding *bool
	headed   map[headerAt]headed
}

func newSubject(content string) *subject { return &subject{folded: fold(content)} }

// loose is the text made loose. Where it ends without a newline, an old text may
// have one there.
func (s *subject) loose(how looseness) *loose {
	if s.loosened[how] == nil {
		text := s.text
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		l := loosen(text, how)
		s.loosened[how] = &l
	}
	return s.loosened[how]
}

// legacy tells whether the text is in an older encoding.
func (s *subject) legacy() bool {
	if s.encoding == nil {
		is := legacy(s.text)
		s.encoding = &is
	}
	return *s.encoding
}

// nearest is the help for an old text that is not in the text, for the first few
// of them.
func (s *subject) nearest(old string) string {
	if s.nearests++; s.nearests > maxNearest {
		return "What is nearest is looked for " + output.Count(maxNearest, "time") + " in a file."
	}
	text := strings.TrimPrefix(s.text, bom) // as read_file shows it
	if len(text) <= nearestBytes {
		return nearest(text, old)
	}
	part := text[:nearestBytes]
	return nearest(part[:strings.LastIndexByte(part, '\n')+1], old) + "\n(Only its first " + output.Size(nearestBytes) + " were looked at.)"
}
