// Package images holds the build contexts of belljar's own sandbox images. It
// knows nothing of any engine: a context is a file system, and its name follows
// from its content.
package images

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

// Repository is the name of the default image without its tag.
const Repository = "belljar/default"

// PackagesFile is the file of the default context that lists the Debian
// packages of the image, one name a line.
const PackagesFile = "packages.txt"

// FileMode is the mode of every file of a context. Embedded files carry no mode
// of their own, so whoever sends a context to an engine uses this one.
const FileMode fs.FileMode = 0o644

//go:embed default
var contexts embed.FS

// Default returns the build context of the default image: a Dockerfile and the
// files that it names.
func Default() fs.FS {
	sub, err := fs.Sub(contexts, "default")
	if err != nil {
		panic(err) // The folder's name is fixed at build time.
	}
	return sub
}

// Tag returns the reference of the default image. It is made from the content
// of the context, so a changed context is another image, and an image with this
// reference never has to be checked for age.
func Tag() string {
	sum, err := Hash(Default())
	if err != nil {
		panic(err) // Embedded files can always be read.
	}
	return Repository + ":" + sum
}

// Hash returns the first 12 hexadecimal digits of the SHA-256 sum over the
// sorted names, the modes and the bytes of a context's files. Every file counts
// as having FileMode or, when the file system says that it may be executed, 0755.
func Hash(context fs.FS) (string, error) {
	sum := sha256.New()
	// WalkDir visits the files in lexical order.
	err := fs.WalkDir(context, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(context, name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		// The lengths keep a byte from moving between a name and a content
		// without changing the sum.
		fmt.Fprintf(sum, "%d:%s %o %d:", len(name), name, Mode(info), len(data))
		sum.Write(data)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the image's build context: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}

// Mode returns the mode that a file of a context has in an image.
func Mode(info fs.FileInfo) fs.FileMode {
	if info.Mode()&0o111 != 0 {
		return 0o755
	}
	return FileMode
}

// Packages returns the Debian packages that the default image holds.
func Packages() []string {
	data, err := fs.ReadFile(Default(), PackagesFile)
	if err != nil {
		panic(err) // Embedded files can always be read.
	}
	return strings.Fields(string(data))
}

// Base returns the reference of the image that the default image's Dockerfile
// starts from.
func Base() string {
	data, err := fs.ReadFile(Default(), "Dockerfile")
	if err != nil {
		panic(err) // Embedded files can always be read.
	}
	for line := range strings.Lines(string(data)) {
		if base, ok := strings.CutPrefix(strings.TrimSpace(line), "ARG BASE="); ok {
			return base
		}
	}
	panic("the Dockerfile of the default image has no ARG BASE")
}
