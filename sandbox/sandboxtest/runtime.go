package sandboxtest

import (
	"github.com/belljar/belljar/sandbox"
)

// Options say how a [Runtime] runs commands. The zero value is ready to use.
type Options struct {
	// Shell is the path of the shell that scripts run in; "" is bash where
	// there is one, else sh.
	Shell string
}

// A Runtime is a [sandbox.Runtime] that runs commands as processes of the
// host, in the workspace itself, for tests that need no engine. It isolates
// nothing and limits nothing: run only commands that you would run yourself.
//
// The mount point is the workspace's own path, links resolved, and so it is
// with further mounts, none of which is read-only. Commands get
// PATH and LANG of the host, a HOME of their own that goes at Close, and what
// Spec and Command add; BASH_ENV is not theirs to set. Each runs in a session
// of its own, as Spec.Owner with its umask; another owner than the one who
// runs the test needs root.
//
// The processes of a command are told by parent, by session and by an open
// file that they inherit, so that one which leaves its session, its parent
// and its environment behind is still found. Code that closes that file as
// well escapes.
//
// The folder in which a shell ended is known when it ended by the end of the
// script, by exit or by set -e, not when it was replaced, killed or set an
// EXIT trap of its own; then it stays as it was.
type Runtime struct {
	shell string
}

var _ sandbox.Runtime = (*Runtime)(nil)

// Capabilities tells that the process tree of a command is ended as a whole
// and that both streams may share a pipe. Nothing else is declared.
func (r *Runtime) Capabilities() sandbox.Capabilities {
	return sandbox.Capabilities{KillTree: true, OnePipe: true}
}
