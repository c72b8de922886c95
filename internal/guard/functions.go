package guard

import "mvdan.cc/sh/v3/syntax"

// function notes a function; what it does is looked at where it is called.
func (l *look) function(st *state, c *syntax.FuncDecl) {
	if c.Name == nil || c.Body == nil {
		return
	}
	st.funcs[c.Name.Value] = c.Body
	if b := (bomb{look: l, name: c.Name.Value, funcs: st.funcs}); b.stmt(c.Body, false) == starts {
		l.report(ForkBomb, "a function that calls itself in the background or in a pipe needs a condition that ends it",
			"the function %s starts itself again and again without end", l.show(text(c.Name.Value)))
	}
}

// reportFlood reports a loop.
func (l *look) reportFlood() {
	l.report(ForkBomb, "wait in the loop for what it starts", "a loop without end starts processes and waits for none")
}

// callFunction runs a function of the script.
func (l *look) callFunction(st *state, body *syntax.Stmt, args []text) {
	if l.nested++; l.nested <= maxNested {
		before, counted := st.args, st.counted
		st.args, st.counted = args, false
		l.stmt(st, body)
		st.args, st.counted = before, counted
	}
	l.nested--
}
