package trajectory

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Session is the record of one run on disk: a folder with manifest.json,
// events.jsonl and outputs/. Safe for concurrent use.
type Session struct {
	// ID names the session; ids sort by the time the session started.
	ID string
	// Dir is the session's folder.
	Dir string

	writer *Writer // nil for a session that was opened for reading
}

// ErrNoSession is wrapped when no session, or more than one, fits a name.
var ErrNoSession = errors.New("no such session")

const (
	eventsName  = "events.jsonl"
	outputsName = "outputs"
)

// StateDir is the folder that sessions live in: $BELLJAR_STATE_DIR, or belljar
// in the XDG state folder (on Windows in the local application data). It need
// not exist.
func StateDir() (string, error) {
	if dir := os.Getenv("BELLJAR_STATE_DIR"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("finding the state folder from BELLJAR_STATE_DIR: %w", err)
		}
		return abs, nil
	}
	// The XDG rules: a relative path is invalid and is ignored.
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "belljar"), nil
	}
	if dir := os.Getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "belljar", "state"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the state folder: %w; set BELLJAR_STATE_DIR", err)
	}
	return filepath.Join(home, ".local", "state", "belljar"), nil
}

// Create makes the folder of a new session in stateDir, which is made when
// missing, and fills in the manifest's V, Session and Started. The caller
// closes the session. Any number of processes may do this at once.
func Create(stateDir string, m Manifest) (*Session, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state folder: %w; set BELLJAR_STATE_DIR to a folder that can be written", err)
	}
	started := time.Now().UTC()
	s, err := makeFolder(stateDir, started)
	if err != nil {
		return nil, fmt.Errorf("making a session's folder: %w; set BELLJAR_STATE_DIR to a folder that can be written", err)
	}
	m.Started = started.Truncate(time.Millisecond)
	if err := s.SetManifest(m); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.Outputs(), 0o700); err != nil {
		return nil, fmt.Errorf("making a session's folder: %w", err)
	}
	events, err := os.OpenFile(filepath.Join(s.Dir, eventsName), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making a session's record: %w", err)
	}
	s.writer = NewWriter(events)
	syncDir(s.Dir)
	syncDir(stateDir)
	return s, nil
}

// makeFolder makes a folder with a name of its own. Mkdir fails for a name
// that another process has taken, which is what makes the id unique.
func makeFolder(stateDir string, now time.Time) (*Session, error) {
	const tries = 100
	var err error
	for range tries {
		id := now.Format("20060102-150405-") + strings.ToLower(rand.Text()[:4])
		dir := filepath.Join(stateDir, id)
		if err = os.Mkdir(dir, 0o700); err == nil {
			return &Session{ID: id, Dir: dir}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, err
}

// syncDir puts a folder's new entries on the disk. Some file systems cannot;
// then the record is only as safe as they are.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// List returns every session in stateDir, the newest first. A folder that does
// not exist holds none.
func List(stateDir string) ([]*Session, error) {
	entries, err := os.ReadDir(stateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	form := idForm()
	var sessions []*Session
	for _, entry := range entries {
		if entry.IsDir() && form.MatchString(entry.Name()) {
			sessions = append(sessions, &Session{ID: entry.Name(), Dir: filepath.Join(stateDir, entry.Name())})
		}
	}
	slices.Reverse(sessions) // ReadDir sorts by name, and so by time
	return sessions, nil
}

// idForm matches the ids that makeFolder makes, so that nothing else in the
// state folder is taken for a session.
func idForm() *regexp.Regexp { return regexp.MustCompile(`^\d{8}-\d{6}-[a-z2-7]{4}$`) }

// Open finds the session whose id is name, or the only one whose id begins or
// ends with it. The error wraps ErrNoSession when there is none or more than
// one.
func Open(stateDir, name string) (*Session, error) {
	sessions, err := List(stateDir)
	if err != nil {
		return nil, err
	}
	var found []*Session
	for _, s := range sessions {
		if s.ID == name {
			return s, nil
		}
		if name != "" && (strings.HasPrefix(s.ID, name) || strings.HasSuffix(s.ID, "-"+name)) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w as %q; `belljar sessions` lists them", ErrNoSession, name)
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("%w: %q fits %d sessions, the newest is %s; write more of the id",
			ErrNoSession, name, len(found), found[0].ID)
	}
}

// Writer returns the writer of the session's events, or nil for a session that
// was opened for reading.
func (s *Session) Writer() *Writer { return s.writer }

// Manifest reads the session's manifest. A session that is just being made may
// not have one yet.
func (s *Session) Manifest() (Manifest, error) { return readManifest(s.Dir) }

// SetManifest replaces the session's manifest; V and Session are filled in.
// What the sandbox turned out to be is known only after the session exists.
func (s *Session) SetManifest(m Manifest) error {
	m.V, m.Session = Version, s.ID
	return writeManifest(s.Dir, m)
}

// Events opens the session's record for NewReader. The caller closes it.
func (s *Session) Events() (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(s.Dir, eventsName))
	if err != nil {
		return nil, fmt.Errorf("opening the session's record: %w", err)
	}
	return f, nil
}

// Outputs is the folder for full outputs of commands.
func (s *Session) Outputs() string { return filepath.Join(s.Dir, outputsName) }

// Close closes the session's writer; it may be called more than once.
func (s *Session) Close() error {
	if s.writer == nil {
		return nil
	}
	return s.writer.Close()
}
