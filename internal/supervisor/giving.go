package supervisor

import (
	"fmt"
	"strconv"
	"time"
)

const (
	// GiveBound is how long a Give may take; 100,000 files take about 0.2 s.
	GiveBound = 2 * time.Second
	// LastGiveBound is how long PID 1 may take to end everything and to give
	// files for the last time.
	LastGiveBound = 10 * time.Second
	// NotGiven is the exit code of a PID 1 that could not give every file to
	// its owner.
	NotGiven = 3
)

// Ids are a user and a group by number, as counted inside.
type Ids struct{ UID, GID int }

// A Giving says whom files below a folder are to belong to.
type Giving struct {
	Root  []byte
	Owner Ids
	// Since is when the sandbox started, in nanoseconds of the epoch by the
	// clock that marks files. What was last changed before stays as it is; 0
	// is now, when PID 1 is told so.
	Since int64
	// Top is whom the folder itself belongs to, who need not be the owner. nil
	// is whom it belongs to now, when PID 1 is told so; a spare leaves it alone.
	Top *Ids
}

// Given says what became of a Giving.
type Given struct {
	// Count files were given and Refused could not be. Kept must not be: they
	// were there before and have a second name, which may be anywhere.
	Count, Refused, Kept int
	// Late is set when the time was over before everything was looked at.
	Late bool
}

// args are the arguments of a PID 1 that gives files in the end.
func (g *Giving) args() []string {
	if g == nil {
		return nil
	}
	list := []string{strconv.Itoa(g.Owner.UID), strconv.Itoa(g.Owner.GID), strconv.FormatInt(g.Since, 10), string(g.Root)}
	if g.Top != nil {
		list = append(list, strconv.Itoa(g.Top.UID), strconv.Itoa(g.Top.GID))
	}
	return list
}

// parseGiving reads what args wrote; nil for no arguments.
func parseGiving(args []string) (*Giving, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if len(args) != 4 && len(args) != 6 {
		return nil, fmt.Errorf("%d arguments, want 4 or 6", len(args))
	}
	owner, err := parseIds(args[0], args[1])
	if err != nil {
		return nil, err
	}
	since, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return nil, err
	}
	giving := &Giving{Root: []byte(args[3]), Owner: owner, Since: since}
	if len(args) == 6 {
		top, err := parseIds(args[4], args[5])
		if err != nil {
			return nil, err
		}
		giving.Top = &top
	}
	return giving, nil
}

func parseIds(uid, gid string) (ids Ids, err error) {
	if ids.UID, err = strconv.Atoi(uid); err != nil {
		return ids, err
	}
	ids.GID, err = strconv.Atoi(gid)
	return ids, err
}
