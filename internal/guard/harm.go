package guard

import (
	"fmt"
	"slices"
	"strings"
)

// What is said beside a finding.
const (
	removalHint = "name exactly what is to go, one by one, below the folder"
	unsetHint   = `variables do not last from one command to the next: set %[1]s in this script, or write "${%[1]s:?}", which stops where it is empty`
	systemHint  = "name the files that need it"
	deviceHint  = "use a file for an image of a disk"
	shredHint   = "rm removes a file"
	cleanHint   = "git clean -n shows what would go; name the paths after --"
)

// harm goes through commands that remove and change.
func (l *look) harm(st *state, name string, argv []text) bool {
	args := argv[1:]
	switch name {
	case "rm":
		p := optionSyntax{
			short: "dfirRvI", mixed: true,
			long: "force interactive one-file-system no-preserve-root preserve-root recursive dir verbose help version",
		}.parse(args)
		switch {
		case asks(p): // by itself
		case p.has("r", "R", "recursive"):
			l.removes(st, argv, p.operands)
		default:
			l.removes(st, argv, allFiles(p.operands))
		}
	case "unlink":
		l.removes(st, argv, allFiles(args))
	case "rimraf":
		l.removes(st, argv, optionSyntax{mixed: true}.parse(args).operands)
	case "rsync":
		l.rsync(st, argv)
	case "find":
		l.find(st, argv)
	case "git":
		l.git(st, argv)
	case "chmod", "chown", "chgrp":
		p := optionSyntax{
			short: "cfvRhHLP", mixed: true,
			long: "changes silent quiet verbose recursive reference= from= preserve-root no-preserve-root dereference no-dereference",
		}.parse(args)
		if p.has("R", "recursive") {
			l.permits(st, argv, p.operands)
		} else {
			l.permits(st, argv, allFiles(p.operands))
		}
	case "dd":
		for _, arg := range args {
			if arg.hasPrefix("of=") && l.isDevice(st, arg[len("of="):]) {
				l.report(Device, deviceHint, "%s would write over a disk", l.show(argv...))
			}
		}
		l.other(st, argv)
	case "cp", "mv", "install", "tee":
		if n := len(args); n > 0 && (l.isDevice(st, args[n-1]) || name == "tee" && slices.ContainsFunc(args, func(t text) bool { return l.isDevice(st, t) })) {
			l.report(Device, deviceHint, "%s would write over a disk", l.show(argv...))
		}
		return false
	case "shred":
		p := optionSyntax{short: "fn:s:uvxz", long: "force iterations= random-source= size= remove verbose exact zero help version", mixed: true}.parse(args)
		if len(p.operands) > 0 && !p.has("help", "version") {
			l.report(Device, shredHint, "%s would destroy what it names for good", l.show(argv...))
		}
	default:
		return l.formats(st, name, argv)
	}
	return true
}

// formats goes through programs that make a file system, or wipe one away.
func (l *look) formats(st *state, name string, argv []text) bool {
	args := argv[1:]
	switch {
	case name == "mkfs" || strings.HasPrefix(name, "mkfs.") || name == "mke2fs" || name == "mkswap" || name == "mkdosfs" || name == "mkntfs":
	case name == "wipefs" || name == "blkdiscard":
	case name == "sfdisk" || name == "sgdisk" || name == "parted" || name == "pvcreate":
		return l.parts(st, argv)
	default:
		return false
	}
	p := optionSyntax{long: "help version all force", mixed: true}.parse(args)
	last := len(p.operands) - 1
	switch {
	case p.has("help", "version", "h", "V") && last < 0:
	case name == "wipefs" && !p.has("a", "all"):
	case last < 0, !p.operands[last].known(), slices.ContainsFunc(p.operands, func(t text) bool { return l.isDevice(st, t) }):
		l.report(Device, deviceHint, "%s would write over a disk", l.show(argv...))
	}
	return true
}

// parts goes through programs that divide a disk anew, or show how it is divided.
func (l *look) parts(st *state, argv []text) bool {
	p := optionSyntax{long: "list print dump help version", mixed: true}.parse(argv[1:])
	isPrint := func(t text) bool { return t.is("print") }
	if p.has("l", "p", "d", "list", "print", "dump") || slices.ContainsFunc(p.operands, isPrint) {
		return true
	}
	if slices.ContainsFunc(p.operands, func(t text) bool { return l.isDevice(st, t) }) {
		l.report(Device, deviceHint, "%s would write over a disk", l.show(argv...))
	}
	return true
}

// removes finds what is removed with all that is in it.
func (l *look) removes(st *state, argv, targets []text) {
	for _, target := range targets {
		g, ok := l.takes(st.dir.resolve(target))
		if !ok {
			continue
		}
		if name, maybe := l.unsetWith(st, target); maybe {
			l.report(Removal, fmt.Sprintf(unsetHint, name),
				"%s would remove %s where %s is empty, and this script does not set it", l.show(argv...), g.what, name)
			return
		}
		l.report(Removal, removalHint, "%s would remove %s", l.show(argv...), g.what)
		return
	}
}

// unsetWith names a variable that was not set and that a path depends on, or the
// folder that it starts in.
func (l *look) unsetWith(st *state, target text) (name string, ok bool) {
	if name, ok = l.unsetIn(target); !ok && len(target) > 0 && target[0] != '/' {
		name, ok = l.unsetIn(st.maybe)
	}
	return name, ok
}

// asks tells whether rm asks before it removes: what was said last holds.
func asks(p parsed) bool {
	for _, o := range slices.Backward(p.options) {
		switch o.name {
		case "i", "I", "interactive":
			return true
		case "f", "force":
			return false
		}
	}
	return false
}

// allFiles gives the targets that stand for all files in a folder, however deep, of
// which nothing is left where each is removed by itself.
func allFiles(targets []text) []text {
	return slices.DeleteFunc(slices.Clone(targets), func(t text) bool { return !t.has(every) })
}

// rsync finds what is removed because it is not in another place.
func (l *look) rsync(st *state, argv []text) {
	p := optionSyntax{short: "e:f:B:M:T:", long: "delete delete-before delete-during delete-after delete-excluded dry-run list-only rsh= exclude= include= filter=", mixed: true}.parse(argv[1:])
	n := len(p.operands)
	if n < 2 || p.has("n", "dry-run", "list-only") {
		return
	}
	for _, o := range p.options {
		if strings.HasPrefix(o.name, "del") {
			l.removes(st, argv, p.operands[n-1:])
			return
		}
	}
}

// permits finds what permissions or owners are changed of the system.
func (l *look) permits(st *state, argv, targets []text) {
	for _, target := range targets {
		if g, ok := l.takes(st.dir.resolve(target)); ok && g.system {
			l.report(Permissions, systemHint, "%s would change the permissions of %s", l.show(argv...), g.what)
			return
		}
	}
}

// disks tells the devices that hold file systems, or memory, by how their names begin.
func disks(name text) bool {
	for _, start := range [...]string{
		"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "md", "dm-", "mapper", "disk", "sr", "scd", "nbd", "zram", "ram", "block", "mtd", "ubi",
		"pmem", "dasd", "rbd", "drbd", "bcache", "zd", "zvol", "vg", "fd0", "fd1", "mem", "kmem", "port", "rdisk", "root",
	} {
		if name.hasPrefix(start) {
			return true
		}
	}
	return false
}

// isDevice tells a path that names a disk, or may, and not a terminal or another
// device that nothing is kept on.
func (l *look) isDevice(st *state, t text) bool {
	t = slices.Clone(t)
	for i, r := range t {
		if isUnset(r) {
			t[i] = anything // a name is meant to be there
		}
	}
	f := st.dir.resolve(t)
	if len(f) < 2 || !f[0].is("dev") {
		return false
	}
	return disks(f[1]) || f[1][0] < 0 // it may be any
}

// git goes through what git removes.
func (l *look) git(st *state, argv []text) {
	p := optionSyntax{short: "C:c:pP", long: "git-dir= work-tree= namespace= exec-path config-env= no-pager paginate bare literal-pathspecs"}.parse(argv[1:])
	if len(p.operands) == 0 {
		return
	}
	inner := *st
	if dir, ok := p.value("C"); ok {
		l.changeDir(&inner, []text{slices.DeleteFunc(slices.Clone(dir), func(r rune) bool { return r == loose })})
	}
	args := p.operands[1:]
	switch {
	case p.operands[0].is("clean"):
		l.clean(&inner, argv, args)
	case p.operands[0].is("rev-parse") && len(args) == 1 && args[0].is("--show-toplevel") && l.place.Workspace != "":
		l.write(st, text(l.place.Workspace))
	case p.operands[0].is("rev-parse") && len(args) == 1 && args[0].hasPrefix("--") && args[0][2:].is("git-dir") && l.place.Workspace != "":
		l.write(st, text(l.place.Workspace+"/.git"))
	case p.operands[0].is("ls-files") && len(args) == 0:
		l.write(st, text{star})
	default:
		l.other(st, argv)
	}
}

// clean finds what removes every file that is in no commit, from the root of the
// workspace down: those have no other place to come back from.
func (l *look) clean(st *state, argv, args []text) {
	p := optionSyntax{short: "dfinqxXe:", long: "force dry-run interactive quiet exclude=", mixed: true}.parse(args)
	if !p.has("f", "force") || p.has("n", "dry-run", "i", "interactive", "X", "e", "exclude") || !p.has("d", "x") {
		return
	}
	targets := p.operands
	if len(targets) == 0 {
		targets = []text{text(".")}
	}
	for _, target := range targets {
		if target.is(":/") && l.place.Workspace != "" {
			target = text(l.place.Workspace)
		}
		if _, ok := l.takes(st.dir.resolve(target)); !ok {
			continue
		}
		const what = "%s would remove every file of the workspace that is in no commit"
		if name, maybe := l.unsetWith(st, target); maybe {
			l.report(Removal, fmt.Sprintf(unsetHint, name), what+" where %s is empty, and this script does not set it", l.show(argv...), name)
			return
		}
		l.report(Removal, cleanHint, what, l.show(argv...))
		return
	}
}
