package guard

import (
	"slices"
	"strings"
)

// A wrapper is a program that runs another one.
type wrapper struct {
	optionSyntax
	operands int  // before the command
	env      bool // assignments may stand before the command
	// script names the option that holds a script; "" is none.
	script string
}

// wrappers are the programs that run another one.
func wrappers(name string) (w wrapper, ok bool) {
	simple := func(short, long string) (wrapper, bool) {
		return wrapper{optionSyntax: optionSyntax{short: short, long: long}}, true
	}
	switch name {
	case "sudo":
		return wrapper{optionSyntax: optionSyntax{
			short: "a:C:c:D:g:h:p:R:r:T:t:U:u:",
			long:  "user= group= chdir= host= prompt= chroot= role= type= other-user= close-from= command-timeout= preserve-env login shell stdin non-interactive set-home",
		}, env: true}, true
	case "env":
		return wrapper{optionSyntax: optionSyntax{short: "u:C:S:a:", long: "unset= chdir= split-string= argv0= ignore-environment null debug"}, env: true, script: "S"}, true
	case "timeout":
		return wrapper{optionSyntax: optionSyntax{short: "k:s:", long: "kill-after= signal= foreground preserve-status verbose"}, operands: 1}, true
	case "taskset", "chrt":
		return wrapper{operands: 1}, true
	case "gosu", "su-exec":
		return wrapper{operands: 1}, true
	case "flock":
		return wrapper{optionSyntax: optionSyntax{short: "w:E:c:", long: "timeout= conflict-exit-code= command= exclusive shared nonblock unlock close"}, operands: 1, script: "c"}, true
	case "su", "runuser", "script":
		return wrapper{optionSyntax: optionSyntax{short: "c:s:g:G:u:w:T:", long: "command= shell= group= supp-group= user= login", mixed: name != "runuser"}, script: "c"}, true
	case "doas":
		return simple("u:C:a:", "")
	case "npx", "pnpx", "bunx":
		return simple("p:w:", "package= workspace= yes no-install bun")
	case "nice":
		return simple("n:", "adjustment=")
	case "ionice":
		return simple("c:n:p:t", "class= classdata= ignore")
	case "stdbuf":
		return simple("i:o:e:", "input= output= error=")
	case "time":
		return simple("f:o:", "format= output= append portability verbose")
	case "exec":
		return simple("a:", "")
	case "strace", "ltrace":
		return simple("e:o:p:s:u:E:a:O:S:P:I:b:X:U:", "")
	case "setpriv":
		return simple("", "reuid= regid= groups= inh-caps= ambient-caps= bounding-set= securebits= clear-groups keep-groups init-groups no-new-privs reset-env")
	case "unshare", "nsenter":
		return simple("t:S:G:R:w:", "setuid= setgid= root= wd= target= map-user= map-group= map-root-user fork pid mount")
	case "command", "builtin", "nohup", "setsid", "busybox", "toybox", "fakeroot", "unbuffer", "chronic", "eatmydata", "catchsegv":
		return simple("", "")
	}
	return wrapper{}, false
}

// wrapper goes through a command that runs another one.
func (l *look) wrapper(st *state, name string, argv []text) bool {
	switch name {
	case "xargs", "parallel":
		l.xargs(st, argv)
		return true
	case "uv", "pipenv", "poetry", "pdm", "hatch", "rye", "npm", "pnpm", "yarn":
		l.runner(st, argv)
		return true
	case "watch":
		p := optionSyntax{short: "n:q:s:", long: "interval= differences color"}.parse(argv[1:])
		l.program(l.copy(st), join(p.operands, ' '))
		return true
	}
	w, ok := wrappers(name)
	if !ok {
		return false
	}
	p := w.parse(argv[1:])
	inner := st
	if name != "exec" && name != "command" && name != "builtin" {
		inner = l.copy(st)
	}
	if dir, ok := p.value("chdir", "D", "C"); ok && (name == "sudo" || name == "env") {
		inner.dir = inner.dir.resolve(dir)
	}
	if script, ok := p.value(w.script, "command", "split-string"); ok && w.script != "" {
		if name == "env" { // the words that follow belong to it
			script = join(append([]text{script}, p.operands...), ' ')
		}
		l.program(inner, script)
		return true
	}
	if name == "command" && p.has("v", "V") {
		l.write(st, append(join(p.operands, '\n'), '\n'))
		return true
	}
	rest := p.operands[min(w.operands, len(p.operands)):]
	if w.operands > 0 && w.script != "" && len(rest) > 1 && rest[0].is("-"+w.script) {
		l.program(inner, rest[1])
		return true
	}
	if name == "env" && len(rest) > 0 && rest[0].is("-") {
		rest = rest[1:] // as -i
	}
	for w.env && len(rest) > 0 {
		at := slices.Index(rest[0], '=')
		if at <= 0 || !rest[0][:at].known() {
			break
		}
		inner.set(string(rest[0][:at]), rest[0][at+1:])
		rest = rest[1:]
	}
	switch {
	case name == "su", len(rest) == 0 && name == "sudo" && p.has("s", "i", "shell", "login"):
		l.shell(inner, "sh", nil)
	case len(rest) == 0:
		l.other(st, argv)
	default:
		l.call(inner, rest)
	}
	return true
}

// runner goes through what runs a program of a project, or a Python one.
func (l *look) runner(st *state, argv []text) {
	args := optionSyntax{short: "p:C:", long: "directory= project= python= prefix= dir= cwd="}.parse(argv[1:]).operands
	if len(args) > 2 && args[1].is("--") {
		args = slices.Delete(slices.Clone(args), 1, 2)
	}
	js := isOneOf(argv[0], " npm pnpm yarn ")
	switch {
	case len(args) < 2, js && !isOneOf(args[0], " exec x dlx "), !js && !args[0].is("run"):
		l.other(st, argv)
	case isStdin(args[1]):
		l.interpreter(l.copy(st), "python", args[1:])
	default:
		l.call(l.copy(st), args[1:])
	}
}

// xargs goes through what is run with the words of stdin.
func (l *look) xargs(st *state, argv []text) {
	p := optionSyntax{
		short: "a:d:E:I:L:n:P:s:j:", long: "arg-file= delimiter= replace= max-lines= max-args= max-procs= max-chars= null no-run-if-empty verbose interactive exit jobs=",
	}.parse(argv[1:])
	items := st.in.split()
	for i, item := range items {
		items[i] = l.patterns(item)
	}
	inner := l.copy(st)
	inner.in = nil
	mark, replaces := p.value("I", "replace")
	if replaces && len(mark) == 0 {
		mark = text("{}")
	}
	if !replaces {
		l.call(inner, append(slices.Clone(p.operands), items...))
		return
	}
	for _, item := range items {
		run := make([]text, len(p.operands))
		for i, word := range p.operands {
			run[i] = replace(word, mark, item)
		}
		l.call(inner, run)
	}
}

// program goes through a text that a shell runs as a script. What came from the
// network is run where a command begins with it.
func (l *look) program(st *state, t text) {
	// What is not known of it becomes a variable of which nothing is known, and
	// what was not set one that was not.
	const stands, fetched = "belljar_unknown", "belljar_downloaded"
	var script strings.Builder
	for _, r := range t {
		switch {
		case isUnset(r):
			script.WriteString("${" + l.unset[firstUnset-r] + "}")
		case r <= firstSet:
			script.WriteString(l.setOf(r).source)
		case r == star || r == every:
			script.WriteByte('*')
		case r == loose:
		case r == anyOne:
			script.WriteByte('?')
		case r == downloaded:
			st.vars[fetched] = value{fields: []text{{downloaded}}}
			script.WriteString("${" + fetched + "}")
		case r < 0:
			st.vars[stands] = unknown()
			script.WriteString("${" + stands + "}")
		default:
			script.WriteRune(r)
		}
	}
	l.script(st, script.String())
}

// runUnseen reports what comes from the network and is run.
func (l *look) runUnseen(who text) {
	l.report(Download, "download it to a file, read it, and then run it",
		"%s would run what comes from the network, which nobody has seen", l.show(who))
}
