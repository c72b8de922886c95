package guard

import (
	"slices"
	"strings"
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
		l.changeDir(st, optionSyntax{short: "LPe@n"}.parse(args).operands)
	case "popd":
		st.enter(nil)
	case "eval":
		t := join(args, ' ')
		l.program(st, t)
		st.strict = st.strict || !t.known()
	case "source", ".":
		l.source(st, args)
	case "trap":
		if p := (optionSyntax{short: "lpP"}).parse(args); len(p.operands) > 1 {
			l.program(l.copy(st), p.operands[0])
		}
	case "set":
		l.set(st, args)
	case "shift":
		st.args = st.args[min(len(st.args), 1):]
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

// read sets variables to what comes on stdin, a line of which stands for all.
func (l *look) read(st *state, name string, args []text) {
	v := unknown()
	if line := st.in.split(); name != "getopts" && len(line) > 0 && !line[0].known() {
		v = value{fields: line[:1]}
	}
	for _, arg := range args {
		if arg.known() && !arg.hasPrefix("-") {
			st.vars[string(arg)] = v
		}
	}
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

// writes is what commands write that are known to write it.
func (l *look) writes(st *state, name string, argv []text) {
	args := argv[1:]
	operands := func(short string) []text { return optionSyntax{short: short, mixed: true}.parse(args).operands }
	switch name {
	case "echo":
		l.write(st, append(echoed(args), '\n'))
	case "printf":
		l.printf(st, args)
	case "cat", "tee", "sort", "uniq", "tac":
		if list := operands(""); name == "tee" || len(list) == 0 || isStdin(list[0]) {
			l.write(st, st.in)
			return
		}
		l.other(st, argv)
	case "head", "tail":
		if list := operands("n:c:"); len(list) == 0 || isStdin(list[0]) {
			l.write(st, st.in.part())
			return
		}
		l.other(st, argv)
	case "pwd":
		l.write(st, folderText(st.dir))
	case "realpath", "readlink":
		if list := operands(""); len(list) == 1 {
			l.write(st, folderText(st.dir.resolve(list[0])))
			return
		}
		l.other(st, argv)
	case "dirname":
		if list := operands(""); len(list) == 1 && list[0].known() && lastIndex(list[0], '/') >= 0 {
			l.write(st, list[0][:max(lastIndex(list[0], '/'), 1)])
			return
		}
		l.other(st, argv)
	case "which":
		l.write(st, append(join(operands(""), '\n'), '\n'))
	case "whoami":
		l.write(st, append(slices.Clone(l.user()), '\n'))
	case "ls":
		l.list(st, argv)
	default:
		l.other(st, argv)
	}
}

// list is what ls writes: the names in the folder, where it lists that one.
func (l *look) list(st *state, argv []text) {
	p := optionSyntax{short: "I:w:T:", long: "ignore= hide= width=", mixed: true}.parse(argv[1:])
	names := slices.DeleteFunc(slices.Clone(p.operands), func(t text) bool { return t.has(loose) })
	switch {
	case p.has("I", "B", "ignore", "hide", "ignore-backups"):
		l.other(st, argv)
	case p.has("d", "directory") && len(names) > 0:
		l.write(st, append(join(names, '\n'), '\n'))
	case len(names) == 0:
		l.write(st, append(slices.Clip(join(p.operands, ' ')), star, '\n'))
	case len(names) == 1 && st.dir != nil && st.dir.equal(st.dir.resolve(names[0])):
		l.write(st, text{star, '\n'})
	default:
		l.other(st, argv)
	}
}

// echoed is what echo writes.
func echoed(args []text) text {
	escapes := false
	for len(args) > 0 && len(args[0]) > 1 && args[0].known() && strings.Trim(string(args[0]), "neE") == "-" {
		escapes = escapes || args[0].has('e')
		args = args[1:]
	}
	out := join(args, ' ')
	if escapes {
		out = lines(out)
	}
	return out
}

// lines reads the escape for the end of a line.
func lines(t text) text {
	out := make(text, 0, len(t))
	for i := 0; i < len(t); i++ {
		if t[i] == '\\' && i+1 < len(t) && t[i+1] == 'n' {
			out = append(out, '\n')
			i++
			continue
		}
		out = append(out, t[i])
	}
	return out
}

// printf is what printf writes, for the formats that texts are handed on with.
func (l *look) printf(st *state, args []text) {
	switch {
	case len(args) > 2 && args[0].is("-v"):
		if args[1].known() {
			st.vars[string(args[1])] = unknown()
		}
	case len(args) == 0:
	case !args[0].has('%'):
		l.write(st, lines(args[0]))
	case args[0].is("%s") || args[0].is(`%s\n`) || args[0].is(`%b\n`) || args[0].is("%b") || args[0].is(`%s\0`):
		l.write(st, append(join(args[1:], '\n'), '\n'))
	default:
		l.other(st, append([]text{text("printf")}, args...))
	}
}
