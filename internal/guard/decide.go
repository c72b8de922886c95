package guard

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// plainCommands are those whose end says nothing about what they are given.
const plainCommands = " echo printf cd pushd popd mkdir rm rmdir touch ls chmod chown cp mv ln true : set export sleep "

// decided goes through a command that others run after, or do not: what it looks at
// of what goes through a loop it leaves some of, and takes others.
func (l *look) decided(st *state, s *syntax.Stmt) {
	for s != nil {
		c, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || c.Op != syntax.AndStmt && c.Op != syntax.OrStmt {
			break
		}
		s = c.Y // what stands before has been gone through
	}
	if s == nil || !decides(s) {
		return
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		if exp, ok := n.(*syntax.ParamExp); ok && exp.Param != nil {
			l.doubt(st, exp.Param.Value)
		}
		return !l.over()
	})
}

// decides tells whether the end of a command may say something about its words.
func decides(s *syntax.Stmt) bool {
	for {
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			return len(c.Args) > 0 && !isOneOf(text(c.Args[0].Lit()), plainCommands)
		case *syntax.BinaryCmd:
			s = c.Y // the last of a pipe
		case *syntax.Block:
			if len(c.Stmts) == 0 {
				return false
			}
			s = c.Stmts[len(c.Stmts)-1]
		case *syntax.Subshell:
			if len(c.Stmts) == 0 {
				return false
			}
			s = c.Stmts[len(c.Stmts)-1]
		default:
			return false
		}
	}
}

// doubt notes that a variable may hold some of what it held, and what it was made
// from as well.
func (l *look) doubt(st *state, name string) {
	if n, err := strconv.Atoi(name); err == nil {
		if n >= 1 && n <= len(st.args) && !st.args[n-1].known() {
			st.args = slices.Clone(st.args)
			st.args[n-1] = text{anything}
		}
		return
	}
	v, ok := st.vars[name]
	if !ok || !slices.ContainsFunc(v.fields, func(t text) bool { return !t.known() && !t.has(downloaded) }) && len(v.from) == 0 {
		return
	}
	st.vars[name] = unknown()
	for _, other := range v.from {
		l.doubt(st, other)
	}
}

// tell notes that the script has looked at a variable: it may be empty no more,
// nor any name that there is, for the script knows better.
func (l *look) tell(st *state, name string) {
	if n, err := strconv.Atoi(name); err == nil || name == "#" {
		if name == "#" || n > len(st.args) {
			st.counted = true
		}
		l.doubt(st, name)
		return
	}
	if _, ok := st.vars[name]; !ok {
		st.vars[name] = unknown()
	}
	l.doubt(st, name)
}

// madeFrom gives the variables that a value comes from.
func (l *look) madeFrom(w *syntax.Word) []string {
	var names []string
	if w == nil || len(w.Parts) == 1 && w.Lit() != "" {
		return nil
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		if exp, ok := n.(*syntax.ParamExp); ok && exp.Param != nil && len(names) < maxFields {
			names = append(names, exp.Param.Value)
		}
		return !l.over()
	})
	return names
}
