package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/belljar/belljar/internal/tripwire"
	"github.com/belljar/belljar/internal/ui"
)

// remedy says how a change is undone. The command, where there is one, is
// pasted into a shell by somebody who trusts it, so it must do what it says
// whatever the folder holds: it goes through no link, and it starts no program
// that takes its settings from the folder, as git does. root is the folder, nil
// where it cannot be opened.
func (t riskTeller) remedy(root *os.Root, change tripwire.Change) string {
	switch {
	case change.Kind == tripwire.Added:
		return "; to remove it" + t.command(root, change, "")
	case change.Kind == tripwire.Obeyed:
		return "; what makes it so is new or changed, and the file itself may have been there before"
	case change.Kind == tripwire.Mode:
		return "; to put it back" + t.command(root, change, "")
	case change.Was&fs.ModeSymlink != 0:
		return "; it was a link, which no command is given for: a link may lead the next one astray"
	case change.Original == nil:
		return unkept(change)
	}
	saved, err := t.save(change)
	if err != nil {
		return "; what it held could not be kept: " + ui.Line(err.Error())
	}
	return "; to put it back" + t.command(root, change, saved)
}

// unkept says of a file whose content is nowhere. Git is no help even where it
// knows the file: it obeys what may have been planted, and takes the file from
// an index that commands can write.
func unkept(change tripwire.Change) string {
	const text = "; what it held was not kept: put it back from a copy of your own"
	switch change.Repository {
	case "":
		return text
	case ".":
		return text + ", not by git here, since commands can change the repository too"
	default:
		return text + ", not by git in " + shownPath(change.Repository) + ", since commands can change that repository too"
	}
}

// command words how a change is undone with what was saved, if that takes it, or
// why no command is safe.
func (t riskTeller) command(root *os.Root, change tripwire.Change, saved string) string {
	target := filepath.Join(t.folder, filepath.FromSlash(change.Path))
	gone, wrong := onTheWay(root, change.Path)
	switch {
	case t.alive: // what a command would do can change until it is pasted
		wrong = "something may still work on the folder"
	case wrong != "":
	case !isPastable(target) || !isPastable(saved):
		wrong = "not every shell and terminal takes its path as it is"
	case change.Kind == tripwire.Mode && !isRegular(root, change.Path):
		wrong = "it is no regular file"
	}
	rest := ""
	if saved != "" {
		rest = "; what it held is in " + shownPath(saved)
	}
	switch {
	case wrong != "":
		return " no command is safe: " + wrong + rest
	case change.Kind == tripwire.Added:
		return ": rm -- " + shellQuote(target)
	case change.Kind == tripwire.Mode:
		return fmt.Sprintf(": chmod %o -- %s", change.Was.Perm(), shellQuote(target))
	case gone:
		return ": mkdir -p -- " + shellQuote(filepath.Dir(target)) + " && cp -p -- " + shellQuote(saved) + " " + shellQuote(target)
	default:
		return ": rm -rf -- " + shellQuote(target) + " && cp -p -- " + shellQuote(saved) + " " + shellQuote(target)
	}
}

// onTheWay looks at the folders on the way to a path: whether one is gone, and
// what is wrong with them, "" for nothing.
func onTheWay(root *os.Root, name string) (gone bool, wrong string) {
	if root == nil {
		return false, "the folder cannot be looked at"
	}
	for i, c := range name {
		if c != '/' {
			continue
		}
		at := name[:i]
		switch info, err := root.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return true, ""
		case err != nil:
			return false, shownPath(at) + " cannot be looked at"
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := root.Readlink(at) // the rest is said all the same
			return false, fmt.Sprintf("%s is now a link to %q", shownPath(at), target)
		case !info.IsDir():
			return false, shownPath(at) + " is now no folder"
		}
	}
	return false, ""
}

func isRegular(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// maxPasted is how long a path may be, in bytes: terminals cut lines off at 4 KiB
// where nothing reads them by the key, and a command holds three.
const maxPasted = 1000

// isPastable tells whether a path, between single quotes, arrives in every shell
// as it is. A backslash or a quote ends them or not, by the shell; an exclamation
// mark is replaced in some; and of what a terminal does not show, or belljar does
// not print, another path is left.
func isPastable(name string) bool {
	return len(name) <= maxPasted && ui.Line(name) == name && !strings.ContainsAny(name, "'\\!\u2018\u2019\u201a\u201b") &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}

// isPlain tells whether a character of a path means nothing to any shell.
func isPlain(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/+,@:", r)
}

// shownPath is a path of untrusted content in a line: between quotes where it
// could be taken for something else than a path.
func shownPath(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !isPlain(r) }) {
		return strconv.QuoteToGraphic(name)
	}
	return name
}
