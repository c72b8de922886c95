package search

import (
	"bytes"
	"unicode/utf8"
)

// MaxMatchLines bounds the lines of one match that spans several.
const MaxMatchLines = 50

// A gatherer collects the lines of one file that are shown. Positions are those
// in the window that is searched.
type gatherer struct {
	opts  *GrepOptions
	found FileMatch

	searched int   // the window is searched up to here
	counted  int   // the newlines before this position are counted
	newlines int64 // so many
	shown    int   // the lines before this position are shown, or not to be
	trailing int   // lines that are still to follow the last match
}

// number is the number of the line that begins at a position.
func (g *gatherer) number(text []byte, at int) int64 {
	g.newlines += int64(bytes.Count(text[g.counted:at], []byte{'\n'}))
	g.counted = at
	return g.newlines + 1
}

// take adds a match.
func (g *gatherer) take(text []byte, s span) {
	limit := g.opts.FileLimit
	if g.found.Shown >= int64(limit) || g.found.bytes > g.opts.Bytes {
		// What follows is no context: it matches.
		g.trail(text, s.from)
		g.trailing = 0
		return
	}
	g.trail(text, s.from)
	from := s.from
	for range g.opts.Context {
		if from <= g.shown {
			break
		}
		from = max(bytes.LastIndexByte(text[:from-1], '\n')+1, g.shown)
	}
	for from < s.from {
		from = g.line(text, from, span{}, false)
	}
	from = max(from, g.shown) // what spans lines may begin in one that is there
	// A text that does not end with a newline has no line behind its end.
	to := min(s.to, len(text)-1)
	for n := 0; from <= to && n < MaxMatchLines; n++ {
		from = g.line(text, from, s, true)
	}
	if from <= to {
		g.found.Long++
	}
	g.found.Shown++
	g.found.ends = append(g.found.ends, len(g.found.Lines))
	g.shown = min(s.to+1, len(text))
	g.trailing = g.opts.Context
}

// trail adds the lines that follow the last match, up to a position.
func (g *gatherer) trail(text []byte, end int) {
	for g.trailing > 0 && g.shown < end {
		g.shown = min(g.line(text, g.shown, span{}, false), len(text))
		g.trailing--
	}
}

// line adds the line that begins at a position and gives where the next begins.
func (g *gatherer) line(text []byte, from int, s span, match bool) (next int) {
	to := len(text)
	if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
		to = from + i
	}
	l := Line{Number: g.number(text, from), Match: match}
	next = to + 1
	if to > from && text[to-1] == '\r' {
		to--
	}
	whole := text[from:to]
	begin, end := clip(whole, max(s.begin-from, 0), max(s.end-from, 0), g.opts.LineBytes)
	l.Text = bytes.Clone(whole[begin:end])
	l.Before, l.After = int64(begin), int64(len(whole)-end)
	g.found.Lines = append(g.found.Lines, l)
	g.found.bytes += len(l.Text)
	return next
}

// clip chooses the part of a line that is shown: all of it, or what is around
// the match, with more after it than before.
func clip(line []byte, begin, end, most int) (from, to int) {
	if len(line) <= most {
		return 0, len(line)
	}
	begin, end = min(begin, len(line)), min(end, len(line))
	lead := max(most-(end-begin), 0) / 3
	from = min(max(begin-lead, 0), len(line)-most)
	to = from + most
	// Not within a character.
	for i := 0; i < utf8.UTFMax && from > 0 && !utf8.RuneStart(line[from]); i++ {
		from++
	}
	for i := 0; i < utf8.UTFMax && to < len(line) && !utf8.RuneStart(line[to]); i++ {
		to--
	}
	return from, to
}

// shift gets ready for a window that begins later: it gives the position to
// begin at, which keeps the lines that may be the next match's context.
func (g *gatherer) shift(text []byte) int {
	at := len(text)
	for range g.opts.Context {
		if at <= g.shown || at == 0 {
			break
		}
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	if at = max(at, g.shown); len(text)-at > maxWindow/2 {
		at = len(text)
	}
	g.number(text, len(text))
	if at < g.counted {
		g.newlines -= int64(bytes.Count(text[at:g.counted], []byte{'\n'}))
		g.counted = at
	}
	g.counted -= at
	g.shown = max(g.shown-at, 0)
	g.searched = len(text) - at
	return at
}
