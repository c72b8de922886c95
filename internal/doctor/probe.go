package doctor

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/belljar/belljar/sandbox"
)

const (
	// probeTimeout ends a probe that hangs.
	probeTimeout = 30 * time.Second
	// probeOutput ends a probe that writes without end.
	probeOutput = 4 * sandbox.MiB
)

// probe runs a script inside and returns what it wrote.
func (e *examination) probe(ctx context.Context, script string) (string, error) {
	return probeIn(ctx, e.sandbox, script)
}

// probeIn does so in a sandbox of its own.
func probeIn(ctx context.Context, box sandbox.Sandbox, script string) (string, error) {
	var out bytes.Buffer
	result, err := box.Exec(ctx, sandbox.Command{
		Script: script, Stdout: &out, Stderr: &out, Timeout: probeTimeout, OutputLimit: probeOutput,
	})
	if err != nil {
		return "", fmt.Errorf("looking inside the sandbox: %w", err)
	}
	if result.Status != sandbox.Exited {
		return "", fmt.Errorf("looking inside the sandbox: the probe ended as %s", result.Status)
	}
	return out.String(), nil
}

// facts runs a script that writes one "name value" a line.
func (e *examination) facts(ctx context.Context, script string) (map[string]string, error) {
	return factsIn(ctx, e.sandbox, script)
}

func factsIn(ctx context.Context, box sandbox.Sandbox, script string) (map[string]string, error) {
	out, err := probeIn(ctx, box, script)
	if err != nil {
		return nil, err
	}
	facts := make(map[string]string)
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		facts[name] = strings.TrimSpace(value)
	}
	return facts, nil
}

// quote makes one word of a text for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
