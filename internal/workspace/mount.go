package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CheckMount is Check for a further folder, which is named by an absolute path.
// What would be refused as a workspace is refused here as well, and so is what
// lies in or above a place of keys; nothing insists on it, since a folder with
// no more than what is needed can be mounted instead. Of the system's folders
// those that hold only what everybody may read pass with readOnly. It makes
// nothing.
func CheckMount(path string, readOnly bool, sockets ...string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("the folder %q to mount is not an absolute path: give the whole path, such as $PWD/%s", path, filepath.Base(path))
	}
	real, err := filepath.EvalSymlinks(path)
	if os.IsNotExist(err) {
		return "", fmt.Errorf("the folder %s to mount does not exist: make it first, or name another", path)
	}
	if err != nil {
		return "", fmt.Errorf("finding the folder %q to mount: %w", path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("finding the folder %q to mount: %w", path, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder, and only folders can be mounted: name the one that it is in", real)
	}
	why := exposes(real, info, readOnly, sockets)
	if key := keyFolder(real); key != "" {
		why = "is or lies in a folder " + key
	}
	if why == "" {
		why = exposesKeys(real, info)
	}
	if why != "" {
		return "", fmt.Errorf("mounting %s is refused: it %s; make a folder with what is needed and mount that", real, why)
	}
	return real, nil
}

// CheckMountEngineData is CheckEngineData for a further folder.
func CheckMountEngineData(dir, root string) error {
	if root = resolved(root); !touches(dir, root) {
		return nil
	}
	return fmt.Errorf("mounting %s is refused: the engine keeps its containers and images in %s; make a folder with what is needed and mount that", dir, root)
}

// exposesKeys says which keys in a home folder at stake a folder would hand
// over, or "".
func exposesKeys(dir string, info os.FileInfo) string {
	for _, home := range homes(info) {
		for _, key := range keysIn(home) {
			if touches(dir, resolved(key)) {
				return "is, holds or lies in " + key + ", where keys are kept"
			}
		}
	}
	return ""
}

// keyFolder is the folder of keys that a path is or lies in, by name, or "".
func keyFolder(path string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if slices.Contains(credentials(), part) {
			return part
		}
	}
	return ""
}
