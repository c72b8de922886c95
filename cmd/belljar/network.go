package main

import (
	"cmp"

	"github.com/spf13/pflag"

	"github.com/belljar/belljar/internal/egress"
	"github.com/belljar/belljar/sandbox"
)

// networkFlags say what can be reached from a sandbox.
type networkFlags struct {
	network             string
	allow, allowPrivate []string
	inject              []string
}

func (f *networkFlags) add(flags *pflag.FlagSet) {
	addText(flags, &f.network, "network", "", "", "none (the default), allow: only the hosts that --allow-host names, or bridge: everything")
	flags.StringArrayVar(&f.allow, "allow-host", nil, "`HOST[:PORT]` that can be reached over HTTP and HTTPS: example.org, *.example.org, 192.0.2.7:8080; implies --network allow (may be repeated)")
	flags.StringArrayVar(&f.allowPrivate, "allow-private-host", nil, "the same for a `HOST[:PORT]` whose name leads into a private network or to this machine (may be repeated)")
	flags.StringArrayVar(&f.inject, "inject-header", nil, "`HOST=NAME:VARIABLE`: allow HOST, and add the header NAME with the value of belljar's own environment variable to requests for http://HOST/, which go out over TLS (may be repeated)")
}

// mode checks --network. A host that is to be allowed says how.
func (f *networkFlags) mode() (sandbox.Network, error) {
	var given string
	for name, values := range map[string][]string{
		"--allow-host": f.allow, "--allow-private-host": f.allowPrivate, "--inject-header": f.inject,
	} {
		if len(values) > 0 {
			given = max(given, name)
		}
	}
	usual := sandbox.NetworkNone
	if given != "" {
		usual = sandbox.NetworkAllow
	}
	switch mode := sandbox.Network(cmp.Or(f.network, string(usual))); mode {
	case sandbox.NetworkNone, sandbox.NetworkBridge:
		if given != "" {
			return "", usagef("%s goes with --network allow, not with --network %s", given, mode)
		}
		return mode, nil
	case sandbox.NetworkAllow:
		return mode, nil
	default:
		return "", usagef("--network %q is not known; it is none, allow or bridge", f.network)
	}
}

// A gate is the way out of a sandbox in the network mode allow. A nil gate is
// none.
type gate struct {
	proxy      *egress.Proxy
	hosts      []string // the rules, as they are shown
	names      []string // the hosts of the rules and the headers, alone
	injections []string // HOST=NAME
	secrets    []string // must not be shown
}

// A networkWatcher is told what happens at a gate. See egress.Options.
type networkWatcher interface {
	decided(d egress.Decision) error
	failed(host string, port int, reason string)
}

// openGate makes the proxy that the flags ask for, or nil where they ask for
// none. What happens is told to the watcher, and ask asks a person; nil asks
// nobody. The caller closes the gate, after the sandbox.
func (a *app) openGate(f *networkFlags, watcher networkWatcher, ask asker) (*gate, error) {
	mode, err := f.mode()
	if err != nil || mode != sandbox.NetworkAllow {
		return nil, err
	}
	g := &gate{}
	opts := egress.Options{Decided: watcher.decided, Failed: watcher.failed, Ask: ask}
	for _, text := range f.allow {
		rule, err := egress.ParseRule(text)
		if err != nil {
			return nil, usagef("--allow-host: %w", err)
		}
		opts.Rules, g.hosts, g.names = append(opts.Rules, rule), append(g.hosts, rule.String()), append(g.names, rule.Host())
	}
	for _, text := range f.allowPrivate {
		rule, err := egress.ParsePrivate(text)
		if err != nil {
			return nil, usagef("--allow-private-host: %w", err)
		}
		opts.Rules, g.hosts, g.names = append(opts.Rules, rule), append(g.hosts, rule.String()), append(g.names, rule.Host())
	}
	for _, text := range f.inject {
		injection, err := egress.ParseInjection(text, a.lookupEnv)
		if err != nil {
			return nil, usagef("--inject-header: %w", err)
		}
		opts.Injections = append(opts.Injections, injection)
		g.injections = append(g.injections, injection.String())
		g.names = append(g.names, injection.Host())
		g.secrets = append(g.secrets, injection.Secrets()...)
	}
	g.proxy = egress.New(opts)
	return g, nil
}

// fill gives a sandbox the way out.
func (g *gate) fill(spec *sandbox.Spec) {
	if g != nil {
		spec.Proxy = g.proxy
	}
}

// rules are what is allowed, as it is shown and recorded.
func (g *gate) rules() (hosts, injections []string) {
	if g == nil {
		return nil, nil
	}
	return g.hosts, g.injections
}

// hidden are the secrets that must not be shown.
func (g *gate) hidden() []string {
	if g == nil {
		return nil
	}
	return g.secrets
}

// Close ends every connection. It may be called more than once.
func (g *gate) Close() error {
	if g == nil {
		return nil
	}
	return g.proxy.Close()
}
