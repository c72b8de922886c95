package tripwire

import (
	"path"
	"strings"
)

// ObeyedBy tells what obeys a file of this path in a workspace, by its name alone:
// that of a file which is watched, or of a folder around it. Paths have slashes;
// nothing is opened, and links are not followed.
func ObeyedBy(name string) (by string, ok bool) {
	parts := strings.Split(path.Clean(name), "/")
	folders, files, inside := folderRules(), fileRules(), partRules()
	for i, part := range parts {
		rest := strings.Join(parts[i+1:], "/")
		if part == ".git" {
			return gitWord, true
		}
		if by, ok := folders[part]; ok && rest != "" {
			return by, true
		}
		for what, by := range inside[part] {
			if rest == what || strings.HasSuffix(what, "/") && strings.HasPrefix(rest, what) {
				return by, true
			}
		}
	}
	last := parts[len(parts)-1]
	if path.Ext(last) == editorProject {
		return "editors", true
	}
	by, ok = files[last]
	return by, ok
}
