//go:build !linux

package diskusage

import (
	"context"
	"time"
)

// Measure cannot be done here: how much a file takes on disk, and when it was
// changed, is not told the same way everywhere.
func Measure(context.Context, string, time.Time) (Usage, error) { return Usage{}, ErrUnsupported }

// Space cannot be told here.
func Space(string) (used, free int64, err error) { return 0, 0, ErrUnsupported }

// Inodes cannot be told here.
func Inodes(string) (int64, error) { return 0, ErrUnsupported }

// Deleted sees nothing here.
func Deleted(context.Context, []int, func(path string, bytes int64)) {}
