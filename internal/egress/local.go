package egress

import (
	"net"
	"net/netip"
)

const (
	// localNet6 is the shortest prefix of IPv6 that is taken for a network of
	// neighbours.
	localNet6 = 48
	// link6 is the prefix of a network whose machines have addresses that count
	// as public. One that got its address by DHCP may know nothing but that
	// address, and its neighbours are there all the same.
	link6 = 64
)

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
		if network, ok := localNetwork(ipNet); ok {
			list = append(list, network)
		}
	}
	return list
}

// localNetwork is what an address of this machine makes local.
func localNetwork(ipNet *net.IPNet) (netip.Prefix, bool) {
	ip, ok := netip.AddrFromSlice(ipNet.IP)
	if !ok {
		return netip.Prefix{}, false
	}
	ip = ip.Unmap()
	bits := ip.BitLen()
	if ones, _ := ipNet.Mask.Size(); ip.Is6() && ones >= localNet6 {
		bits = ones
		if ip.IsGlobalUnicast() {
			bits = min(ones, link6)
		}
	}
	return netip.PrefixFrom(ip, bits).Masked(), true
}

// reach is how far an address leads from here.
func (p *Proxy) reach(addr netip.Addr) reach {
	at := reachOf(addr)
	if at == public && inside(addr.Unmap(), p.local()) {
		return private
	}
	return at
}
