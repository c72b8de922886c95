package guard

// A findGroup is a part of a line of find in parentheses, or the line itself:
// alternatives, with "-o" between them.
type findGroup struct {
	outer   findLine // as it was before
	negated bool
	wide    bool // an alternative leaves nothing out
}

// joins goes through what joins tests, and tells whether it is that.
func (f *findLine) joins(arg text, negated bool) bool {
	switch {
	case arg.is("("):
		if len(f.groups) < maxNested {
			outer := *f
			outer.groups = nil
			f.groups = append(f.groups, findGroup{outer: outer, negated: negated})
			f.told = false
		}
	case arg.is(")"):
		f.close()
	case arg.is("-o") || arg.is("-or"):
		f.alternative()
	default:
		return false
	}
	return true
}

// alternative begins another one. Outside of parentheses what stands before "-o" has
// its own actions, or leaves out what it is about (-prune).
func (f *findLine) alternative() {
	if len(f.groups) == 0 {
		f.narrow, f.name = f.narrow && f.told, nil
		return
	}
	g := &f.groups[len(f.groups)-1]
	g.wide = g.wide || !f.narrow
	f.narrow = g.outer.narrow
}

// close ends a group. It leaves files out where each alternative does; negated it
// does unless it is about a few names alone.
func (f *findLine) close() {
	if len(f.groups) == 0 {
		return
	}
	g := f.groups[len(f.groups)-1]
	f.groups = f.groups[:len(f.groups)-1]
	narrow := f.narrow && !g.wide
	if g.negated {
		narrow, f.name = f.told, g.outer.name
	}
	f.narrow, f.told = g.outer.narrow || narrow, g.outer.told || f.told
}
