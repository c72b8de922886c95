package egress

import (
	"net"
	"net/netip"
)

// localNet6 is the shortest prefix of IPv6 that is taken for a network of
// neighbours.
const localNet6 = 48

// localNetworks are the addresses of this machine, and the IPv6 networks that
// it is in: behind a router at home every machine has an address that counts as
// public, and that nobody outside gets to. They are asked for each time, since
// machines move.
func localNetworks() []netip.Prefix {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil // what is private by its number is so all the same
	}
	var list []netip.Prefix
	for _, addr := range addrs {
		ipNet, ok := addr.(*net.IPNet)
		if !ok {
			continue
		}
		ip, ok := netip.AddrFromSlice(ipNet.IP)
		if !ok {
			continue
		}
		ip = ip.Unmap()
		bits := ip.BitLen()
		if ones, _ := ipNet.Mask.Size(); ip.Is6() && ones >= localNet6 {
			bits = ones
		}
		list = append(list, netip.PrefixFrom(ip, bits).Masked())
	}
	return list
}

// reach is how far an address leads from here.
func (p *Proxy) reach(addr netip.Addr) reach {
	at := reachOf(addr)
	if at == public && inside(addr.Unmap(), p.local()) {
		return private
	}
	return at
}
