package sandbox

import (
	"fmt"
	"net"
	"path"
	"strings"
)

// A Spec asks for one sandbox. The zero value of a field is its default, the
// strict profile's.
type Spec struct {
	// Workspace is the absolute host path of the folder to mount. It must
	// exist. Required.
	Workspace string
	// Owner is whom files in the workspace must belong to. Required.
	Owner Owner
	// Mounts are further folders of the host, which CheckMounts lets pass.
	Mounts []Mount
	// Image is the reference of the image. Required by runtimes that have
	// images.
	Image string
	// Runtime names one of the engine's runtimes; "" is the engine's default.
	Runtime string
	// Profile is a set of settings; "" is ProfileStrict. User and RootFS
	// overrule it; "" is the profile's own.
	Profile Profile
	User    User
	RootFS  RootFS
	// Network is the network mode; "" is NetworkNone.
	Network Network
	// Proxy decides what NetworkAllow lets out. Required then, and only then.
	// The caller closes it, after the sandbox.
	Proxy Proxy
	// Notify is told, a line each, of what goes wrong with the sandbox beside
	// its commands: its way to the proxy broke. The result of the next command
	// says it too. It is called by several goroutines; nil discards.
	Notify func(text string)
	// Limits are the resource limits; zero fields are filled by the runtime.
	Limits Limits
	// Env holds K=V pairs that every command sees.
	Env []string
	// Protect names what of the workspace commands may not change. A runtime
	// that cannot hold it (Capabilities.Protect) refuses the spec.
	Protect Protection
	// Unprotected says that the user asked for no protection of what programs
	// on the host obey. It is recorded as a loosening.
	Unprotected bool
	// Relabel lets the engine of a host with SELinux give all of the workspace
	// the label that every container may use. It stays, so it is recorded as a
	// loosening. Elsewhere it does nothing.
	Relabel bool
	// AllowMissingLimits starts the sandbox even where a limit is not in force;
	// Info.Readings and Info.Loosened tell which. Without it that is an error.
	AllowMissingLimits bool
	// Once says that one command is expected, so that the sandbox need not be
	// ready for another. More can be run, but where the first one leaves a fork
	// bomb behind the next may fail to start.
	Once bool
	// Session names the session that the sandbox belongs to, for labels.
	Session string
}

// An Owner is the user that files in the workspace belong to, by number, as
// the host counts.
type Owner struct {
	UID, GID int
	// Groups are the owner's further groups.
	Groups []int
	// Umask is applied to files that commands make.
	Umask int
}

// Network is a sandbox's way out.
type Network string

const (
	// NetworkNone leaves only the loopback interface.
	NetworkNone Network = "none"
	// NetworkAllow leaves the loopback interface, and on it one port that leads
	// to Spec.Proxy. Commands find it in HTTP_PROXY and its like.
	NetworkAllow Network = "allow"
	// NetworkBridge is the engine's default bridge: everything can be reached.
	NetworkBridge Network = "bridge"
)

// A Proxy serves the connections that come out of a sandbox, as an HTTP proxy
// does. What they may reach is for it to decide.
type Proxy interface {
	// Serve takes connections until the listener is closed, and returns then.
	// It may be called for several listeners at once.
	Serve(l net.Listener) error
}

// Loopback are the names under which programs find the sandbox itself, so that
// nothing to them goes by a proxy.
func Loopback() []string { return []string{"localhost", "127.0.0.1", "::1"} }

// ProxyEnv are the variables that tell programs of an HTTP proxy, and that
// Loopback is reached without.
func ProxyEnv(address string) []string {
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+address)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env = append(env, name+"="+strings.Join(Loopback(), ","))
	}
	return env
}

// Limits are a sandbox's resource limits. Sizes are bytes.
type Limits struct {
	// Memory is the limit on memory; swap is set equal, so there is none.
	Memory int64 `json:"memory"`
	// CPUs is the number of processors' worth of time.
	CPUs float64 `json:"cpus"`
	// CPUSet is the list of processors that may be used, in the form of
	// cpuset(7), such as "0-2,5"; "" is all.
	CPUSet string `json:"cpuset,omitempty"`
	// Pids is the number of processes and threads; 0 in a started sandbox is
	// no limit, which the runtime cannot have.
	Pids int64 `json:"pids"`
	// NoFile is the number of open files a process.
	NoFile int64 `json:"nofile"`
	// Disk is how much commands may add on disk since the start, in the
	// workspace and the writable layer together, and the size of the largest
	// file; NoLimit is none.
	Disk int64 `json:"disk"`
	// Tmp, Home and Shm are the sizes of the in-memory file systems at /tmp,
	// the home folder and /dev/shm. In what was made, 0 is a folder of the
	// writable layer.
	Tmp  int64 `json:"tmp"`
	Home int64 `json:"home"`
	Shm  int64 `json:"shm"`
}

// Sizes and counts of the strict profile (docs/architecture.md, Defaults).
const (
	MiB = int64(1) << 20
	GiB = int64(1) << 30

	DefaultMemory = 2 * GiB
	DefaultCPUs   = 2.0
	DefaultPids   = 512
	DefaultNoFile = 4096
	// DefaultDisk holds the largest of builds. A runtime may take less where
	// little is free.
	DefaultDisk = 10 * GiB
	// NoLimit as a limit is none, and as a reading one that is not set.
	NoLimit = -1

	// The in-memory file systems at DefaultMemory; smaller memory scales
	// them, so that together they stay within half of it. A tmpfs as large as
	// the memory lets one full /tmp make every later command die.
	defaultTmp  = 512 * MiB
	defaultHome = 384 * MiB
	defaultShm  = 64 * MiB

	// MinMemory is the least that a sandbox can work in; the engine itself
	// refuses less than 6 MiB.
	MinMemory = 32 * MiB
	// MinPids leaves room for the sandbox's own processes and one command.
	MinPids = 48
	// MinDisk is the least that commands may be allowed to write.
	MinDisk = MiB
)

// Fill returns the limits with every zero field set to its default, given the
// engine's memory in bytes and its number of processors.
func (l Limits) Fill(engineMemory int64, engineCPUs int) Limits {
	if l.Memory == 0 {
		l.Memory = DefaultMemory
		if half := engineMemory / 2; half > 0 && half < l.Memory {
			l.Memory = half
		}
	}
	if l.CPUs == 0 {
		l.CPUs = DefaultCPUs
		if engineCPUs > 0 && float64(engineCPUs) < l.CPUs {
			l.CPUs = float64(engineCPUs)
		}
		if n, err := CountCPUs(l.CPUSet); err == nil {
			l.CPUs = min(l.CPUs, float64(n))
		}
	}
	if l.Pids == 0 {
		l.Pids = DefaultPids
	}
	if l.NoFile == 0 {
		l.NoFile = DefaultNoFile
	}
	if l.Disk == 0 {
		l.Disk = DefaultDisk
	}
	scale := func(size int64) int64 {
		if l.Memory >= DefaultMemory {
			return size
		}
		return max(size*(l.Memory/2)/(defaultTmp+defaultHome+defaultShm), 4*MiB) &^ 4095
	}
	if l.Tmp == 0 {
		l.Tmp = scale(defaultTmp)
	}
	if l.Home == 0 {
		l.Home = scale(defaultHome)
	}
	if l.Shm == 0 {
		l.Shm = scale(defaultShm)
	}
	return l
}

// Check says what is wrong with a command, wrapping ErrInvalidCommand.
func (c Command) Check() error {
	switch {
	case c.Script == "" && len(c.Args) == 0:
		return fmt.Errorf("%w: it has neither a script nor arguments", ErrInvalidCommand)
	case c.Script != "" && len(c.Args) > 0:
		return fmt.Errorf("%w: it has both a script and arguments", ErrInvalidCommand)
	case strings.ContainsRune(c.Script, 0):
		return fmt.Errorf("%w: the script holds a NUL byte, which no shell can take", ErrInvalidCommand)
	case len(c.Args) > 0 && c.Args[0] == "":
		return fmt.Errorf("%w: the program's name is empty", ErrInvalidCommand)
	case c.Dir != "" && !path.IsAbs(c.Dir):
		return fmt.Errorf("%w: the directory %q is not absolute", ErrInvalidCommand, c.Dir)
	case strings.ContainsRune(c.Dir, 0):
		return fmt.Errorf("%w: the directory holds a NUL byte", ErrInvalidCommand)
	case c.Timeout < 0:
		return fmt.Errorf("%w: the timeout is negative", ErrInvalidCommand)
	case c.OutputLimit < 0:
		return fmt.Errorf("%w: the output limit is negative", ErrInvalidCommand)
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("%w: an argument holds a NUL byte", ErrInvalidCommand)
		}
	}
	for _, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.ContainsRune(kv, 0) {
			return fmt.Errorf("%w: environment entry for %q is not NAME=VALUE", ErrInvalidCommand, name)
		}
	}
	return nil
}
