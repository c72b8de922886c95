package workspace

import (
	"os"
	"path/filepath"
	"slices"
)

// keyPlaces are where people's keys are kept, from the home folder.
func keyPlaces() []string {
	return []string{
		".ssh", ".aws", ".gnupg", ".docker/config.json", ".kube", ".azure", ".gcloud", ".config/gcloud", ".config/gh",
		".local/share/keyrings", ".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc", ".password-store",
	}
}

// KeyFiles are the files and folders in the user's home folder where keys are
// kept, as far as they are there.
func KeyFiles() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // there is none to look in
	}
	return keysIn(home)
}

// keysIn are the places in a home folder where keys are kept, as far as they
// are there.
func keysIn(home string) []string {
	names := keyPlaces()
	for i, name := range names {
		names[i] = filepath.Join(home, filepath.FromSlash(name))
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Lstat(name)
		return err != nil
	})
}
