package tripwire

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/belljar/belljar/internal/gitdir"
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
	if k.read[name] {
		return
	}
	k.read[name] = true
	hooks, includes, programs := elsewhere(k.files[name].kept)
	for _, value := range hooks {
		if at, ok := k.below(top, value); ok {
			k.named[at] = true
			k.hooks(at, name)
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
	return gitdir.Inside(k.dir, from, name)
}
