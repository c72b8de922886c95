package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// childBound is how long another belljar may take to start a sandbox.
	childBound = 2 * time.Minute
	// goneBound is how long the container of one that was killed may stay. It
	// takes half a second; a busy machine is slower.
	goneBound = 20 * time.Second
	// lookPause is between two looks at what cannot be waited for.
	lookPause = 50 * time.Millisecond
	// pipeBound is how long what a killed belljar leaves behind may keep its
	// stderr open.
	pipeBound = 5 * time.Second
)

// checkKill proves that belljar leaves no container when it is killed and can
// clean nothing up. It kills one of its own.
func (e *examination) checkKill(ctx context.Context) (string, error) {
	switch {
	case e.opts.Child == nil || e.opts.Owned == nil:
		return "", fmt.Errorf("%w: there is no other belljar to kill", errSkip)
	case !e.sandbox.Info().Capabilities.Isolated:
		return "", fmt.Errorf("%w: this runtime declares no isolation (isolated), so it has no container", errSkip)
	}
	spec, err := e.further("abandoned")
	if err != nil {
		return "", err
	}
	// Its containers are told by this folder, which is like no other: the number
	// of its process may be that of one on another machine.
	folder, err := filepath.EvalSymlinks(spec.Workspace)
	if err != nil {
		return "", fmt.Errorf("finding the folder of another belljar: %w", err)
	}
	child := e.opts.Child(folder, "echo > started; sleep 60")
	var talk bytes.Buffer
	child.Stdout, child.Stderr = nil, &talk
	child.WaitDelay = pipeBound
	if err := child.Start(); err != nil {
		return "", fmt.Errorf("starting another belljar: %w", err)
	}
	ended := make(chan struct{}) // closed when the child has ended
	go func() {
		defer close(ended)
		_ = child.Wait() // it is killed
	}()
	defer func() {
		_ = child.Process.Kill() // it may have ended
		<-ended
	}()
	if err := awaitChild(ctx, filepath.Join(folder, "started"), ended); err != nil {
		if line := lastLine(&talk, ended); line != "" {
			err = fmt.Errorf("%w: %s", err, line)
		}
		return "", err
	}
	switch count, err := e.opts.Owned(ctx, folder); {
	case err != nil:
		return "", err
	case count == 0:
		return "", errors.New("the container of another belljar is not on the engine")
	}
	if err := child.Process.Kill(); err != nil {
		return "", fmt.Errorf("killing another belljar: %w", err)
	}
	<-ended
	return e.awaitGone(ctx, folder)
}

// awaitChild waits until the child's command has made a file.
func awaitChild(ctx context.Context, file string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, childBound, errors.New("it took too long"))
	defer cancel()
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("another belljar has ended by itself")
		case <-ctx.Done():
			return fmt.Errorf("waiting for another belljar: %w", context.Cause(ctx))
		case <-time.After(lookPause):
		}
	}
}

// awaitGone waits until nothing is there any more over the folder of a belljar
// that was killed.
func (e *examination) awaitGone(ctx context.Context, folder string) (string, error) {
	for start := time.Now(); ; {
		count, err := e.opts.Owned(ctx, folder)
		took := time.Since(start)
		switch {
		case err != nil:
			return "", err
		case count == 0:
			return fmt.Sprintf("%.1f s after a kill -9 of belljar its container is gone", took.Seconds()), nil
		case took > goneBound:
			return "", fmt.Errorf("the container of a belljar that was killed is still there after %v", goneBound)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(lookPause):
		}
	}
}

// lastLine is the last that a child said, once it has ended.
func lastLine(talk *bytes.Buffer, ended <-chan struct{}) string {
	select {
	case <-ended:
	default:
		return ""
	}
	lines := strings.Split(strings.TrimSpace(talk.String()), "\n")
	return lines[len(lines)-1]
}
