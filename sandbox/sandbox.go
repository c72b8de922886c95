// Package sandbox holds the contract between what wants a command run and the
// isolated machine that runs it.
//
// The words used here:
//
//   - A workspace is the host folder that is worked on. It is mounted into the
//     sandbox at the mount point, [MountPoint].
//   - The owner is whom files in the workspace must belong to.
//   - A sandbox is one isolated machine. A [Runtime] starts it from a [Spec].
//   - A command is one script, or one argv, run in a sandbox. It has exactly
//     one result.
//   - A result says how the command ended: a [Status], an exit code where the
//     command ended by itself, how long it took, what it left behind.
//
// The line that everything above relies on: a command that ended badly is a
// [Result]; an error means that the sandbox itself broke. No failure of the
// engine is ever shown as an exit code.
//
// Bounding and cleaning of output happen above this package; a Sandbox hands
// over the bytes as they come.
package sandbox

import (
	"context"
	"errors"
	"io"
	"time"
)

// MountPoint is where the workspace is seen inside a sandbox unless a Spec
// says otherwise.
const MountPoint = "/workspace"

// A Runtime starts sandboxes. Implementations are safe for concurrent use.
type Runtime interface {
	// Start makes one sandbox and returns when it is ready for commands. The
	// caller closes it. The context bounds only the start; the sandbox
	// outlives it.
	Start(ctx context.Context, spec Spec) (Sandbox, error)
	// Capabilities tells what sandboxes of this runtime can do beyond the
	// core of the contract.
	Capabilities() Capabilities
}

// A Sandbox runs commands. All methods are safe for concurrent use.
type Sandbox interface {
	// Exec runs one command and returns when it has ended, whatever
	// processes it left behind. Every end of a command is a Result; an error
	// means that the machine failed, and then the Result is meaningless.
	// An invalid Command is an error that wraps ErrInvalidCommand. When ctx
	// is done the command's processes are ended and the status is Canceled.
	Exec(ctx context.Context, cmd Command) (Result, error)
	// Info describes the sandbox as it was really made.
	Info() Info
	// Close ends every process and removes the sandbox. It has its own time
	// bound and may be called more than once; later calls return the first
	// one's answer. Commands that still run end with an error that wraps
	// ErrClosed.
	Close() error
}

// Errors that callers branch on. Others describe what broke and what to do.
var (
	// ErrInvalidCommand is wrapped when a Command could never run: neither or
	// both of Script and Args set, a NUL byte, a relative Dir.
	ErrInvalidCommand = errors.New("invalid command")
	// ErrClosed is wrapped by Exec on a closed sandbox.
	ErrClosed = errors.New("sandbox is closed")
	// ErrUnsupported is wrapped by Start where a spec asks for what this runtime
	// or machine can never do; the error says why.
	ErrUnsupported = errors.New("does not work here")
	// ErrLost is wrapped when the sandbox or its engine went away: the
	// container was removed or died, the connection was cut, stalled or
	// refused. The sandbox is of no further use.
	ErrLost = errors.New("sandbox is lost")
)

// A Command is one script or one argv.
type Command struct {
	// Script is the text for the sandbox's shell. Exactly one of Script and
	// Args is set. A script holding a NUL byte is refused.
	Script string
	// Args is run without a shell; Args[0] is looked up in the PATH inside.
	Args []string
	// Dir is an absolute path inside; "" is the mount point. When it does not
	// exist the command runs at the mount point and Result.DirLost is set.
	Dir string
	// Env holds K=V pairs added to the sandbox's own environment.
	Env []string
	// Stdin is what the command reads; nil is empty and closed. A Read that
	// blocks when the command has ended is left behind.
	Stdin io.Reader
	// Stdout and Stderr receive bytes as they come, from one goroutine each;
	// nil discards. The same value twice means one pipe, so the order between
	// the two is exact. When a Write fails the command is ended and Exec
	// returns that error.
	Stdout, Stderr io.Writer
	// Timeout is the wall-clock time after which the command is ended; 0 is
	// none.
	Timeout time.Duration
	// OutputLimit is the number of bytes, both streams together, after which
	// the command is ended; 0 is none. No byte beyond it is delivered.
	OutputLimit int64
}

// A Result says how a command ended.
type Result struct {
	Status Status
	// ExitCode is the top-level shell's (or argv's) own code when it ended by
	// itself, else nil.
	ExitCode *int
	// Signal names the signal that ended the shell, such as "SIGKILL", when
	// Status is Signaled.
	Signal string
	// Dir is where the top-level shell ended, for the next Command; when that
	// is gone it is the mount point, and Reason says so.
	Dir string
	// DirLost is set when Command.Dir could not be entered and the command
	// ran at the mount point instead.
	DirLost bool
	// Duration is from the hand-over of the command to its end, the removal
	// of its processes included.
	Duration time.Duration
	// OOMKills and ForkFailures are the rises of the sandbox's counters while
	// the command ran. They belong to the sandbox: with several commands at
	// once a rise is reported to each.
	OOMKills, ForkFailures int
	// Left are processes of this command that still run after it ended.
	// LeftCount counts them all; Left is bounded by MaxProcesses.
	Left      []Process
	LeftCount int
	// Killed are processes that were ended because the command timed out,
	// was canceled or went over a limit. KilledCount counts them all.
	Killed      []Process
	KilledCount int
	// Reason adds one line where the status alone does not say what happened,
	// such as why another command's end took this one along.
	Reason string
}

// MaxProcesses bounds the lists of processes in a Result.
const MaxProcesses = 32

// A Process is one process inside a sandbox, numbered as seen inside. Name is
// what the process calls itself (at most 15 bytes); it is a claim of untrusted
// code.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Info describes a started sandbox.
type Info struct {
	// ID names the sandbox for the engine, such as a container's id.
	ID string
	// Image is what the sandbox was made from.
	Image Image
	// Engine names the engine and its version, such as "Docker Engine 20.10.24".
	Engine string
	// Runtime is the engine's runtime in use, such as "runc".
	Runtime string
	// MountPoint is where the workspace is inside.
	MountPoint string
	// Mounts are the further folders of the host, with where they are seen.
	Mounts []Mount
	// Shell is the path of the shell that scripts run in.
	Shell string
	// Helper is the path inside of belljar's own program, which commands may
	// run; "" where there is none.
	Helper string
	// Profile is the profile that the settings started from.
	Profile Profile
	// User is the uid:gid that commands run as.
	User string
	// Env holds the variables that every command finds, each as NAME=VALUE, as
	// far as the runtime knows them. It may hold secrets of the settings.
	Env []string
	// Limits are those asked for, after defaults were filled in.
	Limits Limits
	// Readings are the limits as they were read back at the start; empty where
	// a runtime has none.
	Readings []Reading
	// Capabilities are what this sandbox can do beyond the core.
	Capabilities Capabilities
	// Network is the network mode in force.
	Network Network
	// Protected is what of the workspace commands cannot change.
	Protected Protection
	// Loosened names every setting that is weaker than the strict profile's.
	Loosened []string
}

// An Image identifies what a sandbox was made from. Digest is empty for an
// image that came from no registry.
type Image struct {
	Ref    string `json:"ref"`
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// Capabilities are what a runtime can do beyond the core of the contract. The
// conformance suite in sandboxtest tests each that is declared.
type Capabilities struct {
	// Counters: out-of-memory kills and fork failures are counted.
	Counters bool `json:"counters"`
	// KillTree: the whole process tree of a command is ended, new sessions
	// included, also when the process limit is full.
	KillTree bool `json:"kill_tree"`
	// Limits: memory and process limits are in force and can be read inside.
	Limits bool `json:"limits"`
	// OnePipe: Stdout and Stderr of the same value share one pipe.
	OnePipe bool `json:"one_pipe"`
	// Dir: the directory in which a shell ended is known however it ended.
	Dir bool `json:"dir"`
	// Seccomp: no_new_privs and a seccomp filter hold for commands, and can be
	// read inside.
	Seccomp bool `json:"seccomp"`
	// Isolated: the host's files, processes and network are out of reach.
	Isolated bool `json:"isolated"`
	// Protect: paths of the workspace can be kept from change, Spec.Protect.
	Protect bool `json:"protect"`
}
