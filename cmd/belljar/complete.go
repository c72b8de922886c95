package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/belljar/belljar/agent/model/provider"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// completeTime bounds what a shell waits for when it completes a command line.
const completeTime = 2 * time.Second

// addCompletion tells shells what the flags and arguments of all verbs can be.
// What an engine or the record does not tell is left to the person.
func (a *app) addCompletion(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		a.addCompletion(child)
	}
	for flag, words := range map[string][]string{
		"profile": {string(sandbox.ProfileStrict), string(sandbox.ProfileDev)},
		"user":    {string(sandbox.UserOwner), string(sandbox.UserRoot)},
		"rootfs":  {string(sandbox.RootReadOnly), string(sandbox.RootWritable)},
		"network": {string(sandbox.NetworkNone), string(sandbox.NetworkAllow), string(sandbox.NetworkBridge)},
		"on-lost": {onLostRecreate, onLostStop},
	} {
		completeFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	completeFlag(cmd, "image", a.completeImages)
	completeFlag(cmd, "provider", completeProviders)
	switch cmd.CommandPath() {
	case "belljar image rm":
		cmd.ValidArgsFunction = a.completeImages
	case "belljar show", "belljar replay":
		cmd.ValidArgsFunction = completeSessions
	}
}

// completeFlag says what a flag can be, where a verb has it.
func completeFlag(cmd *cobra.Command, flag string, words cobra.CompletionFunc) {
	if cmd.Flags().Lookup(flag) != nil {
		_ = cmd.RegisterFlagCompletionFunc(flag, words) // fails for a flag that is not there
	}
}

// completeProviders names the providers. That is asked for here, and not at
// every start: it makes all that is known of them.
func completeProviders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return provider.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completeImages names belljar's images on the engine.
func (a *app) completeImages(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	var opts docker.Options
	opts.Host, _ = cmd.Flags().GetString("host") // every verb with images has both
	opts.Context, _ = cmd.Flags().GetString("context")
	connected, err := a.connect(ctx, opts)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer connected.Close()
	list, err := connected.ListImages(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, image := range list {
		if image.Ref != "" {
			names = append(names, image.Ref)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeSessions names the recorded runs, with the beginning of their tasks.
// It reads no events, for somebody waits at each press of a key.
func completeSessions(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, err := recordedSessions()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, session := range found {
		manifest, _ := session.Manifest() // one that cannot be read has its name still
		names = append(names, cobra.CompletionWithDesc(session.ID, firstLine(manifest.Task)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
