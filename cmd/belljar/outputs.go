package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

const (
	// outputsPoint is where the sandbox sees the kept outputs of its commands.
	outputsPoint = sandbox.OwnPoint + "/outputs"
	// maxOutputs bounds the kept outputs of a run together, in bytes.
	maxOutputs = sandbox.GiB
)

// An outputs makes the files that hold the outputs of commands: cleaned, with
// the secrets hidden. The sandbox sees them, so there is nothing else in their
// folder.
type outputs struct {
	dir    string // the session's folder for them
	inside string // the same as the sandbox sees it
	masker *trajectory.Masker
	count  atomic.Int64
	kept   atomic.Int64 // bytes in all files
}

// newOutputs makes the files in dir, which the sandbox sees at inside. Whoever
// commands run as can read them there; on the host only the owner of the
// session's folder can come to them.
func newOutputs(dir, inside string, masker *trajectory.Masker) (*outputs, error) {
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, fmt.Errorf("opening the folder for outputs to the sandbox: %w", err)
	}
	return &outputs{dir: dir, inside: inside, masker: masker}, nil
}

// open makes the place for one call's output.
func (o *outputs) open() agent.Output { return o.file() }

// keep makes the place for one job's output.
func (o *outputs) keep() tools.Keeper { return o.file() }

func (o *outputs) file() *outputFile {
	f := &outputFile{outputs: o, name: fmt.Sprintf("%04d.txt", o.count.Add(1))}
	f.masked = o.masker.Writer(stored{f})
	f.cleaned = output.NewCleaner(spilled{f})
	return f
}

// An outputFile keeps the output of one command, if it is more than the model
// and the record get to see anyway. It is used by one goroutine at a time.
type outputFile struct {
	*outputs
	name    string
	cleaned *output.Cleaner        // from Write to spilled
	pending bytes.Buffer           // cleaned, while there is no file
	masked  *trajectory.MaskWriter // from spilled to stored
	file    *os.File
	closed  bool
	about   tools.Kept
}

var (
	_ agent.Output = (*outputFile)(nil)
	_ tools.Keeper = (*outputFile)(nil)
)

// spill is the size up to which the whole output is in the record.
const spill = tools.ShownOutput

// Write keeps the next bytes.
func (f *outputFile) Write(p []byte) (int, error) {
	if n, err := f.cleaned.Write(p); err != nil {
		return n, fmt.Errorf("keeping the output of a command: %w", err)
	}
	return len(p), nil
}

// spilled takes cleaned text of a file, which is made when it gets long.
type spilled struct{ *outputFile }

func (s spilled) Write(p []byte) (int, error) {
	if s.file != nil {
		return s.masked.Write(p)
	}
	s.pending.Write(p)
	if s.pending.Len() <= spill {
		return len(p), nil
	}
	file, err := os.OpenFile(filepath.Join(s.dir, s.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	s.file, s.about.Path = file, path.Join(s.inside, s.name)
	// Not by the mode above, which a umask would narrow.
	if err := file.Chmod(0o644); err != nil {
		return 0, err
	}
	_, err = s.masked.Write(s.pending.Bytes())
	s.pending = bytes.Buffer{}
	return len(p), err
}

// stored takes masked text of a file.
type stored struct{ *outputFile }

func (s stored) Write(p []byte) (int, error) {
	if s.about.Cut {
		return len(p), nil
	}
	free := min(tools.KeptOutput-s.about.Bytes, maxOutputs-s.kept.Load())
	take := p[:min(int64(len(p)), max(free, 0))]
	s.about.Cut = len(take) < len(p)
	n, err := s.file.Write(take)
	s.kept.Add(int64(n))
	s.about.Bytes += int64(n)
	s.about.Lines += int64(bytes.Count(take[:n], []byte{'\n'}))
	if err != nil {
		return n, err
	}
	return len(p), nil
}

// Name is the file below the session's folder, "" when there is none.
func (f *outputFile) Name() string {
	if f.file == nil {
		return ""
	}
	return filepath.ToSlash(filepath.Join(filepath.Base(f.dir), f.name))
}

// Kept tells of the file as the sandbox sees it.
func (f *outputFile) Kept() tools.Kept { return f.about }

// Close writes the rest. It may be called more than once.
func (f *outputFile) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	err := f.cleaned.Flush()
	if f.file == nil {
		return nil
	}
	if err := errors.Join(err, f.masked.Flush(), f.file.Close()); err != nil {
		return fmt.Errorf("keeping the output of a command: %w", err)
	}
	return nil
}
