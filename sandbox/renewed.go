package sandbox

import "fmt"

// A RenewedError is an Exec's error where the sandbox was lost before or while
// the command ran and another one stands in its place, over the same
// workspace. It is not known what the command did, and the caller may go on
// with other commands. It wraps nothing: ErrLost would say that the sandbox is
// of no further use.
type RenewedError struct {
	// Lost is how the sandbox went away.
	Lost error
	// Count is how often the sandbox has been renewed, and Max how often it
	// may be.
	Count, Max int
}

func (e *RenewedError) Error() string {
	return fmt.Sprintf("the sandbox was lost, and a new one stands over the same workspace (%d of at most %d): %v", e.Count, e.Max, e.Lost)
}
