package main

import (
	"slices"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// noProxyNames are the variables that keep programs from using a proxy.
func noProxyNames() []string { return []string{"NO_PROXY", "no_proxy"} }

// leadOut makes hosts that are allowed reachable although programs go to them
// without a proxy: the names of loopback, which are the sandbox itself unless
// one of them is allowed, and those that the user's own variable names. What
// that changes, or what cannot be changed, is said.
func (a *app) leadOut(g *gate, spec *sandbox.Spec) {
	if g == nil {
		return
	}
	own := false
	for _, pair := range spec.Env {
		name, value, _ := strings.Cut(pair, "=")
		if !slices.Contains(noProxyNames(), name) {
			continue
		}
		own = true
		for _, host := range g.names {
			if slices.ContainsFunc(strings.Split(value, ","), func(entry string) bool { return passesBy(entry, host) }) {
				a.notice("the variable %s keeps programs from the way to %s, which is allowed: leave that host out of it", name, host)
			}
		}
	}
	if own {
		return
	}
	var rest []string
	for _, entry := range sandbox.Loopback() {
		i := slices.IndexFunc(g.names, func(host string) bool { return passesBy(entry, host) })
		if i < 0 {
			rest = append(rest, entry)
			continue
		}
		a.notice("inside, %s leads to this machine for programs that use the proxy, not to the sandbox itself; some never use one for it", g.names[i])
	}
	if len(rest) == len(sandbox.Loopback()) {
		return
	}
	for _, name := range noProxyNames() {
		spec.Env = append(spec.Env, name+"="+strings.Join(rest, ","))
	}
}

// passesBy tells whether an entry of NO_PROXY keeps a host from the proxy: the
// host itself, a name that it is below, or all.
func passesBy(entry, host string) bool {
	entry = strings.ToLower(strings.TrimSpace(entry))
	if entry == "*" {
		return true
	}
	entry = strings.TrimPrefix(strings.TrimPrefix(entry, "*"), ".")
	return entry != "" && (host == entry || strings.HasSuffix(host, "."+entry))
}
