// Package escape tries to get out of the sandbox that it runs in. Each attempt
// is one that must fail: it asks the kernel for something that a command has
// no business with, in a form that does no harm where it is granted.
//
// The attempts run inside a container as a command's user, in the program that
// every sandbox has mounted. What they found is read back by the doctor and by
// the conformance suite, so that a user sees what the tests check.
package escape

import (
	"encoding/json"
	"fmt"
	"io"
)

// An Area is what several attempts aim at. Each is one line of the doctor.
type Area string

// The areas, in the order in which they are tried.
const (
	Mounts     Area = "mounts"
	Namespaces Area = "namespaces"
	Settings   Area = "kernel settings"
	Devices    Area = "devices"
	Kernel     Area = "kernel calls"
	Privileges Area = "privileges"
	Processes  Area = "processes"
	Sockets    Area = "raw sockets"
	Files      Area = "files"
)

// Areas lists all of them in order.
func Areas() []Area {
	return []Area{Mounts, Namespaces, Settings, Devices, Kernel, Privileges, Processes, Sockets, Files}
}

// A Finding is how one attempt ended.
type Finding struct {
	Area Area   `json:"area"`
	Name string `json:"name"`
	// Denied is set when the attempt failed as it must. Detail is the
	// kernel's answer, or what was got hold of.
	Denied bool   `json:"denied"`
	Detail string `json:"detail"`
	// Root is set when the attempt counts only where commands have no rights
	// of root: a profile that gives them may let it through.
	Root bool `json:"root,omitempty"`
	// HostKernel is set when the attempt counts only where commands call the
	// host's kernel, behind a filter (sandbox.Capabilities.Seccomp). A kernel
	// of the sandbox's own may grant it, since it holds nothing but the sandbox.
	HostKernel bool `json:"host_kernel,omitempty"`
}

// Args are the arguments that make the program at path run the attempts and
// write the findings to stdout, see Read.
func Args(path string) []string { return []string{path, "__belljar", "escape"} }

// Main makes all attempts and writes one finding a line. It returns the exit
// code for the process: 0 also where attempts got through.
func Main(w io.Writer) int {
	encoder := json.NewEncoder(w)
	for _, a := range attempts() {
		if encoder.Encode(a.run()) != nil {
			return 1
		}
	}
	return 0
}

// Read reads what Main wrote. An end that comes early is an error: an attempt
// that ends its process proves nothing.
func Read(r io.Reader) ([]Finding, error) {
	var list []Finding
	seen := make(map[Area]bool)
	for decoder := json.NewDecoder(r); ; {
		var f Finding
		if err := decoder.Decode(&f); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the findings of the attempts to get out: %w", err)
		}
		list, seen[f.Area] = append(list, f), true
	}
	for _, area := range Areas() {
		if !seen[area] {
			return nil, fmt.Errorf("reading the findings of the attempts to get out: none about %s came", area)
		}
	}
	return list, nil
}

// An attempt is one thing to try. Its function returns nil, or an error that
// is no denial, when it got through.
type attempt struct {
	area       Area
	name       string
	root       bool // see Finding.Root
	hostKernel bool // see Finding.HostKernel
	try        func() error
}
