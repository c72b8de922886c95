package egress

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The ports of a rule that names none: HTTP and HTTPS.
const (
	portHTTP  = 80
	portHTTPS = 443
)

// A Rule allows connections to one host, or to all below one name. The zero
// value allows nothing.
type Rule struct {
	host    host
	below   bool // *.name: every name below, not the name itself
	port    int  // 0: portHTTP and portHTTPS
	private bool // the name may lead to a private address
}

// ParseRule reads HOST[:PORT]. HOST is a name, *.NAME for every name below it,
// or an IP address; IPv6 stands in brackets where a port follows. Without a
// port it is 80 and 443. An error says in one line what is wrong and what is
// written instead.
//
// A name is never followed to an address that is not public, see ParsePrivate.
// An address that is itself the host is allowed whatever it is.
func ParseRule(text string) (Rule, error) {
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		rest, _, _ = strings.Cut(rest, "/")
		return Rule{}, fmt.Errorf("%q is an address with a scheme (%s): write the host alone, such as %s", text, scheme, rest)
	}
	hostText, port, err := splitPort(text)
	if err != nil {
		return Rule{}, err
	}
	name, below := strings.CutPrefix(hostText, "*.")
	if strings.Contains(name, "*") {
		return Rule{}, fmt.Errorf("%q: a star stands only at the beginning, before a dot: *.example.org", text)
	}
	h, err := parseHost(name)
	switch {
	case err != nil:
		return Rule{}, err
	case below && h.addr.IsValid():
		return Rule{}, fmt.Errorf("%q: there is nothing below an address", text)
	case below && !strings.Contains(h.name, "."):
		return Rule{}, fmt.Errorf("%q allows too much: name at least two labels, such as *.example.org", text)
	case h.addr.IsValid() && (h.addr.IsUnspecified() || h.addr.IsMulticast()):
		return Rule{}, fmt.Errorf("%q is not the address of one machine", text)
	}
	return Rule{host: h, below: below, port: port}, nil
}

// ParsePrivate reads a rule as ParseRule does for a name that may also lead to
// an address of a private network or of this machine. Link-local addresses and
// those of metadata services stay blocked.
func ParsePrivate(text string) (Rule, error) {
	rule, err := ParseRule(text)
	if err == nil && rule.below {
		err = errors.New("a name that may lead to a private address is given in full, without a star")
	}
	if err != nil {
		return Rule{}, err
	}
	rule.private = true
	return rule, nil
}

// Host is the name or address that the rule is about, also of one for what is
// below a name.
func (r Rule) Host() string { return r.host.String() }

// String is the rule as it is written, in its usual spelling.
func (r Rule) String() string {
	text := r.host.String()
	if r.host.addr.Is6() && r.port != 0 {
		text = "[" + text + "]"
	}
	if r.below {
		text = "*." + text
	}
	if r.port != 0 {
		text += ":" + strconv.Itoa(r.port)
	}
	if r.private {
		text += privateMark
	}
	return text
}

// privateMark ends the text of a rule for a host that may be private.
const privateMark = " (private addresses too)"

// CutPrivate takes the text of a rule apart into the host, as ParseRule or
// ParsePrivate takes it, and whether it is one of the latter.
func CutPrivate(rule string) (host string, private bool) { return strings.CutSuffix(rule, privateMark) }

// matches tells whether the rule allows a host and port, addresses aside.
func (r Rule) matches(h host, port int) bool {
	if r.port != port && (r.port != 0 || port != portHTTP && port != portHTTPS) {
		return false
	}
	if r.below {
		return strings.HasSuffix(h.name, "."+r.host.name)
	}
	return r.host == h && r.host != host{}
}

// find returns the rule that allows a host and port. One that lets a name lead
// to private addresses counts more than another.
func find(rules []Rule, h host, port int) (found Rule, ok bool) {
	for _, rule := range rules {
		if rule.matches(h, port) && (!ok || rule.private) {
			found, ok = rule, true
		}
	}
	return found, ok
}
