package egress

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
)

// A Decision says whether a host and port may be reached.
type Decision struct {
	// Host is as it was asked for, in its usual spelling where it has one; at
	// most 253 bytes of untrusted text. Port is 0 where what was asked for cannot
	// be read as a host and port; Host is all of it then.
	Host string
	Port int
	// Allowed is set when the connection may be made; whether it can be is
	// another matter.
	Allowed bool
	// Rule is the rule that allowed the host, "" where none did. Of a host
	// that was asked for it is Asked.
	Rule string
	// Reason says why a connection was denied, and Hint what allows it, where
	// something does.
	Reason, Hint string
}

// Asked is the rule of a host that Options.Ask allowed.
const Asked = "asked"

// maxQuestions is how often is asked: a program that wants to be let out must
// not be able to wear a person down.
const maxQuestions = 20

// A question is about one host and port, and an answer comes once.
type question struct {
	host host
	port int
}

type answer struct {
	done    chan struct{} // closed when allowed is set
	allowed bool
}

// A denial is why a connection is not made, in words for the client.
type denial struct{ text string }

func (d *denial) Error() string { return d.text }

// A route is where an allowed connection goes.
type route struct {
	host  host
	port  int
	addrs []netip.Addr // checked; tried in this order
	err   error        // set when the name has none
}

// decide says whether a target may be reached, tells it, and gives the way.
// The error is a *denial.
func (p *Proxy) decide(ctx context.Context, h host, port int) (route, error) {
	rule, name, ok := p.rule(ctx, h, port)
	if !ok {
		hint := h.String()
		if port != portHTTP && port != portHTTPS {
			hint = h.withPort(port)
		}
		return route{}, p.deny(h.String(), port, "no rule allows it", "--allow-host "+hint+" allows it")
	}
	to := route{host: h, port: port}
	to.addrs, to.err = p.resolve(ctx, h)
	if to.err == nil {
		reachable := p.allowedAddrs(rule, to.addrs)
		if len(reachable) == 0 {
			addr := to.addrs[0]
			return route{}, p.deny(h.String(), port, fmt.Sprintf("it leads to the %v address %v", p.reach(addr), addr), p.privateHint(h, port, addr))
		}
		to.addrs = reachable
	}
	decision := Decision{Host: h.String(), Port: port, Allowed: true, Rule: name}
	if err := p.tell(decision); err != nil {
		return route{}, &denial{"the decision could not be put on record"}
	}
	return to, nil
}

// rule finds what allows a target; name is the rule's for a decision.
func (p *Proxy) rule(ctx context.Context, h host, port int) (rule Rule, name string, ok bool) {
	if rule, ok = find(p.opts.Rules, h, port); ok {
		return rule, rule.String(), true
	}
	if p.opts.Ask == nil || h.addr.IsValid() && p.reach(h.addr) != public {
		return Rule{}, "", false
	}
	if !p.ask(ctx, question{h, port}) {
		return Rule{}, "", false
	}
	return Rule{host: h, port: port}, Asked, true
}

// ask returns the answer to a question, which is asked if it never was.
func (p *Proxy) ask(ctx context.Context, q question) bool {
	p.mu.Lock()
	a, known := p.asked[q]
	if !known && len(p.asked) >= maxQuestions {
		p.mu.Unlock()
		return false
	}
	if !known {
		a = &answer{done: make(chan struct{})}
		p.asked[q] = a
		p.running.Go(func() { p.question(q, a) })
	}
	p.mu.Unlock()
	select {
	case <-a.done:
		return a.allowed
	case <-ctx.Done():
		return false
	}
}

// question asks when no other question is under way. It does not end with the
// connection that raised it: the client may try again until the answer is there.
func (p *Proxy) question(q question, a *answer) {
	defer close(a.done)
	select {
	case p.asking <- struct{}{}:
	case <-p.lifetime.Done():
		return
	}
	defer func() { <-p.asking }()
	a.allowed = p.opts.Ask(p.lifetime, q.host.String(), q.port)
}

// deny tells a denial and words it for the client.
func (p *Proxy) deny(hostText string, port int, reason, hint string) error {
	text := fmt.Sprintf("belljar does not allow %s:%d: %s", hostText, port, reason)
	if hint != "" {
		text += "; " + hint
	}
	// A denial holds whether or not it could be told.
	_ = p.tell(Decision{Host: hostText, Port: port, Reason: reason, Hint: hint})
	return &denial{text}
}

// refused tells a denial of what cannot be read as a target, and words it for
// the client.
func (p *Proxy) refused(target, why string) error {
	// A denial holds whether or not it could be told.
	_ = p.tell(Decision{Host: escaped(target, maxHostText), Reason: why})
	return &denial{"belljar does not pass this on: " + why}
}

const (
	// maxHostText is the most of a host in a decision, in bytes: the longest
	// name there is.
	maxHostText = 253
	// maxReason is the most of a reason, which may quote what was asked for.
	maxReason = 500
)

// escaped is a text in printable ASCII with escapes for the rest, cut to a
// number of bytes.
func escaped(text string, limit int) string {
	quoted := strconv.QuoteToASCII(text[:min(len(text), limit)])
	return quoted[1:min(len(quoted)-1, limit+1)]
}

// unreadable is why a target cannot be read, in one line.
func unreadable(err error) string {
	text := oneLine(err)
	return "it cannot be told what to connect to: " + text[:min(len(text), maxReason)]
}

func (p *Proxy) tell(d Decision) error {
	if p.opts.Decided == nil {
		return nil
	}
	return p.opts.Decided(d)
}

// failed tells of an allowed connection that could not be made, unless the
// client did not wait for it.
func (p *Proxy) failed(ctx context.Context, h host, port int, reason string) {
	if p.opts.Failed != nil && ctx.Err() == nil {
		p.opts.Failed(h.String(), port, reason)
	}
}

// allowedAddrs are the addresses that a rule lets its host lead to.
func (p *Proxy) allowedAddrs(rule Rule, addrs []netip.Addr) []netip.Addr {
	if rule.host.addr.IsValid() {
		return addrs // the address itself was named
	}
	var list []netip.Addr
	for _, addr := range addrs {
		if at := p.reach(addr); at == public || at == private && rule.private {
			list = append(list, addr)
		}
	}
	return list
}

// privateHint says how an address that is not public can be allowed.
func (p *Proxy) privateHint(h host, port int, addr netip.Addr) string {
	literal := host{addr: addr}
	name, byAddr := h.String(), literal.String()
	if port != portHTTP && port != portHTTPS {
		name, byAddr = h.withPort(port), literal.withPort(port)
	}
	if p.reach(addr) == private {
		return "--allow-private-host " + name + " allows it"
	}
	return "only the address itself can be allowed, by --allow-host " + byAddr
}
