package guard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A bomb looks for a function that starts itself in further processes, whatever
// happens, by itself or by another that it calls. One that does so under a
// condition, as a walk through a tree does, is none.
type bomb struct {
	look  *look
	name  string
	funcs map[string]*syntax.Stmt
	in    []string // the other functions that it is in
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
	case *syntax.IfClause, *syntax.CaseClause:
		if b.leaves(c) {
			return mayEnd
		}
	case *syntax.ForClause:
		if runsAtAll(c) {
			return b.list(c.Do, forks)
		}
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
		return goesOn // it may end, where nothing after it says so
	case "return", "exit", "exec", "break", "sleep", "read": // the last two take their time
		return mayEnd
	default:
		return b.called(name, forks)
	}
}

// called goes through another function of the script.
func (b *bomb) called(name string, forks bool) outcome {
	body := b.funcs[name]
	if body == nil || slices.Contains(b.in, name) || len(b.in) > maxNested {
		return goesOn
	}
	b.in = append(b.in, name)
	o := b.stmt(body, forks)
	b.in = b.in[:len(b.in)-1]
	return o
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
	if len(c.Cond) != 1 {
		return false
	}
	holds, plain := plainTruth(c.Cond[0])
	return plain && holds != c.Until
}

// plainTruth is what a condition comes to, where it is always the same.
func plainTruth(s *syntax.Stmt) (holds, plain bool) {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return false, false
		}
		switch c.Args[0].Lit() {
		case "true", ":":
			holds, plain = true, true
		case "false":
			plain = true
		case "[":
			holds, plain = len(c.Args) == 3 && c.Args[1].Lit() != "", len(c.Args) == 3 && c.Args[1].Lit() != ""
		case "test":
			holds, plain = len(c.Args) == 2 && c.Args[1].Lit() != "", len(c.Args) == 2 && c.Args[1].Lit() != ""
		}
	case *syntax.TestClause:
		w, ok := c.X.(*syntax.Word)
		holds, plain = ok && w.Lit() != "", ok && w.Lit() != ""
	case *syntax.ArithmCmd:
		n, ok := literalNumber(c.X)
		holds, plain = ok && n != 0, ok
	}
	return holds != s.Negated, plain
}

// runsAtAll tells a loop whose commands run once at least: over words that stand
// there, or without a condition.
func runsAtAll(c *syntax.ForClause) bool {
	switch loop := c.Loop.(type) {
	case *syntax.CStyleLoop:
		return endlessFor(c)
	case *syntax.WordIter:
		return slices.ContainsFunc(loop.Items, func(w *syntax.Word) bool {
			return w.Lit() != "" && !strings.ContainsAny(w.Lit(), "*?[")
		})
	}
	return false
}

// endlessFor tells a loop that has no condition.
func endlessFor(c *syntax.ForClause) bool {
	loop, ok := c.Loop.(*syntax.CStyleLoop)
	return ok && loop.Cond == nil
}

// floods tells the commands of a loop that all start a process that nobody waits
// for.
func floods(list []*syntax.Stmt) bool {
	return !slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return !s.Background })
}
