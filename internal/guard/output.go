package guard

import (
	"slices"
	"strings"
)

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
	escaped := false
	for len(args) > 0 && len(args[0]) > 1 && args[0].known() && strings.Trim(string(args[0]), "neE") == "-" {
		escaped = escaped || args[0].has('e')
		args = args[1:]
	}
	out := join(args, ' ')
	if escaped {
		out = escapes(out)
	}
	return out
}

// printf is what printf writes, for the formats that texts are handed on with. As
// long as there are arguments the format is gone through again.
func (l *look) printf(st *state, args []text) {
	if len(args) > 2 && args[0].is("-v") {
		if args[1].known() {
			v := unknown()
			if t, ok := l.formatted(args[2:]); ok {
				v = value{fields: []text{t}}
			}
			st.vars[string(args[1])] = v
		}
		return
	}
	if t, ok := l.formatted(args); ok {
		l.write(st, t)
		return
	}
	l.other(st, append([]text{text("printf")}, args...))
}

// formatted is what a format and arguments come to; ok is whether that is known.
func (l *look) formatted(args []text) (out text, ok bool) {
	if len(args) > 0 && args[0].is("--") {
		args = args[1:]
	}
	if len(args) == 0 {
		return nil, true
	}
	format, args := escapes(args[0]), args[1:]
	for len(out) <= maxText && !l.spend(1+len(format)/stepText) {
		left := len(args)
		for i := 0; i < len(format); i++ {
			if format[i] != '%' {
				out = append(out, format[i])
				continue
			}
			if i++; i == len(format) {
				return nil, false
			}
			switch format[i] {
			case '%':
				out = append(out, '%')
			case 's', 'b', 'q':
				if len(args) > 0 {
					out, args = append(out, args[0]...), args[1:]
				}
			default:
				return nil, false
			}
		}
		if len(args) == 0 || len(args) == left {
			break
		}
	}
	return out.bounded(), true
}
