package guard

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script goes through a script that a shell in this state would run.
func (l *look) script(st *state, script string) {
	l.spendText(len(script))
	if l.nested++; l.nested <= maxNested && !l.over() {
		for s := range l.statements(script) {
			if l.nested == 1 {
				l.line = int(s.Pos().Line())
			}
			l.stmt(st, s)
			if l.over() {
				break
			}
		}
	}
	l.nested--
}

// end ends a shell: what it was to run then runs.
func (l *look) end(st *state) {
	l.nested++
	for _, t := range st.traps {
		l.line = t.line
		l.program(st, t.script)
	}
	l.nested--
}

// capture is what commands write that run in a shell of their own.
func (l *look) capture(st *state, list []*syntax.Stmt) text {
	var out text
	c := l.copy(st)
	c.out = &out
	l.stmts(c, list)
	l.end(c)
	return trimmed(out)
}

func (l *look) stmts(st *state, list []*syntax.Stmt) {
	for _, s := range list {
		l.stmt(st, s)
	}
}

// stmt goes through one statement.
func (l *look) stmt(st *state, s *syntax.Stmt) {
	if l.depth++; l.depth <= maxDepth && !l.over() {
		if s.Background {
			st = l.copy(st)
		}
		in, out := st.in, st.out
		var readers []func()
		for _, r := range s.Redirs {
			if read := l.redirect(st, r); read != nil {
				readers = append(readers, read)
			}
		}
		l.command(st, s.Cmd)
		st.in, st.out = in, out
		for _, read := range readers {
			read()
		}
	}
	l.depth--
}

// redirect goes through a redirection. Where commands read what is written, it
// returns what goes through them afterwards.
func (l *look) redirect(st *state, r *syntax.Redirect) (read func()) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		st.in = l.text(st, r.Hdoc)
	case syntax.WordHdoc:
		st.in = l.text(st, r.Word)
	case syntax.RdrIn:
		st.in = text{anything}
		if sub, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok {
			st.in = l.capture(st, sub.Stmts)
		} else {
			l.text(st, r.Word)
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrInOut, syntax.RdrAll, syntax.AppAll, syntax.DplOut:
		if sub, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok && (r.N == nil || r.N.Value == "1") {
			var out text
			reader := l.copy(st)
			st.out = &out
			return func() {
				reader.in = out
				l.stmts(reader, sub.Stmts)
			}
		}
		if lit := r.Word.Lit(); r.Op == syntax.DplOut && (lit == "-" || strings.Trim(lit, "0123456789-") == "" && lit != "") {
			return nil // a number is no file
		}
		for _, to := range l.fields(st, r.Word) {
			if l.isDevice(st, to) {
				l.report(Device, deviceHint, "%s would write over a disk", l.show(text("> "), to))
			}
			if r.N == nil || r.N.Value == "1" {
				st.out = nil
			}
			if to.is("/dev/stdout") || to.is("/dev/fd/1") {
				return nil
			}
		}
	default:
		l.text(st, r.Word)
	}
	return nil
}

// command goes through the command of a statement.
func (l *look) command(st *state, cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		l.callExpr(st, c)
	case *syntax.BinaryCmd:
		l.binary(st, c)
	case *syntax.Subshell:
		inner := l.copy(st)
		l.stmts(inner, c.Stmts)
		l.end(inner)
	case *syntax.Block:
		l.stmts(st, c.Stmts)
	case *syntax.IfClause:
		l.ifClause(st, c)
	case *syntax.WhileClause:
		if endless(c) && floods(c.Do) {
			l.reportFlood()
		}
		l.condition(st, c.Cond)
		body := l.copy(st)
		l.stmts(body, c.Do)
		l.merge(st, body)
	case *syntax.ForClause:
		if endlessFor(c) && floods(c.Do) {
			l.reportFlood()
		}
		l.forClause(st, c)
	case *syntax.CaseClause:
		l.caseClause(st, c)
	case *syntax.FuncDecl:
		l.function(st, c)
	case *syntax.DeclClause:
		l.assign(st, c.Args)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			l.stmt(st, c.Stmt)
		}
	case *syntax.CoprocClause:
		if c.Stmt != nil {
			l.stmt(l.copy(st), c.Stmt)
		}
	case *syntax.TestClause:
		l.inside(st, c)
	case *syntax.ArithmCmd:
		l.inside(st, c)
	case *syntax.LetClause:
		l.inside(st, c)
	}
}

// binary goes through two commands that are joined.
func (l *look) binary(st *state, c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		l.stmt(st, c.X)
		l.decided(st, c.X)
		l.stmt(st, c.Y)
	case syntax.OrStmt:
		dir, old := st.dir, st.old
		l.stmt(st, c.X)
		l.decided(st, c.X)
		failed := l.copy(st) // what the first has looked at is known all the same
		failed.dir, failed.old = dir, old
		l.stmt(failed, c.Y)
	default:
		// What the first writes, the second reads.
		var out text
		first, second := l.copy(st), l.copy(st)
		first.out = &out
		l.stmt(first, c.X)
		second.in = out
		l.stmt(second, c.Y)
	}
}

// condition goes through the commands that a condition is made of.
func (l *look) condition(st *state, list []*syntax.Stmt) {
	l.stmts(st, list)
	if len(list) > 0 {
		l.decided(st, list[len(list)-1])
	}
}

func (l *look) ifClause(st *state, c *syntax.IfClause) {
	var branches []*state
	for ; c != nil && !l.over(); c = c.Else {
		l.condition(st, c.Cond)
		branch := l.copy(st)
		l.stmts(branch, c.Then)
		branches = append(branches, branch)
	}
	for _, branch := range branches {
		l.merge(st, branch)
	}
}

func (l *look) caseClause(st *state, c *syntax.CaseClause) {
	l.inside(st, c.Word)
	var branches []*state
	for _, item := range c.Items {
		branch := l.copy(st)
		l.stmts(branch, item.Stmts)
		branches = append(branches, branch)
	}
	for _, branch := range branches {
		l.merge(st, branch)
	}
}

// forClause goes through the body of a loop once for each word.
func (l *look) forClause(st *state, c *syntax.ForClause) {
	body := l.copy(st)
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		items := l.fields(st, loop.Items...)
		if !loop.InPos.IsValid() {
			items = st.args
		}
		for _, item := range items[:min(len(items), maxFields)] {
			if l.over() {
				break
			}
			body.set(loop.Name.Value, item)
			l.stmts(body, c.Do)
		}
	case *syntax.CStyleLoop:
		l.inside(body, loop.Init, loop.Cond, loop.Post)
		l.stmts(body, c.Do)
	}
	l.merge(st, body)
}

// callExpr goes through assignments, or a command with its words.
func (l *look) callExpr(st *state, c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		l.assign(st, c.Assigns)
		return
	}
	switch c.Args[0].Lit() {
	case "[", "test":
		for _, w := range c.Args[1:] {
			l.inside(st, w)
		}
		return
	}
	argv := l.fields(st, c.Args...)
	if len(c.Assigns) == 0 {
		l.call(st, argv)
		return
	}
	before := map[string]value{}
	for _, a := range c.Assigns {
		if v, ok := st.vars[a.Name.Value]; ok {
			before[a.Name.Value] = v
		}
	}
	l.assign(st, c.Assigns)
	l.call(st, argv)
	for _, a := range c.Assigns { // they hold for the command alone
		if v, ok := before[a.Name.Value]; ok {
			st.vars[a.Name.Value] = v
		} else {
			delete(st.vars, a.Name.Value)
		}
	}
}
