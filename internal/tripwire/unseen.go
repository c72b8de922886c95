package tripwire

import (
	"fmt"
	"path"
	"slices"
)

// An unseen is what a walk did not look at: folders with all below them, and
// files. What another walk finds there may have been there all along.
type unseen map[string]bool

func (u unseen) add(name string) { u[name] = true }

// holds tells whether a path was not looked at.
func (u unseen) holds(name string) bool {
	for len(u) > 0 {
		if u[name] {
			return true
		}
		if name == "." {
			break
		}
		name = path.Dir(name)
	}
	return false
}

// unsure tells whether it is not known if there is a file at a path.
func (k *walk) unsure(name string) bool { return !k.looked[name] && k.unseen.holds(name) }

// shownGaps bounds how many folders that could not be read are named.
const shownGaps = 5

// gaps says what two walks did not see. A folder that could be read neither
// before nor after is of no use to the owner, and so to no command either.
func (k *walk) gaps(before *walk) (gaps []string) {
	for _, look := range []struct {
		when    string
		stopped string
	}{{"before", before.stopped}, {"after", k.stopped}} {
		if look.stopped != "" {
			gaps = append(gaps, fmt.Sprintf("not everything was looked at %s the commands: %s", look.when, look.stopped))
		}
	}
	gaps = append(gaps, shownClosed(without(k.closed, before.closed), "cannot be read any more")...)
	return append(gaps, shownClosed(without(before.closed, k.closed), "could not be read before, so what is in it was not compared")...)
}

// without are the names of a list that another does not have, in order.
func without(list, other []string) []string {
	rest := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
	slices.Sort(rest)
	return rest
}

// shownClosed says of each folder, and of many only how many, what is wrong.
func shownClosed(names []string, wrong string) (lines []string) {
	for _, name := range names[:min(len(names), shownGaps)] {
		lines = append(lines, fmt.Sprintf("%q %s", name, wrong))
	}
	if n := len(names) - shownGaps; n > 0 {
		lines = append(lines, fmt.Sprintf("%d more folders: each %s", n, wrong))
	}
	return lines
}
