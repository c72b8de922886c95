package egress

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// MinSecret is the length in bytes from which a value can be injected. What is
// shorter is a word that could not be hidden in an answer without garbling it.
const MinSecret = 8

// An Injection adds a header with a secret to requests for one host.
type Injection struct {
	host   host
	port   int    // that TLS is spoken to
	header string // in its canonical form
	value  string
}

// ParseInjection reads HOST[:PORT]=NAME:VARIABLE: requests over plain HTTP for
// HOST (and PORT) go to it over TLS, to port 443 where none is given, with the
// header NAME set to the value of an environment variable, which lookupEnv
// finds. No error holds the value.
func ParseInjection(text string, lookupEnv func(string) (string, bool)) (Injection, error) {
	target, header, ok := strings.Cut(text, "=")
	name, variable, both := strings.Cut(header, ":")
	if !ok || !both || variable == "" {
		return Injection{}, fmt.Errorf("%q is not HOST=HEADER:VARIABLE, such as api.example.org=Authorization:API_AUTH", text)
	}
	h, port, err := parseTarget(target, portHTTPS)
	if err != nil {
		return Injection{}, err
	}
	if !httpguts.ValidHeaderFieldName(name) || reservedHeader(name) {
		return Injection{}, fmt.Errorf("%q is no header that can be added", name)
	}
	value, ok := lookupEnv(variable)
	switch {
	case !ok:
		return Injection{}, fmt.Errorf("the variable %s is not set", variable)
	case len(value) < MinSecret:
		return Injection{}, fmt.Errorf("the value of %s has less than %d bytes, too little for a secret", variable, MinSecret)
	case !httpguts.ValidHeaderFieldValue(value) || strings.TrimSpace(value) != value:
		return Injection{}, fmt.Errorf("the value of %s cannot stand in a header: it has control characters, or spaces at an end", variable)
	}
	return Injection{host: h, port: port, header: http.CanonicalHeaderKey(name), value: value}, nil
}

// reservedHeader tells the headers that belong to the connection or say where
// a request goes.
func reservedHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Content-Encoding", "Accept-Encoding", "Transfer-Encoding",
		"Trailer", "Te", "Upgrade", "Expect", "Keep-Alive", "Range", "If-Range", "Proxy-Connection", "Proxy-Authorization":
		return true
	default:
		return false
	}
}

// String says what is injected where, without the value.
func (i Injection) String() string {
	return authority(i.host, i.port, portHTTPS) + "=" + i.header
}

// Host is the name or address that the header is for.
func (i Injection) Host() string { return i.host.String() }

// Secrets are the texts that must not be shown: the value, and its parts, of
// which an answer may echo one alone.
func (i Injection) Secrets() []string { return secretParts(i.value) }

// rules allow the host: tunnels to its port, and plain requests, which are
// never passed on as such.
func (i Injection) rules() []Rule { return []Rule{{host: i.host, port: i.port}} }

// injection finds the injection for a plain request's target. The port is the
// usual one of HTTP or that of the injection.
func (p *Proxy) injection(h host, port int) (Injection, bool) {
	for _, injection := range p.opts.Injections {
		if injection.host == h && (port == injection.port || port == portHTTP && injection.port == portHTTPS) {
			return injection, true
		}
	}
	return Injection{}, false
}

// tlsConfig verifies servers by the roots.
func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// inject passes a request on over TLS, with the header added, and hides the
// secret in the answer. Redirects are the client's to follow: the secret goes
// to this host and nowhere else.
func (p *Proxy) inject(w http.ResponseWriter, out *http.Request, injection Injection) {
	to, err := p.decide(out.Context(), injection.host, injection.port)
	if err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	out.URL.Scheme = "https"
	out.Host = authority(injection.host, injection.port, portHTTPS)
	out.URL.Host = out.Host
	// A compressed answer, or pieces of one, could not be searched.
	for _, name := range []string{"Range", "If-Range"} {
		out.Header.Del(name)
	}
	out.Header.Set("Accept-Encoding", "identity")
	out.Header[injection.header] = []string{injection.value}
	resp, err := p.secure.RoundTrip(out.WithContext(withRoute(out.Context(), to)))
	mask := newMask(injection.Secrets())
	if err != nil {
		reason := mask.text(oneLine(err))
		p.failed(out.Context(), injection.host, injection.port, reason)
		refuse(w, http.StatusBadGateway, "belljar cannot reach "+out.Host+" over TLS: "+reason)
		return
	}
	defer resp.Body.Close()
	if err := searchable(resp); err != nil {
		refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	resp.Header = mask.header(resp.Header)
	resp.Header.Del("Content-Length") // hiding changes it
	if err := passAnswer(w, resp, mask.reader(resp.Body)); err != nil {
		panic(http.ErrAbortHandler) // cut off, so that it is not taken for whole
	}
}

// searchable refuses an answer in which a secret could not be found.
func searchable(resp *http.Response) error {
	for _, coding := range resp.Header["Content-Encoding"] {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return errors.New("the server compressed its answer unasked, so belljar cannot hide the injected secret in it")
		}
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return errors.New("the server changed the protocol unasked, so belljar cannot hide the injected secret in it")
	}
	return nil
}
