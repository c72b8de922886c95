package guard

import (
	"slices"
	"strings"
)

// findNarrowing are the tests of find that leave files out and take a value.
const findNarrowing = " -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer -anewer -cnewer -samefile -inum -links " +
	"-mtime -atime -ctime -mmin -amin -cmin -used -size -user -group -uid -gid -perm -fstype "

// findBare are tests that leave files out and take no value.
const findBare = " -empty -nouser -nogroup -executable -readable -writable -false "

// findValued are options with a value that leave nothing out.
const findValued = " -type -xtype -maxdepth -mindepth -regextype -printf -fprint -fprint0 -fls "

// A findLine is a command line of find.
type findLine struct {
	starts []text
	narrow bool // it leaves files out
	delete bool
	execs  [][]text
}

// readFind reads one. What is negated leaves out a few and takes the rest.
func readFind(args []text) findLine {
	var f findLine
	for len(args) > 0 && (args[0].is("-H") || args[0].is("-L") || args[0].is("-P")) {
		args = args[1:]
	}
	for len(args) > 0 && !args[0].hasPrefix("-") && !args[0].is("!") && !args[0].is("(") {
		f.starts, args = append(f.starts, args[0]), args[1:]
	}
	if len(f.starts) == 0 {
		f.starts = []text{text(".")}
	}
	negated := false
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg.is("!") || arg.is("-not"):
			negated = !negated
			continue
		case arg.is("-delete"):
			f.delete = true
		case arg.is("-exec") || arg.is("-execdir") || arg.is("-ok") || arg.is("-okdir"):
			end := slices.IndexFunc(args, func(t text) bool { return t.is(";") || t.is("+") })
			if end < 0 {
				end = len(args)
			}
			f.execs, args = append(f.execs, args[:end]), args[min(end+1, len(args)):]
		case isOneOf(arg, findBare):
			f.narrow = f.narrow || !negated
		case isOneOf(arg, findNarrowing) && len(args) > 0:
			f.narrow = f.narrow || !negated && narrowName(args[0])
			args = args[1:]
		case isOneOf(arg, findValued) && len(args) > 0:
			args = args[1:]
		}
		negated = false
	}
	return f
}

// narrowName tells a value of a test that not every file meets.
func narrowName(t text) bool { return !t.is("*") }

// isOneOf tells a word of a list, each of which has a space around it.
func isOneOf(t text, list string) bool {
	return t.known() && len(t) < 32 && strings.Contains(list, " "+string(t)+" ")
}

// find goes through what find removes, runs and writes.
func (l *look) find(st *state, argv []text) {
	f := readFind(argv[1:])
	found := text{anything}
	if !f.narrow {
		found = nil
		for _, start := range f.starts {
			found = append(append(found, start...), '/', star, '\n')
		}
	}
	if f.delete && !f.narrow {
		l.removes(st, argv, f.starts)
	}
	for _, command := range f.execs {
		l.forEach(st, argv, f, command)
	}
	if len(f.execs) == 0 {
		l.write(st, found)
	}
}

// forEach goes through what find runs for each file.
func (l *look) forEach(st *state, argv []text, f findLine, command []text) {
	items := []text{{anything}}
	if !f.narrow {
		items = f.starts
		// It is called for every file, so that it need not be recursive.
		if isRemover(command) {
			l.removes(st, argv, f.starts)
		}
	}
	for _, item := range items {
		run := make([]text, len(command))
		for i, word := range command {
			run[i] = replace(word, text("{}"), item)
		}
		inner := l.copy(st)
		inner.in = nil
		l.call(inner, run)
	}
}

// isRemover tells a command that removes what it is given.
func isRemover(command []text) bool {
	if len(command) == 0 {
		return false
	}
	name := command[0][lastIndex(command[0], '/')+1:]
	return name.is("rm") || name.is("unlink")
}

// replace puts a text in the place of another.
func replace(t, what, with text) text {
	var out text
	for len(t) > 0 && len(out) <= maxText {
		if len(t) >= len(what) && slices.Equal(t[:len(what)], what) {
			out, t = append(out, with...), t[len(what):]
			continue
		}
		out, t = append(out, t[0]), t[1:]
	}
	return out.bounded()
}
