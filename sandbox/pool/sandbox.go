package pool

import (
	"sync"

	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/sandbox"
)

// A Sandbox is one that a pool has handed out. Its workspace is a folder of its
// own, which goes with it.
type Sandbox struct {
	sandbox.Sandbox
	folder *folder

	closeOnce sync.Once
	closeErr  error
}

var _ sandbox.Sandbox = (*Sandbox)(nil)

// Workspace returns the host path of the folder at the mount point.
func (s *Sandbox) Workspace() string { return s.folder.workspace }

// fill brings content to the folder, which counts for no limit where the
// sandbox can leave it out.
func (s *Sandbox) fill(content func() error) error {
	if filler, ok := s.Sandbox.(sandbox.Filler); ok {
		return filler.Fill(content)
	}
	return content()
}

// Close removes the sandbox and its folder. See sandbox.Sandbox.
func (s *Sandbox) Close() error { return s.CloseWith(nil) }

// CloseWith is Close, save that in between keep may take what is of worth out
// of the folder, when no process of the sandbox can change it any more. What
// lies in there was made by untrusted code. Where Close or CloseWith was called
// before, keep is not called.
func (s *Sandbox) CloseWith(keep func(dir string) error) error {
	s.closeOnce.Do(func() {
		err := s.Sandbox.Close()
		if keep != nil {
			err = oneline.Join(err, keep(s.folder.workspace))
		}
		s.closeErr = oneline.Join(err, s.folder.remove())
	})
	return s.closeErr
}

// lost returns a channel that is closed when the sandbox has died, nil where
// that is not known before a command is tried.
func (s *Sandbox) lost() <-chan struct{} {
	if watched, ok := s.Sandbox.(interface{ Lost() <-chan struct{} }); ok {
		return watched.Lost()
	}
	return nil
}

// lives tells whether the sandbox has not died, as far as is known.
func (s *Sandbox) lives() bool {
	select {
	case <-s.lost():
		return false
	default:
		return true
	}
}
