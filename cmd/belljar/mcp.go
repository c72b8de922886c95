package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belljar/belljar/internal/mcp"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/tools"
)

const (
	// tokenVariable holds the token that clients must bear, where the user chose
	// it, and leastToken is how short that may be, in bytes.
	tokenVariable = "BELLJAR_MCP_TOKEN"
	leastToken    = 16
	// usualSessions is how many clients there may be at once, and usualIdle how
	// long a session may ask for nothing.
	usualSessions = 8
	usualIdle     = 30 * time.Minute
)

// mcpOptions are the flags of mcp.
type mcpOptions struct {
	sandboxFlags
	approvalFlags
	timeout, maxTimeout time.Duration
	config              string
	listen              string
	remote              bool
	maxSessions         float64
	idleTimeout         time.Duration
}

// newMCP makes the verb mcp.
func newMCP(a *app) *cobra.Command {
	var opts mcpOptions
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "Offer the tools to any MCP client",
		Long: `mcp offers the tools that belljar run gives to its own model (bash, read_file,
edit_file, grep and the others) to a client of the Model Context Protocol, such
as an editor or another agent. Everything that they execute stays inside a
sandbox over the folder.

Without --listen the client starts belljar and speaks to it over stdin and
stdout. With it clients connect over streamable HTTP, at http://ADDR/mcp, and
show a token that is printed on stderr, or the one in BELLJAR_MCP_TOKEN. Each
client has a sandbox of its own, which is started at its first call and removed
when the client goes.

The client's own user decides which calls are made, so nothing is asked here.
Calls that --approval asks about are denied; those that only read are left by
--approval write=always,execute=always.`,
		Example: `  belljar mcp -w ~/src/project
  belljar mcp -w . --allow-host proxy.golang.org --memory 4g
  BELLJAR_MCP_TOKEN=... belljar mcp -w . --listen 127.0.0.1:8811`,
		Args: noArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			if err := opts.checkListen(cmd.Flags()); err != nil {
				return err
			}
			return a.serveMCP(cmd.Context(), &opts)
		}),
	}
	opts.add(cmd.Flags())
	return cmd
}

func (o *mcpOptions) add(flags *pflag.FlagSet) {
	addText(flags, &o.listen, "listen", "", "", "serve HTTP at this address instead, such as 127.0.0.1:8811; port 0 is any that is free")
	flags.BoolVar(&o.remote, "allow-remote", false, "let --listen name an address that other machines reach; what they send, the token included, is not encrypted")
	o.maxSessions = usualSessions
	flags.Var(numberValue{number: &o.maxSessions, whole: true, least: 1}, "max-sessions", "with --listen, the most clients at once")
	o.idleTimeout = usualIdle
	flags.Var(durationValue{&o.idleTimeout}, "idle-timeout", "with --listen, end a client's session that asks for nothing that long")
	addConfig(flags, &o.config)
	flags.Var(durationValue{&o.timeout}, "timeout", "end a command after this time, where it names none (default "+tools.DefaultTimeout.String()+")")
	flags.Var(durationValue{&o.maxTimeout}, "max-timeout", "the longest time that a command may be given (default "+tools.DefaultMaxTimeout.String()+")")
	o.approvalFlags.add(flags)
	o.sandboxFlags.add(flags)
}

// checkListen refuses flags that would say nothing without --listen.
func (o *mcpOptions) checkListen(flags *pflag.FlagSet) error {
	for _, name := range []string{"allow-remote", "max-sessions", "idle-timeout"} {
		if o.listen == "" && flags.Changed(name) {
			return usagef("--%s goes with --listen, and without it belljar speaks to the one client that started it", name)
		}
	}
	return nil
}

// serveMCP serves clients until they are gone or somebody interrupts.
func (a *app) serveMCP(ctx context.Context, opts *mcpOptions) error {
	if err := checkTimeouts(opts.timeout, opts.maxTimeout); err != nil {
		return err
	}
	plan, err := a.planMCP(opts)
	if err != nil {
		return err
	}
	a.last.set(func() { a.notice("%s", abandonedText) })
	defer a.last.set(nil)
	serving := mcp.Options{
		Version: a.build.Version, Instructions: plan.instructions(), Tools: plan.definitions, OpenWorld: plan.openWorld(),
		Beside: []string{"bash_output", "bash_kill"}, Start: plan.start, MaxSessions: int(opts.maxSessions), Notice: func(text string) { a.notice("%s", text) },
	}
	if opts.listen == "" {
		serving.MaxSessions = 1
		return mcp.New(serving).ServeStreams(ctx, a.stdin, a.out())
	}
	listener, token, err := a.listenMCP(ctx, opts)
	if err != nil {
		return err
	}
	a.notice("serving MCP clients at http://%s%s, at most %s at once", listener.Addr(), mcp.Endpoint, ui.Plural(int(opts.maxSessions), "client|clients"))
	return mcp.New(serving).Serve(ctx, listener, mcp.HTTPOptions{
		Token: token, IdleTimeout: opts.idleTimeout, AllowRemote: opts.remote,
	})
}

// listenMCP opens the address that clients connect to, and gives the token that
// they must bear. One that is made here is told.
func (a *app) listenMCP(ctx context.Context, opts *mcpOptions) (net.Listener, string, error) {
	token := a.getenv(tokenVariable)
	if token != "" && len(token) < leastToken {
		return nil, "", usagef("the token in %s is short enough to be guessed: it needs at least %d characters; without the variable one is made", tokenVariable, leastToken)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, "", usagef("the token in %s has a character that is lost on the way, such as a space or the end of a line: letters, digits and -._~ are safe", tokenVariable)
	}
	host, _, err := net.SplitHostPort(opts.listen)
	if err != nil {
		return nil, "", usagef("--listen %q is not HOST:PORT, such as 127.0.0.1:8811", opts.listen)
	}
	if host == "" {
		return nil, "", usagef("--listen %q means every address of this machine; name one, such as 127.0.0.1%s", opts.listen, opts.listen)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", opts.listen)
	if err != nil {
		return nil, "", fmt.Errorf("listening for clients: %w", err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !opts.remote && (!ok || !at.IP.IsLoopback()) {
		return nil, "", errors.Join(usagef("--listen %s is reached by other machines, and what they send is not encrypted; "+
			"listen on 127.0.0.1, or say --allow-remote", opts.listen), listener.Close())
	}
	if token == "" {
		token = mcp.NewToken()
		a.noticeWhole("clients must send: Authorization: Bearer " + token)
	}
	return listener, token, nil
}
