package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/agent/trajectory"
)

// A build says what this program was made from.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (b build) String() string {
	return fmt.Sprintf("belljar %s (commit %s, %s, %s)", b.Version, b.Commit, b.Go, b.Platform)
}

// versions are what a record says about what made it.
func (b build) versions() trajectory.Versions {
	return trajectory.Versions{Belljar: b.Version, Commit: b.Commit, Go: b.Go, Platform: b.Platform}
}

// readBuild fills in what the linker was not told from what the Go tool left
// in the program.
func readBuild(version, commit string) build {
	b := build{Version: version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if b.Version == "" && ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Commit == "" && ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.Commit = setting.Value
			}
		}
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	if b.Commit == "" {
		b.Commit = "unknown"
	}
	return b
}

// newVersion makes the verb version.
func newVersion(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version",
		Args:  noArgs,
		RunE: verb(func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(a.out()).Encode(a.build)
			}
			_, err := fmt.Fprintln(a.out(), a.build)
			return err
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}
