package guard

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A value is what a variable holds: one text, or those of an array.
type value struct {
	fields []text
	array  bool
	from   []string // the variables that it was made from, where it is not known
}

func (v value) equal(w value) bool {
	return v.array == w.array && slices.EqualFunc(v.fields, w.fields, text.equal)
}

// unknown is the value of which nothing is known but that it was given.
func unknown() value { return value{fields: []text{{anything}}} }

// A state is that of a shell at one point of a script.
type state struct {
	vars  map[string]value
	funcs map[string]*syntax.Stmt
	args  []text // the positional parameters
	name  text   // what comes before them, where a script was given one
	dir   folder
	old   folder   // the one before
	stack []folder // those that pushd left
	maybe text     // the variables, not set, that dir depends on being empty
	// strict: what was not set is an error and not empty, or something that is
	// not known may have set it.
	strict bool
	// counted: the script has looked how many arguments there are.
	counted bool
	traps   []trap
	in      text  // what comes on stdin, as far as it is known
	out     *text // takes what goes to stdout; nil is elsewhere
}

// A trap is a script that runs at the end of a shell, or at a signal, which is no
// sooner than the rest is read.
type trap struct {
	script text
	line   int
}

// newState is a shell's at the start of a script.
func newState(place Place) *state {
	st := &state{
		vars: map[string]value{}, funcs: map[string]*syntax.Stmt{},
		dir: folderOf(place.Dir), in: text{},
	}
	st.old = st.dir
	for _, pair := range place.Env {
		if name, set, ok := strings.Cut(pair, "="); ok {
			st.vars[name] = given(set)
		}
	}
	if place.Home != "" {
		st.vars["HOME"] = value{fields: []text{text(place.Home)}}
	}
	return st
}

// given is the value of a variable that the script finds. It is known where it is a
// path, or empty, and not where it may be a secret, of which a part could be shown.
func given(set string) value {
	if set == "" || strings.HasPrefix(set, "/") || strings.HasPrefix(set, ".") {
		return value{fields: []text{text(set)}}
	}
	return unknown()
}

// copy is the state of a shell that is started from here.
func (l *look) copy(st *state) *state {
	l.spend(1 + (len(st.vars)+len(st.funcs))/8)
	c := *st
	c.traps = nil // they are not handed on
	c.vars, c.funcs = maps.Clone(st.vars), maps.Clone(st.funcs)
	return &c
}

// merge takes over what may have happened in a branch: what differs is not known
// any more.
func (l *look) merge(st, branch *state) {
	l.spend(1 + len(branch.vars)/8)
	for name, v := range branch.vars {
		for _, field := range v.fields {
			l.spend(len(field) / stepText)
		}
		if before, ok := st.vars[name]; !ok || !before.equal(v) {
			st.vars[name] = unknown()
		}
	}
	for name, body := range branch.funcs {
		st.funcs[name] = body
	}
	if len(st.traps) < maxFields {
		st.traps = append(slices.Clip(st.traps), branch.traps...)
	}
	if !st.dir.equal(branch.dir) {
		st.dir = nil
	}
	if !st.old.equal(branch.old) {
		st.old = nil
	}
	if !slices.EqualFunc(st.stack, branch.stack, folder.equal) {
		st.stack = nil
	}
}

// write adds to what goes to stdout.
func (l *look) write(st *state, t text) {
	l.spendText(len(t))
	if st.out != nil && len(*st.out) <= maxText {
		*st.out = append(*st.out, t...).bounded()
	}
}

// set gives a variable a text.
func (st *state) set(name string, t text) { st.vars[name] = value{fields: []text{t.bounded()}} }

// enter changes the folder.
func (st *state) enter(dir folder) {
	if slices.ContainsFunc(dir, func(part text) bool { return !part.known() }) {
		dir = nil
	}
	st.old, st.dir, st.maybe = st.dir, dir, nil
}

// leave goes back to the folder that the last pushd left.
func (st *state) leave() {
	if len(st.stack) == 0 {
		st.enter(nil)
		return
	}
	last := len(st.stack) - 1
	st.enter(st.stack[last])
	st.stack = st.stack[:last]
}
