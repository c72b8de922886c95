package docker

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// checkProtected compares what is mounted at each protected path with what is
// there on the host, before any command runs. The engine finds the sources of
// mounts by name and follows links; something else at work on the workspace
// could have put one in the way in that moment, to anywhere on the host.
func (p *plan) checkProtected(ctx context.Context, first *spare) error {
	names := slices.Concat(p.spec.Protect.Fixed, p.spec.Protect.ReadOnly)
	if len(names) == 0 || !p.sameKernel() {
		return nil
	}
	root, err := os.OpenRoot(p.spec.Workspace)
	if err != nil {
		return fmt.Errorf("looking at the workspace: %w", err)
	}
	defer root.Close()
	for _, name := range names {
		setup := supervisor.Setup{Root: []byte(path.Join(sandbox.MountPoint, name))}
		seen, err := first.ask(ctx, supervisor.Request{Op: supervisor.Count, Setup: setup})
		if err != nil {
			return err
		}
		info, err := root.Lstat(name)
		if err != nil {
			return fmt.Errorf("looking at %s on the host: %w", name, err)
		}
		if !hasNumbers(info, seen.Device, seen.Inode) {
			return fmt.Errorf("%s in the workspace was replaced while the container was made: start again when nothing else works on the folder", name)
		}
	}
	return nil
}
