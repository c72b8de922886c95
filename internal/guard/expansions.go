package guard

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// altered is a value of which a part is taken or replaced: what is empty stays so.
func (l *look) altered(v value) value {
	if v.empty() {
		return v
	}
	return unknown()
}

// expanded is an expansion with an operator.
func (l *look) expanded(st *state, exp *syntax.Expansion, name string, v value) value {
	word := func() value { return value{fields: []text{l.text(st, exp.Word)}} }
	switch exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if v.empty() {
			return word()
		}
		return v
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if v.empty() {
			v = word()
			st.vars[name] = v
		}
		return v
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if v.empty() {
			st.vars[name] = unknown() // the script ends there where it is empty
			return unknown()
		}
		return v
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if v.empty() {
			return value{}
		}
		return word()
	}
	pattern := l.patterns(l.text(st, exp.Word))
	t, ok := v.single()
	if !ok {
		return l.altered(v)
	}
	switch exp.Op {
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return value{fields: []text{l.without(t, pattern, exp.Op)}}
	case syntax.LowerAll:
		return value{fields: []text{text(strings.ToLower(string(t)))}}
	case syntax.UpperAll:
		return value{fields: []text{text(strings.ToUpper(string(t)))}}
	}
	return l.altered(v)
}

// single is a value that is one text, which is known but for variables that were
// not set, and short enough to look for patterns in.
func (v value) single() (text, bool) {
	if len(v.fields) != 1 || v.array {
		return nil, false
	}
	t := v.fields[0].filled()
	return t, len(t) <= maxPath && t.known() && len(t) == len(v.fields[0])
}

// without is a text whose beginning or end is taken away, the least or the most of
// it that is like a pattern.
func (l *look) without(t, pattern text, op syntax.ParExpOperator) text {
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	for i := range len(t) + 1 {
		n := i // what is taken away
		if op == syntax.RemLargeSuffix || op == syntax.RemLargePrefix {
			n = len(t) - i
		}
		if l.spend(1 + n/stepText) {
			break
		}
		switch {
		case suffix && l.like(pattern, t[len(t)-n:]):
			return t[: len(t)-n : len(t)-n]
		case !suffix && l.like(pattern, t[:n]):
			return t[n:]
		}
	}
	return t
}

// sliced is a part of a value.
func (l *look) sliced(v value, s *syntax.Slice) value {
	t, ok := v.single()
	from, okFrom := literalNumber(s.Offset)
	length, okLength := literalNumber(s.Length)
	if !ok || !okFrom || s.Length != nil && !okLength {
		return l.altered(v)
	}
	t = t[min(from, len(t)):]
	if s.Length != nil {
		t = t[:min(length, len(t)):min(length, len(t))]
	}
	return value{fields: []text{t}}
}

// literalNumber reads a number that stands in a script as it is.
func literalNumber(x syntax.ArithmExpr) (n int, ok bool) {
	word, isWord := x.(*syntax.Word)
	if !isWord {
		return 0, false
	}
	n, err := strconv.Atoi(word.Lit())
	return n, err == nil && n >= 0
}

// replaced is a value in which a text stands for another.
func (l *look) replaced(st *state, v value, r *syntax.Replace) value {
	old, with := l.text(st, r.Orig), l.text(st, r.With)
	t, ok := v.single()
	if !ok || len(old) == 0 || !old.known() || slices.ContainsFunc(old, func(r rune) bool { return strings.ContainsRune("*?[#%\\", r) }) {
		return l.altered(v)
	}
	if !r.All {
		at := strings.Index(string(t), string(old))
		if at < 0 {
			return v
		}
		before := len([]rune(string(t)[:at]))
		return value{fields: []text{slices.Concat(t[:before], with, t[before+len(old):]).bounded()}}
	}
	return value{fields: []text{replace(t, old, with)}}
}
