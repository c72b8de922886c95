package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
)

// A connectError says why one endpoint has no usable engine.
type connectError struct {
	endpoint Endpoint
	reason   string
	kind     failureKind
}

// failureKind decides on the advice.
type failureKind int

const (
	failedOtherwise failureKind = iota
	failedPermission
	failedNotRunning
)

// explain puts a failure into a few words.
func explain(endpoint Endpoint, err error) *connectError {
	failure := &connectError{endpoint: endpoint, reason: oneLine(err.Error())}
	switch {
	case errors.Is(err, fs.ErrPermission):
		failure.reason, failure.kind = "permission denied", failedPermission
	case errors.Is(err, fs.ErrNotExist):
		failure.reason, failure.kind = "no such socket", failedNotRunning
	case errors.Is(err, syscall.ECONNREFUSED):
		failure.reason, failure.kind = "connection refused", failedNotRunning
	}
	return failure
}

// noEngineError joins the failures into one line that ends with what to do.
func noEngineError(failures []*connectError) error {
	parts := make([]string, len(failures))
	kinds := make(map[failureKind]bool)
	for i, failure := range failures {
		parts[i] = failure.endpoint.String() + ": " + failure.reason
		kinds[failure.kind] = true
	}
	return fmt.Errorf("%w: %s; %s", ErrNoEngine, strings.Join(parts, "; "), advice(kinds))
}

func advice(kinds map[failureKind]bool) string {
	const elsewhere = "set DOCKER_HOST if the engine listens elsewhere"
	switch {
	case kinds[failedPermission] && runtime.GOOS == "linux":
		// A socket that may not be opened has an engine behind it, which
		// makes starting one the wrong advice.
		return "join the group that owns the socket (sudo usermod -aG docker $USER, then log in again), or run as root"
	case kinds[failedPermission]:
		return "give this user access to the engine, or " + elsewhere
	case kinds[failedNotRunning] && runtime.GOOS == "linux":
		return "start the engine (sudo systemctl start docker), or " + elsewhere
	case kinds[failedNotRunning]:
		return "start the engine (such as Docker Desktop), or " + elsewhere
	default:
		return "check the engine there, or " + elsewhere
	}
}

// oneLine folds text that came from elsewhere into one line without control
// characters.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}
