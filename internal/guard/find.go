package guard

import (
	"slices"
	"strings"
)

// findNarrowing are the tests of find that leave files out and take a value.
const findNarrowing = " -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer -anewer -cnewer -samefile -inum -links " +
	"-mtime -atime -ctime -mmin -amin -cmin -used -size -user -group -uid -gid -perm -fstype -context "

// findBare are tests that leave files out and take no value.
const findBare = " -empty -nouser -nogroup -executable -readable -writable -false "

// fewNames are names of hardly any files of a project's.
const fewNames = " . .. .git ./.git ./.git/* */.git */.git/* .git/* "

// findValued are options with a value that leave nothing out.
const findValued = " -maxdepth -mindepth -regextype -printf -fprint -fprint0 -fls "

// always are programs that do not fail, so that find goes on behind them with all.
const always = " echo printf true ls cat chmod chown touch rm "

// A findLine is a command line of find.
type findLine struct {
	starts  []text
	actions []findAction
	narrow  bool // it leaves files out
	// name is the one that the files have; nil is any.
	name text
	// below: the folders that it starts in are left out, with what is in them.
	below bool
	// shallow: only what is in them is taken, and files: no folders.
	shallow, files bool
	// told: a test was about more than names that are hardly files of a project's.
	told   bool
	groups []findGroup // those that are open, in parentheses
}

// leaves tells whether it leaves files out. Nothing that is in a folder goes with
// the files beside it.
func (f *findLine) leaves() bool { return f.narrow || f.shallow && f.files }

// A findAction is done with the files that the tests before it leave.
type findAction struct {
	command []text // nil is a removal
	narrow  bool
	name    text
}

// readFind reads one.
func readFind(args []text) findLine {
	var f findLine
	for len(args) > 0 && (args[0].is("-H") || args[0].is("-L") || args[0].is("-P")) {
		args = args[1:]
	}
	empty := text(nil) // variables that nobody set, as the folder
	for len(args) > 0 && !args[0].hasPrefix("-") && !args[0].is("!") && !args[0].is("(") {
		if args[0].has(loose) {
			empty = args[0]
		} else {
			f.starts = append(f.starts, args[0])
		}
		args = args[1:]
	}
	if len(f.starts) == 0 {
		f.starts = []text{append(slices.Clip(empty), '.')}
	}
	for len(args) > 0 {
		negated := false
		for len(args) > 0 && (args[0].is("!") || args[0].is("-not")) {
			negated, args = !negated, args[1:]
		}
		if len(args) == 0 {
			break
		}
		if !f.joins(args[0], negated) {
			args = f.read(args[0], args[1:], negated)
			continue
		}
		args = args[1:]
	}
	return f
}

// read reads one test or action with its value.
func (f *findLine) read(arg text, args []text, negated bool) []text {
	switch {
	case arg.is("-delete"):
		f.actions = append(f.actions, findAction{narrow: f.narrow || f.shallow, name: f.name}) // it takes no folder with something in it
	case arg.is("-exec") || arg.is("-execdir") || arg.is("-ok") || arg.is("-okdir"):
		end := slices.IndexFunc(args, func(t text) bool { return t.is(";") || t.is("+") })
		if end < 0 {
			end = len(args)
		}
		command := args[:end:end]
		if len(command) > 0 {
			f.actions = append(f.actions, findAction{command, f.leaves(), f.name})
			// What a program says decides about what follows.
			decides := end < len(args) && args[end].is(";") && !isOneOf(command[0], always)
			f.narrow, f.told = f.narrow || decides, f.told || decides
		}
		return args[min(end+1, len(args)):]
	case isOneOf(arg, findBare):
		f.narrow, f.told = f.narrow || !negated, true
	case (isOneOf(arg, findNarrowing) || arg.hasPrefix("-newer")) && len(args) > 0:
		f.test(arg, args[0], negated)
		return args[1:]
	case (arg.is("-type") || arg.is("-xtype")) && len(args) > 0:
		few := arg.is("-xtype") || !args[0].is("f") && !args[0].is("d") && !args[0].has(',')
		f.narrow, f.files = f.narrow || few != negated, f.files || args[0].is("f")
		f.told = f.told || few
		return args[1:]
	case isOneOf(arg, findValued) && len(args) > 0:
		top := args[0].is("0") || args[0].is("1")
		f.below, f.shallow = f.below || arg.is("-mindepth") && !top, f.shallow || arg.is("-maxdepth") && top
		return args[1:]
	}
	return args
}

// test reads a test that leaves files out. Negated it leaves out but a few where it
// is about names that are hardly files of a project's.
func (f *findLine) test(name, of text, negated bool) {
	isName := name.is("-name") || name.is("-path") || name.is("-wholename") || name.is("-iname")
	switch {
	case negated && isName && isOneOf(of, fewNames):
	case !negated && isName && of.is("*"):
	default:
		f.narrow, f.told = true, f.told || !isName || !isOneOf(of, fewNames)
		if name.is("-name") && !negated {
			f.name = of
		}
	}
}

// isOneOf tells a word of a list, each of which has a space around it.
func isOneOf(t text, list string) bool {
	return t.known() && len(t) < 32 && strings.Contains(list, " "+string(t)+" ")
}

// find goes through what find removes, runs and writes.
func (l *look) find(st *state, argv []text) {
	f := readFind(argv[1:])
	for _, action := range f.actions {
		switch {
		case action.command != nil:
			l.forEach(st, f, action)
		case !action.narrow:
			l.removes(st, argv, f.starts)
		}
	}
	if !slices.ContainsFunc(f.actions, func(a findAction) bool { return a.command != nil }) {
		l.write(st, append(join(l.finds(f, f.leaves(), f.name), '\n'), '\n'))
	}
}

// finds is what find finds: all files of the folders, or some of which no more may
// be known than their name, such as .git.
func (l *look) finds(f findLine, narrow bool, name text) []text {
	if narrow && (name == nil || f.below) {
		return []text{{anything}}
	}
	mark := text{every}
	var list []text
	if f.shallow {
		mark = text{star}
	}
	if narrow {
		mark, list = l.patterns(name), []text{{anything}}
	}
	for _, start := range f.starts {
		list = append(list, slices.Concat(start, text("/"), mark))
	}
	return list
}

// forEach goes through what find runs for each file.
func (l *look) forEach(st *state, f findLine, action findAction) {
	for _, item := range l.finds(f, action.narrow, action.name) {
		run := make([]text, len(action.command))
		for i, word := range action.command {
			run[i] = replace(word, text("{}"), item)
		}
		inner := l.copy(st)
		inner.in = nil
		l.call(inner, run)
	}
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
