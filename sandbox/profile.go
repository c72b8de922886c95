package sandbox

import "fmt"

// A Profile is a named set of isolation settings. A setting that a Spec names
// itself goes before its profile's.
type Profile string

const (
	// ProfileStrict runs commands as the owner, without capabilities, on a
	// read-only system. It is the default.
	ProfileStrict Profile = "strict"
	// ProfileDev lets commands install software: they are root in the
	// sandbox, with a few capabilities, on a system that they may change.
	ProfileDev Profile = "dev"
)

// A User is whom commands run as.
type User string

const (
	// UserOwner is the owner of the workspace, without capabilities.
	UserOwner User = "owner"
	// UserRoot is root in the sandbox, with RootCapabilities. What it makes in
	// the workspace is given to the owner after each command and at the end.
	UserRoot User = "root"
)

// A RootFS says whether commands may change the system that they run on.
type RootFS string

const (
	RootReadOnly RootFS = "read-only"
	// RootWritable is a layer over the image that goes with the sandbox.
	RootWritable RootFS = "writable"
)

// RootCapabilities are the capabilities that UserRoot has: what installers of
// packages need, and none that reaches beyond the sandbox.
func RootCapabilities() []string {
	return []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"}
}

// WithProfile returns the spec with the profile's value for each setting that
// it leaves open. A name that is not known is an error.
func (s Spec) WithProfile() (Spec, error) {
	user, root := UserOwner, RootReadOnly
	switch s.Profile {
	case "":
		s.Profile = ProfileStrict
	case ProfileStrict:
	case ProfileDev:
		user, root = UserRoot, RootWritable
	default:
		return s, fmt.Errorf("the profile %q is unknown: %s or %s", s.Profile, ProfileStrict, ProfileDev)
	}
	switch s.User {
	case "":
		s.User = user
	case UserOwner, UserRoot:
	default:
		return s, fmt.Errorf("commands cannot run as %q: %s or %s", s.User, UserOwner, UserRoot)
	}
	switch s.RootFS {
	case "":
		s.RootFS = root
	case RootReadOnly, RootWritable:
	default:
		return s, fmt.Errorf("the root file system cannot be %q: %s or %s", s.RootFS, RootReadOnly, RootWritable)
	}
	if s.Network == "" {
		s.Network = NetworkNone
	}
	return s, nil
}

// OwnSystem tells, of a spec WithProfile, that commands are root on a system
// that they may change; /tmp and the home folder are then the image's own.
func (s Spec) OwnSystem() bool { return s.User == UserRoot && s.RootFS == RootWritable }

// FillLimits returns the limits of a spec WithProfile, with every zero field
// set to its default, given the engine's memory in bytes and its number of
// processors. Where commands use the image's own /tmp and home folder, those
// have no size of their own.
func (s Spec) FillLimits(engineMemory int64, engineCPUs int) Limits {
	l := s.Limits.Fill(engineMemory, engineCPUs)
	if !s.OwnSystem() {
		return l
	}
	l.Tmp, l.Home = s.Limits.Tmp, s.Limits.Home
	if s.Limits.Shm == 0 {
		l.Shm = min(defaultShm, l.Memory/2)
	}
	return l
}
