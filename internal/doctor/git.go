package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/belljar/belljar/sandbox"
)

// What of the repository in the workspace is protected.
const (
	gitFolder = ".git"
	gitConfig = ".git/config"
	gitHooks  = ".git/hooks"
)

// makeRepository makes what git on the host would obey, and says what of it
// is to be protected.
func makeRepository(workspace string) (sandbox.Protection, error) {
	err := os.MkdirAll(filepath.Join(workspace, gitHooks), 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(workspace, gitConfig), []byte("[core]\n"), 0o644)
	}
	if err != nil {
		return sandbox.Protection{}, fmt.Errorf("making a repository for the checks: %w", err)
	}
	return sandbox.Protection{Fixed: []string{gitFolder}, ReadOnly: []string{gitConfig, gitHooks}}, nil
}

// gitScript tries to change what git on the host obeys, each way by itself.
const gitScript = `{
	echo '[alias] x = !id' >> .git/config
	mv .git/config .git/old; rm -f .git/config; ln -sf /tmp/x .git/config
	echo 'id' > .git/hooks/pre-commit; chmod 777 .git/hooks; mv .git/hooks .git/old
	mv .git moved; rm -rf .git; umount .git; umount .git/config
} 2>/dev/null
true`

// checkGit proves that commands cannot plant what git on the host runs.
func (e *examination) checkGit(ctx context.Context) (string, error) {
	if e.opts.Spec.Protect.Empty() {
		return "", fmt.Errorf("%w: this runtime does not declare that it can protect files (protect)", errSkip)
	}
	if _, err := e.probe(ctx, gitScript); err != nil {
		return "", err
	}
	workspace := e.opts.Spec.Workspace
	config, err := os.ReadFile(filepath.Join(workspace, gitConfig))
	if err != nil || string(config) != "[core]\n" {
		return "", errors.New(gitConfig + " was changed from inside")
	}
	if entries, err := os.ReadDir(filepath.Join(workspace, gitHooks)); err != nil || len(entries) > 0 {
		return "", errors.New(gitHooks + " was changed from inside")
	}
	return "the configuration and the hooks of the repository cannot be changed", nil
}
