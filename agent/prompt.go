package agent

import (
	_ "embed" // the prompt is part of the binary
	"fmt"
	"strings"
	"text/template"
	"time"
)

//go:embed prompt.md
var promptText string

// MaxInstructions bounds what is taken of a workspace's instructions, in bytes.
const MaxInstructions = 32 << 10

// PromptData is what the system prompt tells about the sandbox.
type PromptData struct {
	// MountPoint is where the workspace is inside the sandbox.
	MountPoint string
	// Shell is the path of the shell that commands run in, and User the
	// uid:gid they run as.
	Shell, User string
	// SystemWritable tells that commands are root on a system of their own.
	SystemWritable bool
	// ReadOnly and Writable are where further folders of the user are inside.
	ReadOnly, Writable []string
	// Network is the network mode: "none", or anything that lets traffic out.
	Network string
	// Hosts are the rules of the network mode "allow", and Injections the
	// headers that are added, as HOST=NAME.
	Hosts, Injections []string
	// Memory is the limit on memory in bytes, CPUs and Pids those on
	// processors and processes.
	Memory int64
	CPUs   float64
	Pids   int64
	// Timeout is the time a command is given, MaxTimeout the most it may ask
	// for.
	Timeout, MaxTimeout time.Duration
	// SubAgent tells that the prompt is a sub-agent's.
	SubAgent bool
	// Instructions are the text of the workspace's AGENTS.md, or "". It is
	// untrusted, and cut at MaxInstructions.
	Instructions string
}

// SystemPrompt writes the system prompt.
func SystemPrompt(data PromptData) (string, error) {
	t, err := template.New("prompt.md").Option("missingkey=error").Parse(promptText)
	if err != nil {
		return "", fmt.Errorf("reading the system prompt: %w", err)
	}
	var out strings.Builder
	err = t.Execute(&out, struct {
		PromptData
		MemorySize     string
		Seconds        float64
		LongestSeconds float64
		Quoted         string
	}{data, size(data.Memory), data.Timeout.Seconds(), data.MaxTimeout.Seconds(), quote(data.Instructions)})
	if err != nil {
		return "", fmt.Errorf("writing the system prompt: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}

// quote marks an untrusted text, so that no line of it can be taken for the
// prompt's own, and cuts it at a line end.
func quote(text string) string {
	text = strings.TrimRight(cleanText(text), "\n\t ")
	if text == "" {
		return ""
	}
	rest := ""
	if len(text) > MaxInstructions {
		kept := strings.ToValidUTF8(text[:MaxInstructions], "")
		if end := strings.LastIndexByte(kept, '\n'); end > 0 {
			kept = kept[:end]
		}
		rest = fmt.Sprintf("\n(%d more bytes were left out; the file itself has them)", len(text)-len(kept))
		text = kept
	}
	return mark(text) + rest
}

// mark puts a sign before every line of a text from outside, those that other
// characters than a line feed begin included.
func mark(text string) string {
	text = strings.NewReplacer("\u2028", "\n", "\u2029", "\n").Replace(strings.TrimRight(text, "\n"))
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// size writes a number of bytes in the largest unit that keeps it readable.
func size(bytes int64) string {
	const mib, gib = 1 << 20, 1 << 30
	if bytes >= gib && bytes%(gib/10) < mib {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/gib), ".0") + " GiB"
	}
	return fmt.Sprintf("%d MiB", bytes/mib)
}
