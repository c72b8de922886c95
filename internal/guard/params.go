package guard

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// ownVariables are variables that a shell has by itself, as nearly all environments do.
const ownVariables = " PATH LANG TERM HOSTNAME IFS UID EUID PPID RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME LINENO " +
	"SHLVL BASHPID BASH BASH_VERSION BASH_SOURCE FUNCNAME OSTYPE MACHTYPE HOSTTYPE PIPESTATUS REPLY OPTARG OPTIND BASH_REMATCH COLUMNS LINES "

// variable is what a variable holds; one that nobody set may be empty.
func (l *look) variable(st *state, name string) value {
	switch name {
	case "PWD":
		return value{fields: []text{folderText(st.dir)}}
	case "OLDPWD":
		return value{fields: []text{folderText(st.old)}}
	case "0":
		if st.name != nil {
			return value{fields: []text{st.name}}
		}
	case "SHELL":
		if _, ok := st.vars[name]; !ok {
			return value{fields: []text{text("/bin/bash")}}
		}
	case "USER", "LOGNAME":
		if _, ok := st.vars[name]; !ok {
			return value{fields: []text{l.user()}}
		}
	case "@", "*":
		return value{fields: st.args, array: true}
	case "#", "?", "-", "$", "!", "_":
		return unknown()
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n < 1: // the name of the shell
			return unknown()
		case n <= len(st.args):
			return value{fields: st.args[n-1 : n]}
		}
	} else if v, ok := st.vars[name]; ok {
		return v
	}
	if _, err := strconv.Atoi(name); err == nil && st.counted {
		return unknown()
	}
	if st.strict || len(name) > maxName || isOneOf(text(name), ownVariables) {
		return unknown()
	}
	return value{fields: []text{{l.unsetMark(name)}}}
}

// user is the name of who runs the script, as the home folder has it.
func (l *look) user() text {
	if home := folderOf(l.place.Home); len(home) > 0 {
		return home[len(home)-1]
	}
	return text{anything}
}

// empty tells a value that is empty, or was never set.
func (v value) empty() bool {
	return !slices.ContainsFunc(v.fields, func(t text) bool { return len(t.filled()) > 0 })
}

// param is what an expansion of a parameter comes to.
func (l *look) param(st *state, p *syntax.ParamExp) value {
	if p.Param == nil {
		return unknown()
	}
	name := p.Param.Value
	if p.Index != nil {
		l.inside(st, p.Index)
	}
	v := l.variable(st, name)
	switch {
	case p.Excl && p.Names == 0 && p.Exp == nil:
		if t, ok := v.single(); ok && syntax.ValidName(string(t)) {
			return l.variable(st, string(t))
		}
		return unknown()
	case p.Excl || p.Length || p.Width || p.IsSet || p.Names != 0:
		return unknown()
	case p.Slice != nil:
		return l.sliced(v, p.Slice)
	case p.Repl != nil:
		return l.replaced(st, v, p.Repl)
	case p.Exp != nil:
		return l.expanded(st, p.Exp, name, v)
	}
	index, ok := p.Index.(*syntax.Word)
	switch {
	case p.Index == nil && v.array && name != "@" && name != "*" && len(v.fields) > 0:
		return value{fields: v.fields[:1]} // an array's name is its first element
	case p.Index == nil, ok && (index.Lit() == "@" || index.Lit() == "*"):
		return v
	case ok && v.array:
		if n, err := strconv.Atoi(index.Lit()); err == nil && n >= 0 && n < len(v.fields) {
			return value{fields: v.fields[n : n+1]}
		}
	}
	return unknown()
}

// inside goes through what a part of the syntax holds that is not a command: the
// commands in it, and the variables, of which something is known from then on.
func (l *look) inside(st *state, nodes ...syntax.Node) {
	for _, node := range nodes {
		if node == nil || l.over() {
			continue
		}
		syntax.Walk(node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				l.capture(st, n.Stmts)
				return false
			case *syntax.ProcSubst:
				l.capture(st, n.Stmts)
				return false
			case *syntax.ParamExp:
				if n.Param != nil {
					l.tell(st, n.Param.Value)
				}
			case *syntax.Word:
				// The name of a variable in arithmetic.
				if name := n.Lit(); name != "" && syntax.ValidName(name) {
					l.tell(st, name)
				}
			}
			return !l.over()
		})
	}
}
