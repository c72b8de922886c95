package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestTextFlagsAreNotEmpty(t *testing.T) {
	count := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			// A script that is empty is refused with words of its own.
			if flag.Value.Type() != "string" || flag.Name == "command" {
				return
			}
			count++
			if flag.Value.Set("") == nil {
				t.Errorf("%s takes an empty --%s", cmd.CommandPath(), flag.Name)
			}
		})
		for _, child := range cmd.Commands() {
			look(child)
		}
	}
	look(newRoot(newApp(connectFake)))
	if count < 20 {
		t.Errorf("%d flags were looked at", count)
	}
}
