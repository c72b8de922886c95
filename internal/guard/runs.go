package guard

import (
	"slices"
	"strings"
)

// runs goes through programs that run others' text, and those that fetch it.
func (l *look) runs(st *state, name string, argv []text) bool {
	switch {
	case isOneOf(text(name), " sh bash dash ash ksh ksh93 mksh zsh fish rbash csh tcsh "):
		l.shell(st, name, argv[1:])
		return true
	case interpreted(name) != "":
		l.interpreter(st, name, argv[1:])
		return true
	}
	return l.fetches(st, name, argv[1:])
}

// shell goes through what a shell is given to run.
func (l *look) shell(st *state, name string, args []text) {
	script, stdin, strict := false, false, false
	for len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' && arg[0] != '+' {
			break
		}
		args = args[1:]
		switch {
		case arg.is("--"):
		case arg.is("--rcfile") || arg.is("--init-file"):
			args = args[min(1, len(args)):]
		case arg.hasPrefix("--"):
		default:
			script, stdin = script || arg.has('c'), stdin || arg.has('s')
			strict = strict || arg[0] == '-' && arg.has('u')
			if arg.has('o') || arg.has('O') {
				strict = strict || len(args) > 0 && args[0].is("nounset")
				args = args[min(1, len(args)):]
			}
		}
		if arg.is("--") {
			break
		}
	}
	inner := l.copy(st)
	inner.strict = inner.strict || strict
	defer l.end(inner)
	switch {
	case script && len(args) > 0:
		if inner.args = args[min(2, len(args)):]; len(args) > 1 {
			inner.name = args[1]
		}
		l.program(inner, args[0])
	case script:
	case stdin || len(args) == 0 || isStdin(args[0]):
		if inner.args = args; !stdin {
			inner.args = args[min(1, len(args)):]
		}
		inner.in = text{anything} // the rest of the script
		l.program(inner, st.in)
	case args[0].has(downloaded):
		l.runUnseen(text(name))
	default:
		l.other(st, args)
	}
}

// interpreted gives the options that hold a program, for an interpreter of
// another language than the shell's; "" is none.
func interpreted(name string) string {
	name = strings.TrimRight(name, "0123456789.")
	switch name {
	case "python", "pypy":
		return "cm"
	case "perl":
		return "eE"
	case "ruby", "lua", "luajit", "R", "Rscript", "osascript", "julia", "elixir":
		return "e"
	case "node", "nodejs", "bun":
		return "ep"
	case "php":
		return "r"
	case "tclsh", "pwsh", "deno":
		return " " // a program in a file, or on stdin
	}
	return ""
}

// interpreter looks whether an interpreter runs what comes from the network. What
// a program of another language does is not looked at.
func (l *look) interpreter(st *state, name string, args []text) {
	given := false
	if (name == "deno" || name == "bun") && len(args) > 0 && args[0].is("run") {
		args = args[1:]
	}
	for !given && len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		option := args[0]
		args = args[1:]
		switch {
		case holdsProgram(option, interpreted(name)):
			if given = true; len(args) > 0 && len(args[0]) > 0 && args[0][0] == downloaded {
				l.runUnseen(text(name))
				return
			}
		case isOneOf(option, " -W -X -I -r --require "):
			args = args[min(1, len(args)):]
		}
	}
	switch {
	case given:
	case len(args) == 0 || isStdin(args[0]):
		if st.in.has(downloaded) {
			l.runUnseen(text(name))
		}
	case args[0].has(downloaded):
		l.runUnseen(text(name))
	}
	l.other(st, args)
}

// holdsProgram tells an option behind which a program stands.
func holdsProgram(option text, letters string) bool {
	if option.hasPrefix("--") {
		return option.hasPrefix("--eval") || option.hasPrefix("--print")
	}
	return slices.ContainsFunc(option, func(r rune) bool { return strings.ContainsRune(letters, r) })
}

// fetches goes through programs that write what they get from the network.
func (l *look) fetches(st *state, name string, args []text) bool {
	switch name {
	case "curl":
		p := optionSyntax{
			short: "o:d:H:X:u:A:b:c:e:F:K:m:T:w:x:y:Y:z:Q:r:E:U:D:C:t:P:", mixed: true, long: "output= remote-name remote-name-all output-dir=",
		}.parse(args)
		if to, ok := p.value("o", "output"); ok && !isStdout(to) || p.has("O", "remote-name", "remote-name-all") {
			return true
		}
	case "wget":
		p := optionSyntax{short: "O:o:a:P:U:t:T:w:Q:e:i:B:", long: "output-document= output-file=", mixed: true}.parse(args)
		if to, ok := p.value("O", "output-document"); !ok || !isStdout(to) {
			return true
		}
	case "fetch", "aria2c":
		p := optionSyntax{short: "o:", long: "output="}.parse(args)
		if to, ok := p.value("o", "output"); !ok || !isStdout(to) {
			return true
		}
	case "http", "https", "xh", "lynx", "w3m", "links", "nc", "ncat", "netcat", "socat":
	default:
		return false
	}
	l.write(st, text{downloaded})
	return true
}

// isStdout tells a name of the standard output.
func isStdout(t text) bool { return t.is("-") || t.is("/dev/stdout") || t.is("/dev/fd/1") }
