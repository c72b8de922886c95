//go:build !linux && !darwin

package main

import (
	"context"
	"errors"
	"os"
)

// inForeground tells that nobody can be asked here.
func inForeground(*os.File) bool { return false }

// discardInput has nothing to discard where nobody is asked.
func discardInput(*os.File) {}

// readLine reads nothing where nobody is asked.
func readLine(context.Context, *os.File) (string, error) { return "", errors.ErrUnsupported }
