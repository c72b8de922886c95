package egress

import (
	"net/netip"
	"slices"
)

// A reach is how far an address leads.
type reach int

const (
	public  reach = iota // the internet
	private              // a private network, or this machine
	special              // nothing that a name should lead to
)

func (r reach) String() string {
	switch r {
	case public:
		return "public"
	case private:
		return "private"
	default:
		return "reserved"
	}
}

// reachOf classifies an address by the special-purpose registries of the IANA
// (RFC 6890 and its updates). Of IPv6 only what is assigned for global use is
// public, 2000::/3, and of that no form that carries an IPv4 address. Metadata
// services are special wherever they are: they hand out a machine's keys.
func reachOf(addr netip.Addr) reach {
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid() || inside(addr, metadata()):
		return special
	case inside(addr, privateNetworks()):
		return private
	case addr.Is4() && !inside(addr, special4()):
		return public
	case addr.Is6() && netip.MustParsePrefix("2000::/3").Contains(addr) && !inside(addr, special6()):
		return public
	default:
		return special
	}
}

func inside(addr netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// privateNetworks are those of private and shared use, and loopback.
func privateNetworks() []netip.Prefix {
	return prefixes("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
}

// metadata are the addresses at which clouds tell a machine about itself, as
// far as they are no link-local ones: Azure, Alibaba, AWS over IPv6.
func metadata() []netip.Prefix {
	return prefixes("168.63.129.16/32", "100.100.100.200/32", "fd00:ec2::/32")
}

func special4() []netip.Prefix {
	return prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")
}

// special6 are protocol assignments with Teredo, documentation, and 6to4.
func special6() []netip.Prefix {
	return prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}
