package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/internal/ui"
)

// instructionsFile is the file of a workspace that tells agents about it.
const instructionsFile = "AGENTS.md"

// readInstructions reads the workspace's own words to agents, where there are
// any. A file that cannot be opened is no reason not to run; unused says why.
func (j *job) readInstructions() (unused, err error) {
	file, err := j.folder.Open(instructionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return err, nil
	}
	defer file.Close()
	if !file.Info.Mode().IsRegular() {
		return errors.New("it is not a regular file"), nil
	}
	// One byte more than is used, so that the prompt can say that it was cut.
	text, err := io.ReadAll(io.LimitReader(file, agent.MaxInstructions+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", instructionsFile, err)
	}
	j.agents = string(text)
	return nil, nil
}

// instructionsText says what of the workspace's own words is in the prompt, ""
// where there are none.
func instructionsText(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return ""
	case len(text) > agent.MaxInstructions:
		return fmt.Sprintf("%s (its first %s, part of the prompt)", instructionsFile, ui.Size(agent.MaxInstructions))
	default:
		lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
		return fmt.Sprintf("%s (%s, part of the prompt)", instructionsFile, ui.Plural(lines, "line"))
	}
}
