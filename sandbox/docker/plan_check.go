package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// checkSpec refuses what could not work, before anything is made.
func (e *Engine) checkSpec(spec sandbox.Spec) error {
	switch info, err := os.Stat(spec.Workspace); {
	case err != nil:
		return fmt.Errorf("looking at the workspace: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the workspace %s is no folder", spec.Workspace)
	case !utf8.ValidString(spec.Workspace):
		return fmt.Errorf("the workspace's path %q is not UTF-8, which the engine cannot take: rename the folder", spec.Workspace)
	case !filepath.IsAbs(spec.Workspace):
		return fmt.Errorf("the workspace %q is not an absolute path", spec.Workspace)
	}
	if err := checkMounts(spec); err != nil {
		return err
	}
	if err := e.checkLabels(spec); err != nil {
		return err
	}
	if err := e.checkLimits(spec); err != nil {
		return err
	}
	if err := (sandbox.Command{Script: ":", Env: spec.Env}).Check(); err != nil {
		return err
	}
	if err := spec.Protect.Check(); err != nil {
		return err
	}
	switch spec.Network {
	case sandbox.NetworkNone, sandbox.NetworkAllow, sandbox.NetworkBridge:
	default:
		return fmt.Errorf("the network mode %q is unknown: none, allow or bridge", spec.Network)
	}
	if err := e.checkOutlet(spec); err != nil {
		return err
	}
	return e.checkRuntime(spec.Runtime)
}

// checkInMemory refuses sizes that were asked for and take more than half of
// the memory: folders that can fill it let every later command die.
func checkInMemory(asked, l sandbox.Limits) error {
	together := l.Tmp + l.Home + l.Shm
	if asked.Tmp+asked.Home+asked.Shm == 0 || together <= l.Memory/2 {
		return nil
	}
	return fmt.Errorf("/tmp, the home folder and /dev/shm would take %s of memory together, and may take half of %s: ask for less or raise the memory",
		output.Size(together), output.Size(l.Memory))
}
