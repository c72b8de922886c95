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
	// NotGiven tells of files that the lost sandbox could not give to their
	// owner, else nil.
	NotGiven *NotGivenError
}

func (e *RenewedError) Error() string {
	text := fmt.Sprintf("the sandbox was lost, and a new one stands over the same workspace (%d of at most %d): %v", e.Count, e.Max, e.Lost)
	if e.NotGiven != nil {
		text += "; " + e.NotGiven.Error()
	}
	return text
}

// A NotGivenError says that files which commands made in the workspace do not
// belong to its owner. The sandbox is closed all the same.
type NotGivenError struct {
	Why string // one line
}

func (e *NotGivenError) Error() string {
	return "not all files made in the workspace were given to its owner: " + e.Why + " (chown -R as root gives you the rest)"
}
