package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// An outputs makes the files that hold the raw output of commands.
type outputs struct {
	dir    string // the session's folder for them
	masker *trajectory.Masker
	hold   int // bytes held back so that a secret in two pieces is still found
	count  atomic.Int64
}

// maxEscape is how much longer a secret can get where it is escaped.
const maxEscape = 6

// newOutputs makes the files in dir, with the secrets hidden.
func newOutputs(dir string, masker *trajectory.Masker, secrets []string) *outputs {
	o := &outputs{dir: dir, masker: masker}
	for _, secret := range secrets {
		o.hold = max(o.hold, maxEscape*len(secret))
	}
	return o
}

// open makes the place for one call's output.
func (o *outputs) open() agent.Output {
	return &outputFile{outputs: o, name: fmt.Sprintf("%04d.txt", o.count.Add(1))}
}

// An outputFile keeps the raw output of one call, if it is more than the model
// and the record get to see anyway. It is used by one goroutine at a time.
type outputFile struct {
	*outputs
	name    string
	pending []byte // not yet written
	file    *os.File
}

// spill is the size up to which the whole output is in the record.
const spill = tools.ShownOutput

// Write keeps the next bytes.
func (f *outputFile) Write(p []byte) (int, error) {
	f.pending = append(f.pending, p...)
	if f.file == nil {
		if len(f.pending) <= spill {
			return len(p), nil
		}
		file, err := os.OpenFile(filepath.Join(f.dir, f.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return 0, fmt.Errorf("keeping the output of a command: %w", err)
		}
		f.file = file
	}
	return len(p), f.flush(f.hold)
}

// flush writes what is pending but for the last bytes, with secrets hidden.
func (f *outputFile) flush(hold int) error {
	if f.hold > 0 {
		f.pending = []byte(f.masker.Mask(string(f.pending)))
	}
	ready := f.pending[:max(len(f.pending)-hold, 0)]
	if _, err := f.file.Write(ready); err != nil {
		return fmt.Errorf("keeping the output of a command: %w", err)
	}
	f.pending = bytes.Clone(f.pending[len(ready):])
	return nil
}

// Name is the file below the session's folder, "" when there is none.
func (f *outputFile) Name() string {
	if f.file == nil {
		return ""
	}
	return filepath.ToSlash(filepath.Join(filepath.Base(f.dir), f.name))
}

// Close writes the rest.
func (f *outputFile) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.flush(0)
	if closing := f.file.Close(); err == nil && closing != nil {
		err = fmt.Errorf("keeping the output of a command: %w", closing)
	}
	return err
}
