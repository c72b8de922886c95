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
	if program, err := carried.ReadFile(carriedName(e.info.Architecture)); err == nil {
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

// unpack puts a supervisor into the cache. Its name has the hash of what it
// holds, and it can be neither read, but where that is needed, nor written
// there.
func (e *Engine) unpack(program []byte, readable bool) (string, error) {
	dir, err := e.cacheDir("bin")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(program)
	mode, target := helperMode, filepath.Join(dir, "supervisor-"+hex.EncodeToString(sum[:12]))
	if readable {
		mode, target = readableMode, target+"-readable"
	}
	if have, err := os.Stat(target); err == nil && have.Size() == int64(len(program)) && have.Mode().Perm() == mode {
		used(target)
		return target, nil
	}
	if err := writeFile(target, mode, bytes.NewReader(program)); err != nil {
		return "", fmt.Errorf("unpacking the supervisor: %w", err)
	}
	return target, nil
}

// helper returns a path of the executable that every user inside may run. A
// file that was built under a strict umask, or was replaced on disk since this
// process started, is copied into the cache.
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
	if source == path && info.Mode().Perm()&0o005 == 0o005 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real, nil
		}
	}
	dir, err := e.cacheDir("bin")
	if err != nil {
		return "", err
	}
	key := sha256.Sum256([]byte(path + "\x00" + strconv.FormatInt(info.Size(), 10) + "\x00" + info.ModTime().String()))
	target := filepath.Join(dir, "belljar-"+hex.EncodeToString(key[:6]))
	if have, err := os.Stat(target); err == nil && have.Size() == info.Size() && have.Mode().Perm() == 0o755 {
		used(target)
		return target, nil
	}
	in, err := os.Open(source)
	if err != nil {
		return "", fmt.Errorf("copying the supervisor: %w", err)
	}
	defer in.Close()
	if err := writeFile(target, 0o755, in); err != nil {
		return "", fmt.Errorf("copying the supervisor: %w", err)
	}
	return target, nil
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
