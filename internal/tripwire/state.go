package tripwire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
)

const (
	// maxHashed is how much of a file is compared by content; of a longer one
	// also the stamp.
	maxHashed = 16 << 20
	// maxKept and maxKeptAll bound the content that is kept for putting it
	// back, of one file and of all.
	maxKept    = 256 << 10
	maxKeptAll = 16 << 20
)

// A state is what a file is like.
type state struct {
	what   string
	mode   fs.FileMode // type and permission bits
	sum    []byte      // of the content, of a link that of what it leads to
	target string      // of a link
	kept   []byte      // content of a regular file
	quiet  bool        // it names no program, as if it were not there
	via    string      // the configuration or mark that named it, "" for none
	unread bool        // sum is the stamp, since the content could not be read
	stamp  []byte      // of a regular file, or the one that a link leads to
}

// file looks at a file, unless that was done. Folders and what is not there are
// none. A file that cannot be read has its mode and its stamp compared.
func (k *walk) file(name, what string) {
	if _, done := k.files[name]; done {
		return
	}
	if k.over() {
		k.unseen.add(name)
		return
	}
	info, err := k.root.Lstat(name)
	if errors.Is(err, fs.ErrPermission) {
		k.unseen.add(name)
	} else {
		k.looked[name] = true
	}
	if err != nil || info.IsDir() {
		return
	}
	s := state{what: what, mode: info.Mode() & (fs.ModeType | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid)}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		s.target, _ = k.root.Readlink(name)
		if led, err := k.root.Stat(name); err == nil && led.Mode().IsRegular() {
			s.stamp = stamp(led)
			s.sum, _ = k.content(name, led)
		}
	case info.Mode().IsRegular():
		s.stamp = stamp(info)
		s.sum, s.kept = k.content(name, info)
	}
	s.unread = s.sum != nil && bytes.Equal(s.sum, s.stamp)
	s.quiet = path.Base(name) == ".gitattributes" && s.kept != nil && !usesDrivers(s.kept)
	k.files[name] = s
}

// content reads what is compared of a regular file.
func (k *walk) content(name string, info fs.FileInfo) (sum, kept []byte) {
	hash := sha256.New()
	f, err := k.root.OpenFile(name, openFlags, 0)
	if err != nil {
		return stamp(info), nil
	}
	defer f.Close()
	// Something else may be there by now.
	if now, err := f.Stat(); err != nil || !now.Mode().IsRegular() {
		return stamp(info), nil
	}
	if info.Size() <= maxKept && k.kept+maxKept <= maxKeptAll {
		data, err := io.ReadAll(io.LimitReader(f, maxKept+1))
		if err == nil && len(data) <= maxKept {
			k.kept += len(data)
			sum := sha256.Sum256(data)
			return sum[:], append([]byte{}, data...)
		}
		_, _ = f.Seek(0, io.SeekStart) // a file that grows is hashed anew
	}
	if _, err := io.CopyN(hash, f, maxHashed); err == nil {
		hash.Write(stamp(info))
	}
	return hash.Sum(nil), nil
}

// stamp stands for content that is not read. The time of the last change to the
// content can be set back, that of the file cannot.
func stamp(info fs.FileInfo) []byte {
	number, changed := inode(info)
	var stamp []byte
	for _, value := range []uint64{uint64(info.Size()), uint64(info.ModTime().UnixNano()), number, changed} {
		stamp = binary.BigEndian.AppendUint64(stamp, value)
	}
	return stamp
}
