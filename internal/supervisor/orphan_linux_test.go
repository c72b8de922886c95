package supervisor

import (
	"slices"
	"testing"
)

// TestOrphan looks at processes that have lost their supervisor.
func TestOrphan(t *testing.T) {
	at := func(pid, parent, session int, start uint64) process {
		return process{Proc: Proc{PID: pid, Session: session, Start: start}, parent: parent, state: 'S', threads: 1}
	}
	const victim, other = 20, 30
	for _, test := range []struct {
		name  string
		procs []process // the first is looked at
		known []Proc
		want  bool
	}{
		{"in a session of its own", []process{at(21, 1, 21, 105)}, nil, true},
		{"below one", []process{at(22, 21, 21, 106), at(21, 1, 21, 105)}, nil, true},
		{"older than the victim", []process{at(21, 1, 21, 99)}, nil, false},
		{"below another supervisor", []process{at(31, other, other, 105), at(other, 0, other, 90)}, nil, false},
		{"left by another, known by itself", []process{at(31, 1, 31, 105)}, []Proc{{PID: 31, Start: 105}}, false},
		{"left by another, its number taken again", []process{at(31, 1, 31, 105)}, []Proc{{PID: 31, Start: 104}}, true},
		{"of the session of another", []process{at(31, 1, other, 105)}, []Proc{{Session: other}}, false},
		{"below one that another left", []process{at(32, 31, 32, 106), at(31, 1, 31, 105)}, []Proc{{PID: 31, Start: 105}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := killer{req: Request{Victims: []Proc{{PID: victim, Start: 100}}, Known: test.known}, groups: []int{victim}}
			k.table = &table{index: map[int]int{}}
			for i, p := range test.procs {
				k.table.procs, k.table.index[p.PID] = append(k.table.procs, p), i
			}
			if got := k.orphan(test.procs[0]); got != test.want {
				t.Errorf("orphan = %v, want %v", got, test.want)
			}
		})
	}
}

// TestKnownLeft tells what is known and gone from what is still there.
func TestKnownLeft(t *testing.T) {
	at := func(pid, session int, start uint64) process {
		return process{Proc: Proc{PID: pid, Session: session, Start: start}}
	}
	known := []Proc{
		{PID: 31, Session: 31, Start: 100}, // there
		{PID: 32, Session: 32, Start: 100}, // gone
		{PID: 33, Session: 33, Start: 100}, // gone, its number is another's
		{PID: 34, Session: 35, Start: 100}, // gone, one of its session is there
		{Session: 36},                      // a whole session that is gone
		{Session: 37},                      // a whole session
	}
	k := killer{req: Request{Known: known}, table: &table{procs: []process{
		at(1, 1, 1), at(31, 31, 100), at(33, 30, 105), at(40, 35, 101), at(41, 37, 102),
	}}}
	got := k.knownLeft()
	if want := []Proc{known[0], known[3], known[5]}; !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
}
