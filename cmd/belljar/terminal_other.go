//go:build !linux

package main

import "os"

// inForeground tells that nobody can be asked here: the network mode that asks
// works on Linux only.
func inForeground(*os.File) bool { return false }

// discardInput has nothing to discard where nobody is asked.
func discardInput(*os.File) {}
