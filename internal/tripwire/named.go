package tripwire

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// name looks at a file that a configuration or a mark names.
func (k *walk) name(name, what, via string) {
	k.named[name] = true
	k.led(name, what, via)
}

// led looks at a file because a configuration or a mark named it, or its folder.
func (k *walk) led(name, what, via string) {
	_, done := k.files[name]
	k.file(name, what)
	if s, there := k.files[name]; there && !done {
		s.via = via
		k.files[name] = s
	}
}

// maxIncludes is how deep files that include each other are followed, which is
// where git gives up as well.
const maxIncludes = 10

// configuration looks at what a file of git's configuration, which was looked
// at, takes from elsewhere in the workspace. Hooks and programs are named from
// the top of the working tree, included files from the file that includes them.
func (k *walk) configuration(name, top string, depth int) {
	hooks, includes, programs := elsewhere(k.files[name].kept)
	for _, value := range hooks {
		if at, ok := k.below(top, value); ok {
			k.named[at] = true
			k.queue = append(k.queue, folder{path: at, all: hooksWord, perhaps: true, via: name})
		}
	}
	for _, value := range programs {
		// Others are looked up in PATH.
		if at, ok := k.below(top, value); ok && strings.Contains(value, "/") {
			k.name(at, gitWord, name)
		}
	}
	for _, value := range includes {
		at, ok := k.below(path.Dir(name), value)
		if _, seen := k.files[at]; !ok || seen || depth == 0 {
			continue
		}
		k.name(at, gitWord, name)
		k.configuration(at, top, depth-1)
	}
}

// below finds a path that a configuration names, which may be relative to a
// folder, to the home folder or absolute, and tells whether it lies in the
// folder that is walked.
func (k *walk) below(from, name string) (at string, ok bool) {
	if rest, homely := strings.CutPrefix(name, "~/"); homely {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		name = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(name) {
		at = path.Join(from, name)
		return at, fs.ValidPath(at)
	}
	if at, ok = k.relative(name); ok {
		return at, true
	}
	// A link outside may lead back in. What is not there yet has a folder.
	for rest := ""; ; rest, name = filepath.Join(filepath.Base(name), rest), filepath.Dir(name) {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return k.relative(filepath.Join(real, rest))
		}
		if name == filepath.Dir(name) {
			return "", false
		}
	}
}

// relative is a host path as seen from the folder that is walked.
func (k *walk) relative(name string) (at string, ok bool) {
	rel, err := filepath.Rel(k.dir, name)
	if err != nil {
		return "", false
	}
	at = filepath.ToSlash(rel)
	return at, fs.ValidPath(at)
}
