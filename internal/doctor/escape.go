package doctor

import (
	"bytes"
	"context"
	"fmt"

	"github.com/belljar/belljar/internal/escape"
	"github.com/belljar/belljar/sandbox"
)

// escapes makes every attempt to get out, once, inside the sandbox.
func (e *examination) escapes(ctx context.Context) ([]escape.Finding, error) {
	if e.findings != nil {
		return e.findings, nil
	}
	helper := e.sandbox.Info().Helper
	if helper == "" {
		return nil, fmt.Errorf("%w: this runtime has no program of belljar's inside", errSkip)
	}
	var out, talk bytes.Buffer
	result, err := e.sandbox.Exec(ctx, sandbox.Command{
		Args: escape.Args(helper), Stdout: &out, Stderr: &talk, Timeout: probeTimeout, OutputLimit: probeOutput,
	})
	if err != nil {
		return nil, fmt.Errorf("trying to get out of the sandbox: %w", err)
	}
	if result.Status != sandbox.Exited {
		return nil, fmt.Errorf("trying to get out of the sandbox: the attempts ended as %s", result.Status)
	}
	findings, err := escape.Read(&out)
	if err != nil {
		return nil, err
	}
	e.findings = findings
	return findings, nil
}

// checkEscape proves that no attempt in an area gets through.
func (e *examination) checkEscape(area escape.Area) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		findings, err := e.escapes(ctx)
		if err != nil {
			return "", err
		}
		made, granted := 0, 0
		for _, f := range findings {
			if f.Area != area || f.HostKernel && !e.sandbox.Info().Capabilities.Seccomp {
				continue
			}
			if f.Root && e.opts.Spec.User == sandbox.UserRoot {
				granted++ // to root, whatever came of it
				continue
			}
			if !f.Denied {
				return "", fmt.Errorf("%s: %s", f.Name, f.Detail)
			}
			made++
		}
		if granted > 0 {
			return "", fmt.Errorf("%w: %d more are open to root inside; all other %d attempts denied", errWeak, granted, made)
		}
		return fmt.Sprintf("all %d attempts denied", made), nil
	}
}
