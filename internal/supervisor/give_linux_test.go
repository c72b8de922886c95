package supervisor

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// owner and stranger are users that no test runs as.
var (
	owner    = Ids{UID: 1001, GID: 1002}
	stranger = Ids{UID: 1003, GID: 1004}
)

// A made is one file that a test makes.
type made struct {
	name, link string // link is the target of a symbolic link
	mode       os.FileMode
	ids        Ids
}

func (m made) make(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, m.name)
	var err error
	switch {
	case m.link != "":
		err = os.Symlink(m.link, path)
	case m.mode.IsDir():
		err = os.Mkdir(path, 0o700)
	default:
		err = os.WriteFile(path, []byte("text"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(path, m.ids.UID, m.ids.GID); err != nil {
		t.Fatal(err)
	}
	if m.link == "" {
		if err := os.Chmod(path, m.mode); err != nil {
			t.Fatal(err)
		}
	}
}

func ownership(t *testing.T, path string) (Ids, os.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	return Ids{int(stat.Uid), int(stat.Gid)}, info.Mode()
}

// needRoot stops a test that gives files away, which only root can.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can give files to another user")
	}
}

func TestGive(t *testing.T) {
	needRoot(t)
	dir, outside := t.TempDir(), t.TempDir()
	far := filepath.Join(outside, "far")
	made{name: "far", mode: 0o644, ids: stranger}.make(t, outside)
	since := fileClock()
	root := Ids{}
	files := []made{
		{"plain", "", 0o640, root},
		{"folder", "", os.ModeDir | 0o700, root},
		{"folder/inner", "", 0o600, stranger},
		{"closed", "", os.ModeDir, stranger},
		{"closed/inner", "", 0o000, root},
		{"link", far, 0, root},
		{"folder-link", outside, 0, root},
		{"setuid", "", os.ModeSetuid | 0o755, root},
		{"setgid", "", os.ModeSetgid | 0o755, stranger},
		{"own-setuid", "", os.ModeSetuid | 0o755, owner},
		{"group-only", "", 0o644, Ids{owner.UID, 0}},
	}
	for _, file := range files {
		file.make(t, dir)
	}
	if err := os.Link(filepath.Join(dir, "plain"), filepath.Join(dir, "second-name")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := give(Giving{Root: []byte(dir), Owner: owner, Since: since}, time.Minute)
	if got.Refused != 0 || got.Late || got.Count != len(files) { // all but own-setuid, and the FIFO
		t.Errorf("got %+v, want %d given and nothing refused", got, len(files))
	}
	for _, file := range append(files, made{name: "second-name", mode: 0o640}, made{name: "fifo", mode: os.ModeNamedPipe | 0o600}) {
		ids, mode := ownership(t, filepath.Join(dir, file.name))
		if ids != owner {
			t.Errorf("%s belongs to %v, want %v", file.name, ids, owner)
		}
		if want := file.mode &^ (os.ModeSetuid | os.ModeSetgid); file.link == "" && mode != want {
			t.Errorf("%s has mode %v, want %v", file.name, mode, want)
		}
	}
	if ids, _ := ownership(t, far); ids != stranger {
		t.Errorf("a file outside was given to %v", ids)
	}
}

// TestGiveOlder has files that were there before: they are left alone, unless a
// command changed whom they belong to.
func TestGiveOlder(t *testing.T) {
	needRoot(t)
	dir, outside := t.TempDir(), t.TempDir()
	made{name: "far", mode: 0o644, ids: stranger}.make(t, outside)
	linked := filepath.Join(dir, "linked")
	if err := os.Link(filepath.Join(outside, "far"), linked); err != nil {
		t.Fatal(err)
	}
	made{name: "old", mode: os.ModeSetuid | 0o755, ids: stranger}.make(t, dir)
	made{name: "taken", mode: 0o644, ids: owner}.make(t, dir)
	// The clock that this package reads has to pass the moment: the kernel may
	// mark files by a finer one, which is ahead of it.
	since, past := fileClock(), time.Now().UnixNano()
	for ; since <= past; since = fileClock() {
		time.Sleep(time.Millisecond)
	}
	for _, name := range []string{"taken", "linked"} {
		if err := os.Lchown(filepath.Join(dir, name), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	got := give(Giving{Root: []byte(dir), Owner: owner, Since: since}, time.Minute)
	if want := (Given{Count: 1, Kept: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, want := range map[string]Ids{"old": stranger, "taken": owner, "linked": {}} {
		if ids, _ := ownership(t, filepath.Join(dir, name)); ids != want {
			t.Errorf("%s belongs to %v, want %v", name, ids, want)
		}
	}
	if _, mode := ownership(t, filepath.Join(dir, "old")); mode&os.ModeSetuid == 0 {
		t.Error("the mode of a file that nobody touched was changed")
	}
}

// TestGiveTop has a command take the folder itself, which did not belong to the
// owner.
func TestGiveTop(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	give(Giving{Root: []byte(dir), Owner: owner, Top: &stranger}, time.Minute)
	if ids, _ := ownership(t, dir); ids != stranger {
		t.Errorf("the folder belongs to %v, want %v", ids, stranger)
	}
	got := give(Giving{Root: []byte(dir), Owner: owner}, time.Minute)
	if ids, _ := ownership(t, dir); ids != stranger || got.Count != 0 {
		t.Errorf("the folder belongs to %v, %+v, want it left alone where nothing is known", ids, got)
	}
}

func TestGiveLate(t *testing.T) {
	dir := t.TempDir()
	made{name: "file", mode: 0o644, ids: Ids{os.Getuid(), os.Getgid()}}.make(t, dir)
	if got := give(Giving{Root: []byte(dir), Owner: owner}, -time.Second); !got.Late || got.Count != 0 {
		t.Errorf("got %+v, want it to be late", got)
	}
	if got := give(Giving{Root: []byte(dir + "/none"), Owner: owner}, time.Minute); got.Refused != 1 {
		t.Errorf("got %+v for a folder that is not there, want a refusal", got)
	}
}

func TestGivingArguments(t *testing.T) {
	for _, args := range [][]string{{"1", "2", "3"}, {"x", "2", "3", "/a"}, {"1", "y", "3", "/a"}, {"1", "2", "z", "/a"}, {"1", "2", "3", "/a", "4"}, {"1", "2", "3", "/a", "x", "5"}, {"1", "2", "3", "/a", "4", "y"}} {
		if _, err := parseGiving(args); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	var none *Giving
	if got, err := parseGiving(none.args()); got != nil || err != nil {
		t.Errorf("nothing to give became %+v, error %v", got, err)
	}
	for _, want := range []*Giving{
		{Root: []byte("/work space"), Owner: owner, Since: 5},
		{Root: []byte("/work space"), Owner: owner, Since: 5, Top: &stranger},
	} {
		got, err := parseGiving(want.args())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
