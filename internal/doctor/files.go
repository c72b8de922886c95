package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// checkUser proves whom commands run as.
func (e *examination) checkUser(ctx context.Context) (string, error) {
	facts, err := e.facts(ctx, `echo "user $(id -u):$(id -g)"; echo "home $HOME"`)
	if err != nil {
		return "", err
	}
	if want := e.sandbox.Info().User; facts["user"] != want {
		return "", fmt.Errorf("commands run as %s, not as %s", facts["user"], want)
	}
	detail := facts["user"] + ", home " + facts["home"]
	if e.opts.Spec.User == sandbox.UserRoot {
		return "", fmt.Errorf("%w: commands are root inside (%s)", errWeak, detail)
	}
	return detail, nil
}

// checkOwnership proves that files pass both ways through the workspace and
// that what commands make belongs to the owner.
func (e *examination) checkOwnership(ctx context.Context) (string, error) {
	workspace := e.opts.Spec.Workspace
	const word = "from the host"
	if err := os.WriteFile(filepath.Join(workspace, "given"), []byte(word+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("writing to the workspace: %w", err)
	}
	out, err := e.probe(ctx, `cat given && mkdir made && echo inside > made/file`)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(out) != word {
		return "", fmt.Errorf("the workspace is not the same inside (%q); the engine must see this machine's folders", strings.TrimSpace(out))
	}
	for _, name := range []string{"made", filepath.Join("made", "file")} {
		info, err := os.Lstat(filepath.Join(workspace, name))
		if err != nil {
			return "", fmt.Errorf("a file made inside is not there outside: %w", err)
		}
		uid, gid, known := ownerOf(info)
		if !known {
			return "", fmt.Errorf("%w: files have no owners on this system", errSkip)
		}
		if uid != e.owner.UID || gid != e.owner.GID {
			return "", fmt.Errorf("a file made inside belongs to %d:%d, not to %d:%d", uid, gid, e.owner.UID, e.owner.GID)
		}
	}
	return fmt.Sprintf("files made inside belong to %d:%d", e.owner.UID, e.owner.GID), nil
}

// stubborn is a process that does not want to end: a session of its own, deaf
// to the polite signal. Its duration makes it recognisable.
const stubborn = "86399"

// checkTimeout proves that a timeout ends everything a command has started.
func (e *examination) checkTimeout(ctx context.Context) (string, error) {
	if !e.sandbox.Info().Capabilities.KillTree {
		return "", fmt.Errorf("%w: this runtime does not declare that it ends every process of a command (kill_tree); the end of the sandbox does", errSkip)
	}
	result, err := e.sandbox.Exec(ctx, sandbox.Command{
		Script:  `setsid sh -c 'trap "" TERM; sleep ` + stubborn + `' & wait`,
		Timeout: time.Second,
	})
	if err != nil {
		return "", err
	}
	if result.Status != sandbox.TimedOut {
		return "", fmt.Errorf("a command over its time ended as %s", result.Status)
	}
	// Processes come and go while they are listed, so what cannot be read is
	// passed over.
	out, err := e.probe(ctx, `{ for p in /proc/[0-9]*; do
	tr '\0' ' ' < "$p/cmdline" && echo
done; } 2>/dev/null | grep -c "^sleep `+stubborn+`"`)
	if err != nil {
		return "", err
	}
	if count, err := strconv.Atoi(strings.TrimSpace(out)); err != nil || count != 0 {
		return "", fmt.Errorf("processes of a command over its time still run (%s)", strings.TrimSpace(out))
	}
	return "every process of a command over its time is ended", nil
}
