//go:build !linux

package sandboxtest

import (
	"context"
	"errors"
	"runtime"

	"github.com/belljar/belljar/sandbox"
)

// errSystem is what every call answers where processes cannot be followed.
var errSystem = errors.New("running commands as host processes works on Linux only, not on " + runtime.GOOS)

// NewRuntime answers an error: following processes needs Linux.
func NewRuntime(Options) (*Runtime, error) { return nil, errSystem }

// Start answers an error: following processes needs Linux.
func (r *Runtime) Start(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, errSystem
}
