package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is the number of columns that help is written for.
const helpWidth = 80

// rootExample and rootLong are the program's own help.
const (
	rootExample = `  belljar run -w "$(mktemp -d)" --model script:demo "Count words"
  belljar exec -- python3 -m unittest
  belljar doctor`

	rootLong = `belljar runs an LLM coding agent, or any command, on a folder of yours while
everything it executes stays inside a resource-limited container without
network, or with the hosts that you name.

Environment:
  DOCKER_HOST         address of the engine; also DOCKER_CONTEXT, and the
                      current context, as with the docker command line
  BELLJAR_STATE_DIR   folder of the recorded runs (default: belljar in the XDG
                      state folder)
  BELLJAR_MODEL       model to ask, where --model names none
  BELLJAR_PRICES      list of prices, where --prices names none
  BELLJAR_CONFIG      file with your own tools, where --config names none
  BELLJAR_MCP_TOKEN   token that clients of mcp --listen must send
  OPENAI_API_KEY      key of the model's server; OPENAI_BASE_URL is its address`
)

// finishHelp makes the help of all verbs: flags fit the screen, exit codes are
// explained, and what cobra answers with help and success where the command
// line names nothing that exists is a usage error.
func finishHelp(root *cobra.Command) {
	wrapped := fmt.Sprintf("FlagUsagesWrapped %d", helpWidth)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", wrapped))
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Long = "completion prints a script that completes belljar's command lines in a shell.\nThe --help of each shell says how to use it."
			cmd.Args, cmd.RunE = nil, needsVerb
			for _, shell := range cmd.Commands() {
				shell.Short, shell.Long = "Completion for "+shell.Name(), wrap(shell.Long, helpWidth)
			}
		case "help":
			cmd.Short = "Help about any verb"
			cmd.Long = "help prints what a verb does, its flags and its exit codes."
			cmd.Run, cmd.RunE = nil, helpAbout
		}
	}
	describeExits(root)
}

// wrap breaks the lines of a text that are wider than width at a space.
func wrap(text string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		for len(line) > width {
			at := strings.LastIndexByte(line[:width+1], ' ')
			if at <= 0 {
				break
			}
			out.WriteString(line[:at] + "\n")
			line = line[at+1:]
		}
		out.WriteString(line)
	}
	return out.String()
}

// needsVerb refuses a verb that does nothing without one of its own verbs.
func needsVerb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownVerb(cmd, args)
	}
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return usagef("%s needs one of its verbs: %s", cmd.Name(), strings.Join(names, ", "))
}

// helpAbout prints the help of the verb that the arguments name.
func helpAbout(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || found == nil || len(rest) > 0 {
		return usagef("there is no verb %q; belljar --help lists them", strings.Join(args, " "))
	}
	found.InitDefaultHelpFlag()
	return found.Help()
}
