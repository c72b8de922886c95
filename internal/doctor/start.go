package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// checkEngine reaches the engine.
func (e *examination) checkEngine(ctx context.Context) (string, error) {
	engine, err := e.opts.Connect(ctx)
	if err != nil {
		return "", err
	}
	e.engine = engine
	return engine.Description(), nil
}

// checkImage makes sure that the image is there.
func (e *examination) checkImage(ctx context.Context) (string, error) {
	image, err := e.engine.EnsureImage(ctx, e.opts.Spec.Image, e.opts.Progress)
	if err != nil {
		return "", err
	}
	e.image = image
	return image.Ref, nil
}

// checkStart starts the sandbox over a fresh folder.
func (e *examination) checkStart(ctx context.Context) (string, error) {
	workspace := filepath.Join(e.dir, "workspace")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		return "", fmt.Errorf("making a workspace for the checks: %w", err)
	}
	owner, err := e.opts.OwnerOf(workspace)
	if err != nil {
		return "", err
	}
	e.owner = owner
	spec := e.opts.Spec
	spec.Workspace, spec.Owner = workspace, owner
	if e.engine.Capabilities().Protect {
		if spec.Protect, err = makeRepository(workspace); err != nil {
			return "", err
		}
	}
	e.opts.Spec = spec
	started, err := e.engine.Start(ctx, spec)
	if err != nil {
		return "", err
	}
	e.sandbox = started
	info := started.Info()
	detail := fmt.Sprintf("%s, shell %s", orUnknown(info.Runtime), orUnknown(info.Shell))
	if len(info.Loosened) > 0 {
		return "", fmt.Errorf("%w: %s (%s)", errWeak, strings.Join(info.Loosened, ", "), detail)
	}
	return detail, nil
}

// further is the spec of another sandbox, over a folder of its own.
func (e *examination) further(name string) (sandbox.Spec, error) {
	spec := e.opts.Spec
	spec.Workspace, spec.Protect = filepath.Join(e.dir, name), sandbox.Protection{}
	if err := os.Mkdir(spec.Workspace, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return spec, fmt.Errorf("making a workspace for the checks: %w", err)
	}
	return spec, nil
}

// orUnknown stands in for what an engine does not tell.
func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
