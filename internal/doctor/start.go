package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	e.opts.Spec = spec
	started, err := e.engine.Start(ctx, spec)
	if err != nil {
		return "", err
	}
	e.sandbox = started
	info := started.Info()
	return fmt.Sprintf("%s, shell %s", orUnknown(info.Runtime), orUnknown(info.Shell)), nil
}

// orUnknown stands in for what an engine does not tell.
func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
