package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
)

// SetLookup answers names from a table instead of DNS.
func SetLookup(p *Proxy, lookup func(ctx context.Context, name string) ([]netip.Addr, error)) {
	p.lookup = lookup
}

// MaskReader hides secrets in a stream.
func MaskReader(secrets []string, r io.Reader) io.Reader { return newMask(secrets).reader(r) }

// ReachOf tells how far an address leads, in words.
func ReachOf(addr netip.Addr) string { return reachOf(addr).String() }

// SetLocal replaces what a proxy takes for networks of this machine.
func SetLocal(p *Proxy, list ...netip.Prefix) { p.local = func() []netip.Prefix { return list } }

// LocalNetworks are the networks of this machine.
func LocalNetworks() []netip.Prefix { return localNetworks() }

// LocalNetwork is what an address of this machine makes local.
func LocalNetwork(ipNet *net.IPNet) (netip.Prefix, bool) { return localNetwork(ipNet) }
