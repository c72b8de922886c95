package docker

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// cacheDir returns the folder for files that are mounted into containers, made
// if need be.
func (e *Engine) cacheDir(elem ...string) (string, error) {
	dir := e.opts.CacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding the cache folder: %w (set HOME or XDG_CACHE_HOME)", err)
		}
		dir = filepath.Join(base, "belljar")
	}
	dir = filepath.Join(append([]string{dir}, elem...)...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	return dir, nil
}

// executable returns the path of the supervisor as the engine must mount it:
// the one that was asked for, else the one that this belljar carries, else the
// running program. readable is set for a kernel that runs only what it may read.
func (e *Engine) executable(readable bool) (string, error) {
	if e.opts.Helper != "" {
		return e.helper(e.opts.Helper)
	}
	if program, err := carried.Open(carriedName(e.info.Architecture)); err == nil {
		defer program.Close()
		return e.unpack(program, readable)
	}
	if runtime.GOOS != "linux" {
		return "", errors.New("this belljar was built without its supervisor for Linux containers: build it with make build")
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the belljar executable: %w", err)
	}
	return e.helper(self)
}

// helperMode lets everybody run a supervisor and nobody read it: of a program
// that may not be read no process can be traced or looked into, from its first
// instruction on (execve(2), PR_SET_DUMPABLE).
const helperMode fs.FileMode = 0o111

// readableMode lets everybody read it as well. gVisor refuses to run it else;
// its processes can be traced by nobody then, as the supervisor says itself.
const readableMode fs.FileMode = 0o555

// copyMode is that of a copy of belljar itself, which protects its processes
// once they run.
const copyMode fs.FileMode = 0o755

// unpack puts a supervisor into the cache. Its name has the hash of what it
// holds, and it can be neither read, but where that is needed, nor written
// there.
func (e *Engine) unpack(program fs.File, readable bool) (string, error) {
	dir, err := e.ownDir("bin")
	if err != nil {
		return "", err
	}
	size, sum, err := sumOf(program)
	if err != nil {
		return "", fmt.Errorf("reading the supervisor that this program carries: %w", err)
	}
	mode, target := helperMode, filepath.Join(dir, "supervisor-"+hex.EncodeToString(sum[:12]))
	if readable {
		mode, target = readableMode, target+"-readable"
	}
	if holds(target, mode, size, sum) {
		used(target)
		return target, nil
	}
	// What is carried is in memory, and can be read from any place.
	if err := writeFile(target, mode, io.NewSectionReader(program.(io.ReaderAt), 0, size)); err != nil {
		return "", fmt.Errorf("unpacking the supervisor: %w", err)
	}
	return target, nil
}

// sumOf reads to the end. It keeps nothing: what is read is megabytes, and it is
// read at each start.
func sumOf(r io.Reader) (size int64, sum [sha256.Size]byte, err error) {
	hash := sha256.New()
	size, err = io.Copy(hash, r)
	return size, [sha256.Size]byte(hash.Sum(nil)), err
}

// helper returns a path of the executable that every user inside may run. A
// file that was built under a strict umask, or was replaced on disk since this
// process started, is copied into the cache. So is every one where the engine
// gives its files a label: the host's own program keeps the one that it has.
func (e *Engine) helper(path string) (string, error) {
	info, err := os.Stat(path)
	source := path
	if e.opts.Helper == "" && errors.Is(err, fs.ErrNotExist) {
		source = "/proc/self/exe" // still open, though gone from its folder
		info, err = os.Stat(source)
	}
	if err != nil {
		return "", fmt.Errorf("the program that supervises containers is missing: %w", err)
	}
	if source == path && !e.labelsFiles() && info.Mode().Perm()&0o005 == 0o005 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real, nil
		}
	}
	target, err := e.copyHelper(source)
	if err != nil {
		return "", fmt.Errorf("copying the supervisor: %w", err)
	}
	return target, nil
}

// copyHelper copies a program into the cache. Its name has the hash of what it
// holds, and one that is there is trusted for its content alone.
func (e *Engine) copyHelper(source string) (string, error) {
	dir, err := e.ownDir("bin")
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(program)
	target := filepath.Join(dir, "belljar-"+hex.EncodeToString(sum[:12]))
	if holds(target, copyMode, int64(len(program)), sum) {
		used(target)
		return target, nil
	}
	return target, writeFile(target, copyMode, bytes.NewReader(program))
}

// ownDir returns a folder of the cache that is this user's alone, since what is
// in it is in force in every sandbox: its programs, and files that an engine
// reads or mounts.
func (e *Engine) ownDir(name string) (string, error) {
	if uid := os.Geteuid(); uid >= 0 {
		// Users may share a cache, as with sudo; these files they do not.
		name += "-" + strconv.Itoa(uid)
	}
	dir, err := e.cacheDir(name)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "", fmt.Errorf("looking at a folder of the cache: %w", err)
	case !info.IsDir() || !ownFile(info):
		return "", fmt.Errorf("the folder %s of the cache is not this user's own: remove it", dir)
	case info.Mode().Perm() == privateMode:
		return dir, nil
	}
	if err := os.Chmod(dir, privateMode); err != nil {
		return "", fmt.Errorf("making a folder of the cache private: %w", err)
	}
	return dir, nil
}

// publicFile puts a small file into a folder of the cache that is this user's
// alone, for whoever is told its path there to read. One that is there is
// trusted for its content alone.
func (e *Engine) publicFile(folder, name string, content []byte) (string, error) {
	dir, err := e.ownDir(folder)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	if holds(path, publicMode, int64(len(content)), sha256.Sum256(content)) {
		used(path)
		return path, nil
	}
	return path, writeFile(path, publicMode, bytes.NewReader(content))
}

// publicMode lets everybody read a file. An engine without root is this user,
// and a container sees the file alone, and not its folder.
const publicMode fs.FileMode = 0o644

const privateMode fs.FileMode = 0o700

// holds tells whether a file in a private folder is of this mode and has this
// content. One that its owner may not read either is known by its size only:
// nobody else can have put it there.
func holds(path string, mode fs.FileMode, size int64, sum [sha256.Size]byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != mode || info.Size() != size || !ownFile(info) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrPermission) && mode&0o400 == 0
	}
	defer f.Close()
	_, seen, err := sumOf(f)
	return err == nil && seen == sum
}

// writeFile writes a file of exactly this mode in one step, so that another
// process sees the old one or the new one.
func writeFile(path string, mode fs.FileMode, content io.Reader) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := io.Copy(f, content); err != nil {
		return err
	}
	// Not subject to the umask: the user inside is another one.
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
