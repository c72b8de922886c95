package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
)

// maxHashed is the size of the largest file whose content is looked at to tell
// its versions apart, in bytes: a file can be sparse and of any size.
const maxHashed = 32 << 20

// A Version stands for one content of a file: two are equal where the contents
// are. That of a file over 32 MiB goes by its size, its time of change and its
// identity instead. The zero Version is that of no file.
type Version struct {
	sum    [sha256.Size]byte
	coarse bool // it does not go by the content
}

// VersionOf is the version of a content of at most 32 MiB.
func VersionOf(content []byte) Version { return Version{sum: sha256.Sum256(content)} }

// SHA256 is the hash of the content in hexadecimal, or "" where the version is
// that of no file or does not go by the content.
func (v Version) SHA256() string {
	if v.coarse || v == (Version{}) {
		return ""
	}
	return hex.EncodeToString(v.sum[:])
}

// Version tells what the file holds now. It reads by the handle and leaves its
// position alone.
func (f *File) Version() (Version, error) {
	info, err := f.Stat()
	if err != nil {
		return Version{}, failure(f.Name, "reading", err)
	}
	if info.Size() > maxHashed {
		return coarseVersion(info), nil
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f, 0, maxHashed+1))
	switch {
	case err != nil:
		return Version{}, failure(f.Name, "reading", err)
	case n > maxHashed: // it grew meanwhile
		return coarseVersion(info), nil
	}
	return Version{sum: [sha256.Size]byte(sum.Sum(nil))}, nil
}

// coarseVersion is the version of a file that is too large to be read for it.
// The text has no form that a content could imitate: contents of its length
// are hashed.
func coarseVersion(info fs.FileInfo) Version {
	id := idOf(info)
	text := fmt.Sprintf("%d bytes, %d, %d:%d", info.Size(), info.ModTime().UnixNano(), id.dev, id.ino)
	return Version{sum: sha256.Sum256([]byte(text)), coarse: true}
}

// A FileID tells files apart whatever their names are, as long as they exist.
// The zero FileID is that of no file, and of every file where the system does
// not number them.
type FileID struct{ dev, ino uint64 }

// ID is the file's identity.
func (f *File) ID() FileID { return idOf(f.Info) }
