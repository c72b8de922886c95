package tools

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/belljar/belljar/internal/workspace"
)

// refusal answers a path that cannot be used to the model. Any other error
// means that the workspace is gone, and ends the run.
func refusal(err error) (Result, error) {
	var r *workspace.Refusal
	if errors.As(err, &r) {
		return Error(err.Error()), nil
	}
	return Result{}, err
}

// places are where absolute paths of a file tool may lead, in words.
func places(w *workspace.Workspace, writable bool) string {
	return strings.Join(append([]string{w.Mount()}, w.Further(writable)...), " or ")
}

// via names the file that a link led to.
func via(path, real string, linked bool) string {
	if !linked {
		return ""
	}
	return " (" + visibleName(path) + " leads through a link to " + visibleName(real) + ")"
}

// canceled answers a call whose context was done.
func canceled() Result {
	return Result{Parts: Text("canceled").Parts, IsError: true, Status: "canceled"}
}

// cause is what went wrong with an open file, without the path in the error,
// which is one of the host.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
