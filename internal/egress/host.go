package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// The longest name and label that DNS has, RFC 1035 section 2.3.4.
const (
	maxName  = 253
	maxLabel = 63
)

// A host is a name or an address in the one spelling that it is compared in.
type host struct {
	name string     // lower case, ASCII, no final dot; "" for an address
	addr netip.Addr // the zero Addr for a name
}

func (h host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// withPort writes the host and a port as a flag takes them.
func (h host) withPort(port int) string { return net.JoinHostPort(h.String(), strconv.Itoa(port)) }

// parseHost reads the host of a rule or of a request. It is strict, since what
// it takes for one host must not be another one for whoever looks it up: an
// address has its usual spelling only, and nothing else may look like one.
func parseHost(text string) (host, error) {
	switch {
	case text == "":
		return host{}, errors.New("the host is empty")
	case strings.HasPrefix(text, "["):
		inside, ok := strings.CutSuffix(text[1:], "]")
		addr, err := netip.ParseAddr(inside)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return host{}, fmt.Errorf("%q is no IPv6 address in brackets", text)
		}
		return host{addr: addr.Unmap()}, nil
	case strings.Contains(text, ":"):
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return host{}, fmt.Errorf("%q is neither a name nor an IPv6 address", text)
		}
		return host{addr: addr.Unmap()}, nil
	}
	name, err := asciiName(text)
	if err != nil {
		return host{}, err
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return host{addr: addr}, nil
	}
	return host{name: name}, checkName(name)
}

// asciiName brings a name into its ASCII form, without a final dot.
func asciiName(text string) (string, error) {
	name := strings.TrimSuffix(text, ".")
	for i := range len(name) {
		if name[i] >= 0x80 {
			ascii, err := idna.Lookup.ToASCII(name)
			if err != nil {
				return "", fmt.Errorf("%q is no host name", text)
			}
			return ascii, nil
		}
	}
	return strings.ToLower(name), nil
}

// checkName checks the form of a name. One that ends in a number is an address
// in some spelling (0x7f.1, 127.1, 2130706433) for many who look it up.
func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a host name has 1 to %d characters", maxName)
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return fmt.Errorf("%q is no host name", name)
		}
	}
	last := labels[len(labels)-1]
	_, hex := strings.CutPrefix(last, "0x")
	if hex || strings.Trim(last, "0123456789") == "" {
		return fmt.Errorf("%q is an address in an odd spelling: write it as 192.0.2.1 or [2001:db8::1]", name)
	}
	return nil
}

// splitPort splits HOST[:PORT]. Without a port it is 0. An IPv6 address may
// stand without brackets where no port follows.
func splitPort(text string) (hostText string, port int, err error) {
	if strings.Count(text, ":") > 1 && !strings.HasPrefix(text, "[") {
		return text, 0, nil
	}
	at := strings.LastIndexByte(text, ':')
	if at < 0 || at < strings.LastIndexByte(text, ']') {
		return text, 0, nil
	}
	port, err = parsePort(text[at+1:])
	return text[:at], port, err
}

// parsePort reads a port in plain digits.
func parsePort(text string) (int, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 || text[0] == '0' || text[0] == '+' {
		return 0, fmt.Errorf("%q is no port: it is a number from 1 to 65535", text)
	}
	return int(port), nil
}
