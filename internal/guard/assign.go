package guard

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// assign sets variables.
func (l *look) assign(st *state, list []*syntax.Assign) {
	for _, a := range list {
		if a.Naked || a.Name == nil {
			for _, field := range l.fields(st, a.Value) {
				st.strict = st.strict || !field.known() // whatever it names is set
			}
			continue
		}
		var v value
		switch {
		case a.Array != nil:
			v.array = true
			for _, elem := range a.Array.Elems {
				v.fields = append(v.fields, l.fields(st, elem.Value)...)
			}
			v.fields = v.fields[:min(len(v.fields), maxFields)]
		default:
			v.fields = []text{l.text(st, a.Value)}
			if !v.fields[0].known() {
				v.from = l.madeFrom(a.Value)
			}
		}
		name := a.Name.Value
		if a.Index != nil {
			l.inside(st, a.Index)
			v = element(st.vars[name], a.Index, v)
		}
		if before, ok := st.vars[name]; ok && a.Append && a.Index == nil {
			v = l.appended(before, v)
		}
		st.vars[name] = v
	}
}

// element is an array of which one element was set. Where that is not known, nor one
// of those there are, it stands for nothing known.
func element(before value, index syntax.ArithmExpr, v value) value {
	word, ok := index.(*syntax.Word)
	if !ok || !before.array && len(before.fields) > 0 {
		return unknown()
	}
	n, err := strconv.Atoi(word.Lit())
	switch {
	case err != nil || n < 0 || n > len(before.fields) || n >= maxFields || len(v.fields) != 1:
		return unknown()
	case n == len(before.fields):
		return value{fields: append(slices.Clone(before.fields), v.fields[0]), array: true}
	}
	fields := slices.Clone(before.fields)
	fields[n] = v.fields[0]
	return value{fields: fields, array: true}
}

// appended is a value to which another was added.
func (l *look) appended(v, more value) value {
	if v.array || more.array {
		fields := slices.Concat(v.fields, more.fields)
		return value{fields: fields[:min(len(fields), maxFields)], array: true}
	}
	sum := slices.Concat(join(v.fields, ' '), join(more.fields, ' ')).bounded()
	l.spendText(4 * len(sum)) // it is copied as often
	return value{fields: []text{sum}}
}
