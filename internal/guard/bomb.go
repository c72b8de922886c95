package guard

import "mvdan.cc/sh/v3/syntax"

// A bomb looks for a function that starts itself in further processes, whatever
// happens. One that does so under a condition, as a walk through a tree does, is
// none.
type bomb struct {
	look  *look
	name  string
	depth int
}

// An outcome is what a statement does to the question.
type outcome int

const (
	goesOn outcome = iota
	starts         // it starts the function again
	mayEnd         // it may end the function before what follows
)

// list goes through statements that follow each other.
func (b *bomb) list(list []*syntax.Stmt, forks bool) outcome {
	for _, s := range list {
		if o := b.stmt(s, forks); o != goesOn {
			return o
		}
	}
	return goesOn
}

// stmt goes through one statement; forks tells whether it runs in a process that
// nobody waits for, or beside others.
func (b *bomb) stmt(s *syntax.Stmt, forks bool) outcome {
	if b.depth++; b.depth > maxDepth || b.look.over() {
		return mayEnd
	}
	defer func() { b.depth-- }()
	forks = forks || s.Background
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return b.call(c, forks)
	case *syntax.Block:
		return b.list(c.Stmts, forks)
	case *syntax.Subshell:
		return b.list(c.Stmts, true)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return b.stmt(c.Stmt, forks)
		}
	case *syntax.CoprocClause:
		return b.stmt(c.Stmt, true)
	case *syntax.BinaryCmd:
		return b.binary(c, forks)
	case *syntax.IfClause, *syntax.CaseClause, *syntax.ForClause:
		if b.leaves(c) {
			return mayEnd
		}
	case *syntax.WhileClause:
		if endless(c) {
			return b.list(c.Do, forks)
		}
		if b.leaves(c) {
			return mayEnd
		}
	}
	return goesOn
}

func (b *bomb) call(c *syntax.CallExpr, forks bool) outcome {
	if len(c.Args) == 0 {
		return goesOn
	}
	switch name := unescape(c.Args[0].Lit(), b.name); name {
	case b.name, "$FUNCNAME":
		if forks {
			return starts
		}
		return mayEnd // it ends no more, or never did: what follows is not reached
	case "return", "exit", "exec", "break", "sleep", "read": // the last two take their time
		return mayEnd
	}
	return goesOn
}

func (b *bomb) binary(c *syntax.BinaryCmd, forks bool) outcome {
	pipe := c.Op == syntax.Pipe || c.Op == syntax.PipeAll
	first := b.stmt(c.X, forks || pipe)
	switch {
	case first != goesOn:
		return first
	case pipe:
		return b.stmt(c.Y, true)
	case b.leaves(c.Y):
		return mayEnd
	}
	return goesOn
}

// leaves tells whether something in a statement may end the function.
func (b *bomb) leaves(node syntax.Node) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			switch c.Args[0].Lit() {
			case "return", "exit", "exec":
				found = true
			}
		}
		return !found && !b.look.over()
	})
	return found
}

// endless tells a loop that ends by nothing that its condition says.
func endless(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 || c.Until {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "true" || name == ":"
}
