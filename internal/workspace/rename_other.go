//go:build !linux && !darwin

package workspace

import (
	"errors"
	"os"
)

// No other system is known to swap two names in one step.
func swapNames(*os.File, string, string) error { return errors.ErrUnsupported }

func renameNew(*os.File, string, string) error { return errors.ErrUnsupported }
