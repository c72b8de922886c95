//go:build !linux

package docker

import (
	"context"
	"errors"
)

// errNotLinux is the answer of every system that has no Debian tools.
var errNotLinux = errors.New("that needs Linux; let the engine reach a registry")

func (e *Engine) checkDebianWay() error { return errNotLinux }

func (e *Engine) buildFromDebian(context.Context, *progress) error { return errNotLinux }
