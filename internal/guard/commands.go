package guard

import (
	"slices"
	"strconv"
)

// call goes through one command with its words.
func (l *look) call(st *state, argv []text) {
	// A word that comes to nothing is none; one that is not known may be a word
	// before the command, such as sudo.
	for len(argv) > 0 && (len(argv[0].filled()) == 0 || argv[0].is("!") || len(argv) > 1 && slices.Equal(argv[0], text{anything})) {
		argv = argv[1:]
	}
	if len(argv) == 0 || l.over() {
		return
	}
	path := argv[0].filled()
	if path[0] == downloaded {
		l.runUnseen(text("the shell"))
		return
	}
	if i := lastIndex(path, '/'); i >= 0 {
		path = path[i+1:]
	}
	if !path.known() || len(path) > 64 {
		l.other(st, argv)
		return
	}
	name := string(path)
	if body, ok := st.funcs[name]; ok {
		l.callFunction(st, body, argv[1:])
		return
	}
	if l.wrapper(st, name, argv) || l.builtin(st, name, argv) || l.harm(st, name, argv) || l.runs(st, name, argv) {
		return
	}
	l.writes(st, name, argv)
}

func lastIndex(t text, r rune) int {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i] == r {
			return i
		}
	}
	return -1
}

// other is a command of which nothing is known. What comes from the network goes
// through it.
func (l *look) other(st *state, argv []text) {
	if st.in.has(downloaded) || slices.ContainsFunc(argv, func(t text) bool { return t.has(downloaded) }) {
		l.write(st, text{downloaded})
		return
	}
	l.write(st, text{anything, '\n'})
}

// builtin goes through what changes the shell itself.
func (l *look) builtin(st *state, name string, argv []text) bool {
	args := argv[1:]
	switch name {
	case "cd", "pushd":
		if name == "pushd" && len(st.stack) < maxFields {
			st.stack = append(slices.Clip(st.stack), st.dir)
		}
		l.changeDir(st, optionSyntax{short: "LPe@n"}.parse(args).operands)
	case "popd":
		st.leave()
	case "eval":
		t := join(args, ' ')
		l.program(st, t)
		st.strict = st.strict || !t.known()
	case "source", ".":
		l.source(st, args)
	case "trap":
		if p := (optionSyntax{short: "lpP"}).parse(args); len(p.operands) > 1 {
			if len(st.traps) < maxFields {
				st.traps = append(slices.Clip(st.traps), trap{p.operands[0], l.line})
			}
		}
	case "set":
		l.set(st, args)
	case "shift":
		n := 1
		if len(args) > 0 && args[0].known() {
			n, _ = strconv.Atoi(string(args[0])) // of what is no number none goes
		}
		st.args = st.args[min(len(st.args), max(n, 0)):]
	case "unset":
		for _, arg := range args {
			if arg.known() {
				delete(st.vars, string(arg))
			}
		}
	case "read", "mapfile", "readarray", "getopts":
		l.read(st, name, args)
	default:
		return false
	}
	return true
}

// read sets variables to what comes on stdin. A line of which not all is known
// stands for all lines, and of several that are known nobody says which it is.
func (l *look) read(st *state, name string, args []text) {
	short := "d:n:s:O:u:c:C:" // of mapfile
	if name == "read" {
		short = "a:d:i:n:N:p:t:u:"
	}
	p := optionSyntax{short: short}.parse(args)
	names := slices.DeleteFunc(p.operands, func(t text) bool { return !t.known() })
	if array, ok := p.value("a"); ok && name == "read" && array.known() {
		names = []text{array}
	}
	line := st.in.split()
	if name != "read" && slices.Index(trimmed(st.in), '\n') < 0 {
		line = []text{trimmed(st.in)}
	}
	for i, variable := range names {
		v := unknown()
		switch {
		case name == "getopts" || len(line) == 0:
		case name != "read" || p.has("a"):
			v = value{fields: line, array: true}
		case !line[0].known():
			v = value{fields: line[:1]}
		case slices.Index(trimmed(st.in), '\n') < 0 && i < len(line):
			v = value{fields: line[i : i+1]}
			if i == len(names)-1 { // the last takes what is left
				v = value{fields: []text{join(line[i:], ' ')}}
			}
		}
		st.vars[string(variable)] = v
	}
}

// trimmed is a text without the ends of lines at its end.
func trimmed(t text) text {
	for len(t) > 0 && t[len(t)-1] == '\n' {
		t = t[:len(t)-1]
	}
	return t
}

// changeDir changes the folder.
func (l *look) changeDir(st *state, operands []text) {
	to := text("")
	if len(operands) > 0 {
		to = operands[0]
	}
	switch {
	case len(operands) == 0, to.has(loose):
		st.enter(st.dir.resolve(l.plain(st, "HOME")))
	case to.is("-"):
		st.enter(st.old)
	case len(to.filled()) == 0: // it stays where it is
		st.enter(st.dir)
	default:
		st.enter(st.dir.resolve(to))
	}
	if _, maybe := l.unsetIn(to); maybe {
		st.maybe = to
	}
}

// set reads options of the shell, and the positional parameters.
func (l *look) set(st *state, args []text) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg.is("--"):
			st.args = args[i+1:]
			return
		case arg.is("-o") || arg.is("+o"):
			if i++; i < len(args) && args[i].is("nounset") {
				st.strict = arg.is("-o")
			}
		case arg.hasPrefix("-") || arg.hasPrefix("+"):
			if arg.has('u') {
				st.strict = arg[0] == '-'
			}
			if arg.has('o') && i+1 < len(args) {
				if i++; args[i].is("nounset") {
					st.strict = true
				}
			}
		default:
			st.args = args[i:]
			return
		}
	}
}

// source reads a script into the same shell.
func (l *look) source(st *state, args []text) {
	switch {
	case len(args) == 0:
	case args[0].has(downloaded):
		l.runUnseen(args[0])
	case isStdin(args[0]):
		l.program(st, st.in)
	default:
		st.strict = true // it may set any variable
	}
}

// isStdin tells a name of the standard input.
func isStdin(t text) bool {
	return t.is("-") || t.is("/dev/stdin") || t.is("/dev/fd/0") || t.is("/proc/self/fd/0")
}
