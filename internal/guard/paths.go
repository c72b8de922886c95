package guard

import (
	"path"
	"slices"
	"strings"
)

// A folder is a path by its parts, from the root. nil is not known; the root has
// no parts and is not nil.
type folder []text

// folderOf reads a path that is known. Without one there is no folder.
func folderOf(name string) folder {
	if !strings.HasPrefix(name, "/") {
		return nil
	}
	f := folder{}
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part != "" {
			f = append(f, text(part))
		}
	}
	return f
}

func (f folder) String() string {
	if f == nil {
		return ""
	}
	return "/" + string(join(f, '/'))
}

func (f folder) equal(g folder) bool {
	return (f == nil) == (g == nil) && slices.EqualFunc(f, g, text.equal)
}

// Bounds of a path, in characters, as Linux has it, and in parts. Beyond them a
// folder is not known.
const (
	maxPath  = 4096
	maxParts = 256
)

// resolve reads a path as a command in the folder would.
func (f folder) resolve(t text) folder {
	if t = t.filled(); len(t) == 0 || len(t) > maxPath {
		return nil
	}
	out := folder{}
	if t[0] != '/' {
		if f == nil {
			return nil
		}
		out = slices.Clone(f)
		if out == nil {
			out = folder{}
		}
	}
	for len(t) > 0 {
		end := slices.Index(t, '/')
		if end < 0 {
			end = len(t)
		}
		part := t[:end:end]
		t = t[min(end+1, len(t)):]
		switch {
		case len(part) == 0 || part.is("."):
		case part.is(".."):
			out = out[:max(len(out)-1, 0)]
		default:
			out = append(out, part)
		}
	}
	if len(out) > maxParts {
		return nil
	}
	return out
}

// A guarded folder is one that is hardly ever meant to go as a whole.
type guarded struct {
	parts  folder
	what   string
	system bool // it is the system's, so its permissions count as well
}

// systemFolders are those without which nothing runs.
const systemFolders = "/bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /proc /root /sbin /sys /usr /var"

// guarded lists the folders, what counts most first.
func (p Place) guarded() []guarded {
	list := []guarded{{folder{}, "everything, the workspace included", true}}
	if workspace := folderOf(p.Workspace); len(workspace) > 0 {
		list = append(list, guarded{workspace, "the whole workspace, which is the user's own folder", false},
			guarded{slices.Concat(workspace, folder{text(".git")}), "the workspace's repository with its history", false})
		list = append(list, above(workspace, "the folder that holds the workspace")...)
	}
	if home := folderOf(p.Home); len(home) > 0 {
		list = append(list, guarded{home, "the home folder", false})
		list = append(list, above(home, "the folder that holds the home folder")...)
	}
	for name := range strings.FieldsSeq(systemFolders) {
		list = append(list, guarded{folderOf(name), "a folder of the system", true})
	}
	return list
}

// above lists the folders above one, the root left out.
func above(f folder, what string) []guarded {
	var list []guarded
	for n := len(f) - 1; n > 0; n-- {
		list = append(list, guarded{f[:n:n], what, false})
	}
	return list
}

// takes finds the guarded folder that a path takes as a whole: itself, or all
// that is in it, by patterns or not.
func (l *look) takes(f folder) (guarded, bool) {
	if f == nil {
		return guarded{}, false
	}
	for _, g := range l.guarded {
		n := len(g.parts)
		if len(f) < n || !slices.EqualFunc(f[:n], g.parts, l.matches) || slices.ContainsFunc(f[n:], l.narrow) {
			continue
		}
		return g, true
	}
	return guarded{}, false
}
