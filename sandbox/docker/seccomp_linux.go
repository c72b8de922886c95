package docker

import (
	"slices"

	"github.com/moby/profiles/seccomp"
)

// newestProfile is the default profile, made for the processor that this
// program runs on as well as the engine.
//
// It is without socketcall(2), the way in which old 32-bit programs make
// sockets: a filter cannot see what kind is asked for there, so that it would
// undo the rule on socket(2).
func newestProfile() *seccomp.Seccomp {
	profile := seccomp.DefaultProfile()
	for _, rule := range profile.Syscalls {
		rule.Names = slices.DeleteFunc(rule.Names, func(name string) bool { return name == "socketcall" })
	}
	return profile
}
