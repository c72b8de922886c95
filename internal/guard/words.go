package guard

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A builder puts together the fields that a word comes to.
type builder struct {
	look   *look
	fields []text
	cur    text
	open   bool // cur is a field even when it is empty
	quoted bool // some of cur stands in quotes
	home   text // what a tilde at the start stands for; nil where it is none
}

// add takes no more than a value may have, while the field grows: what it would
// come to may be more than there is memory.
func (b *builder) add(t text) {
	b.open = true
	b.look.spendText(len(t))
	switch room := maxText - len(b.cur); {
	case room < 0: // it ends with what is not known
	case len(t) > room:
		b.cur = append(append(b.cur, t[:room]...), anything)
	default:
		b.cur = append(b.cur, t...)
	}
}

// end ends the field.
func (b *builder) end() {
	if b.open && len(b.fields) < maxFields {
		if !b.quoted && len(b.cur) > 0 && len(b.cur.filled()) == 0 {
			b.cur = append(b.cur, loose)
		}
		b.fields = append(b.fields, b.cur)
	}
	b.cur, b.open, b.quoted = nil, false, false
}

// addSplit adds a value that stands without quotes.
func (b *builder) addSplit(t text) {
	if len(t) == 0 {
		return
	}
	t = b.look.patterns(t)
	if isSpace(t[0]) {
		b.end()
	}
	for i, field := range t.split() {
		if i > 0 {
			b.end()
		}
		b.add(field)
	}
	if isSpace(t[len(t)-1]) {
		b.end()
	}
}

// addFields adds several fields, the first and the last of which grow together
// with what stands around them.
func (b *builder) addFields(fields []text) {
	for i, field := range fields {
		if i > 0 {
			b.end()
		}
		b.add(field)
	}
}

// fields is what words come to, as a command would see them.
func (l *look) fields(st *state, words ...*syntax.Word) []text {
	var out []text
	for _, w := range words {
		if w == nil || l.over() {
			continue
		}
		for _, parts := range l.braces(split(w).Parts, 0) {
			b := &builder{look: l, home: l.tilde(st)}
			for _, part := range parts {
				if l.over() {
					break
				}
				l.part(st, b, part)
				b.home = nil
			}
			b.end()
			out = append(out, b.fields...)
		}
		if len(out) > maxFields*maxFields {
			break
		}
	}
	return out
}

// text is what a word comes to where it is not divided: in an assignment, a
// redirection, a here-document.
func (l *look) text(st *state, w *syntax.Word) text {
	if w == nil || l.over() {
		return nil
	}
	b := &builder{look: l, home: l.tilde(st)}
	for _, part := range w.Parts {
		if l.over() {
			break
		}
		switch p := part.(type) {
		case *syntax.Lit, *syntax.BraceExp:
			l.part(st, b, part)
		default:
			l.quoted(st, b, p)
		}
		b.home = nil
	}
	return join(append(b.fields, b.cur), ' ')
}

func (l *look) tilde(st *state) text { return l.plain(st, "HOME") }

// plain is a variable as one text.
func (l *look) plain(st *state, name string) text { return join(l.variable(st, name).fields, ' ') }

// part adds a part of a word that stands without quotes.
func (l *look) part(st *state, b *builder, part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		l.literal(st, b, p.Value)
	case *syntax.ParamExp:
		v := l.param(st, p)
		for i, field := range v.fields {
			if i > 0 {
				b.end()
			}
			b.addSplit(field)
		}
	case *syntax.CmdSubst:
		b.addSplit(l.capture(st, p.Stmts))
	case *syntax.ExtGlob:
		if p.Op == syntax.GlobExcept && isFew(p.Pattern.Value) {
			b.add(text{star}) // all but these is all
		} else {
			b.add(text{anything})
		}
	case *syntax.BraceExp: // a sequence, or one of too many
		b.add(text{anything})
	default:
		l.quoted(st, b, part)
	}
}

// quoted adds a part of a word that stands in quotes, or is not divided.
func (l *look) quoted(st *state, b *builder, part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.quoted = true
		b.add(text(unescape(p.Value, "$`\"\\\n")))
	case *syntax.SglQuoted:
		b.add(single(p))
	case *syntax.DblQuoted:
		b.quoted = true
		if b.open = true; len(p.Parts) == 1 { // "$@" of nothing is nothing
			if exp, ok := p.Parts[0].(*syntax.ParamExp); ok && each(exp) && len(l.param(st, exp).fields) == 0 {
				b.open = len(b.cur) > 0
			}
		}
		for _, inner := range p.Parts {
			if l.over() {
				break
			}
			l.quoted(st, b, inner)
		}
	case *syntax.ParamExp:
		v := l.param(st, p)
		if each(p) {
			b.addFields(v.fields)
		} else {
			b.add(join(v.fields, ' '))
		}
	case *syntax.CmdSubst:
		b.add(l.capture(st, p.Stmts))
	case *syntax.ProcSubst:
		mark := anything
		if l.capture(st, p.Stmts).has(downloaded) {
			mark = downloaded
		}
		b.add(text{mark})
	case *syntax.ArithmExp:
		l.inside(st, p.X)
		b.add(text{anything})
	default:
		b.add(text{anything})
	}
}

// isFew tells the alternatives of a pattern that are names of hardly any files of a
// project's.
func isFew(pattern string) bool {
	for name := range strings.SplitSeq(pattern, "|") {
		if !isOneOf(text(name), fewNames) {
			return false
		}
	}
	return true
}

// each tells an expansion that gives a field for each element.
func each(p *syntax.ParamExp) bool {
	if p.Param != nil && p.Param.Value == "@" {
		return true
	}
	index, ok := p.Index.(*syntax.Word)
	return ok && index.Lit() == "@"
}

// literal adds characters that stand without quotes.
func (l *look) literal(st *state, b *builder, s string) {
	if rest, ok := strings.CutPrefix(s, "~"); ok && b.home != nil && !b.open {
		name, _, _ := strings.Cut(rest, "/")
		switch name {
		case "":
			b.add(b.home)
		case "+":
			b.add(folderText(st.dir))
		case "-":
			b.add(folderText(st.old))
		case "root":
			b.add(text("/root"))
		case string(l.user()):
			b.add(b.home)
		default:
			b.add(text{anything})
		}
		s = rest[len(name):]
	}
	if s == "" {
		return
	}
	chars := text(s)
	out := make(text, 0, len(chars))
	for len(chars) > 0 {
		if chars[0] == '\\' && len(chars) > 1 {
			if chars[1] != '\n' {
				out = append(out, chars[1])
			}
			chars = chars[2:]
			continue
		}
		mark, size := l.pattern(chars)
		out, chars = append(out, mark), chars[size:]
	}
	b.add(out)
}

// folderText is a folder as a text.
func folderText(f folder) text {
	if f == nil {
		return text{anything}
	}
	return append(text("/"), join(f, '/')...)
}

// unescape takes away the backslashes before some characters; one before the
// end of a line takes the line's end with it.
func unescape(s, special string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(special, s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// single is the text of single quotes, with escapes where a dollar stands before
// them.
func single(p *syntax.SglQuoted) text {
	if !p.Dollar {
		return text(p.Value)
	}
	return escapes(text(p.Value))
}
