package openai

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/belljar/belljar/agent/model"
)

// transportError sorts failures of the way to the server and says what each
// is in words that tell what to do.
func transportError(err error) *model.Error {
	answered := true
	if address := new(url.Error); errors.As(err, &address) {
		// Only what fails before there is an answer has an address about it. The
		// address is told anyway.
		answered, err = false, address.Err
	}
	for _, sort := range []func(error) *model.Error{proxyError, nameError, tlsError, dialError} {
		if e := sort(err); e != nil {
			return e
		}
	}
	closed := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "server closed idle connection")
	cut := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) // by the transport, which saw the end while it was still sending
	switch {
	case closed && answered:
		return model.Errorf(model.Cut, "the connection was closed in the middle of the answer")
	case closed:
		return model.Errorf(model.Cut, "the connection was closed by the server without an answer")
	case cut && answered:
		return model.Errorf(model.Cut, "the connection was cut by the server or the network in the middle of the answer")
	case cut:
		return model.Errorf(model.Cut, "the connection was cut by the server or the network before an answer came")
	default:
		return model.Errorf(model.Cut, "the request failed: %s", oneLine(err.Error()))
	}
}

// proxyError tells of a proxy that is in the way. It comes before all others,
// which would take its faults for the server's.
func proxyError(err error) *model.Error {
	var dial *net.OpError
	if !errors.As(err, &dial) {
		return nil
	}
	switch {
	case dial.Op == "proxyconnect":
		e := model.Errorf(model.Transient, "the proxy that HTTPS_PROXY or HTTP_PROXY names cannot be reached: %s", oneLine(dial.Err.Error()))
		if inner := cmp.Or(nameError(dial.Err), tlsError(dial.Err)); inner != nil {
			e.Kind = inner.Kind // a wrong name or certificate does not pass, whoever has it
		}
		return e
	case strings.HasPrefix(dial.Op, "socks "):
		return model.Errorf(model.Transient, "the proxy cannot reach the server: %s", oneLine(dial.Err.Error()))
	default:
		return nil
	}
}

// nameError tells of a name that could not be looked up.
func nameError(err error) *model.Error {
	var dns *net.DNSError
	switch {
	case !errors.As(err, &dns):
		return nil
	case dns.IsNotFound:
		return model.Errorf(model.NoHost, "there is no host of the name %q; check the base url and the network", dns.Name)
	case dns.IsTimeout:
		return model.Errorf(model.Transient, "the name %q could not be looked up: no DNS server answers; check the network", dns.Name)
	default:
		return model.Errorf(model.Transient, "the name %q could not be looked up (%s); check the network and its DNS", dns.Name, oneLine(dns.Err))
	}
}

// tlsError tells of a server that cannot be spoken to in private. Certificates
// do not become good by waiting.
func tlsError(err error) *model.Error {
	var (
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		roots   x509.SystemRootsError
		record  tls.RecordHeaderError
		alert   *net.OpError // how crypto/tls tells of an alert, in either direction
	)
	switch {
	case errors.As(err, &roots):
		return model.Errorf(model.Permanent, "no certificate can be checked, for this machine has no list of trusted ones; install ca-certificates, or name one with SSL_CERT_FILE")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return model.Errorf(model.Permanent, "its certificate has expired or is not valid yet; if it is a good one, this machine's clock is wrong: %s", oneLine(invalid.Error()))
	case errors.As(err, &unknown):
		return model.Errorf(model.Permanent, "its certificate is not trusted: %s; where the server is your own, name its authority with SSL_CERT_FILE", oneLine(unknown.Error()))
	case errors.As(err, &host), errors.As(err, &verify), errors.As(err, &invalid):
		return model.Errorf(model.Permanent, "its certificate is not trusted: %s", oneLine(err.Error()))
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return model.Errorf(model.Permanent, "it does not speak https; write http:// in the base url")
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"):
		return model.Errorf(model.Permanent, "belljar and it cannot agree on TLS: %s", oneLine(alert.Err.Error()))
	case strings.Contains(err.Error(), "TLS handshake timeout"):
		return model.Errorf(model.Transient, "it took the connection and did not answer in TLS; is it the right port?")
	default:
		return nil
	}
}

// dialError tells of a connection that was never made.
func dialError(err error) *model.Error {
	var dial *net.OpError
	if !errors.As(err, &dial) {
		return nil
	}
	switch {
	case dial.Op != "dial":
		return nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return model.Errorf(model.Transient, "no connection: nothing listens there (connection refused); is the server running?")
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return model.Errorf(model.Transient, "no connection: the network does not reach it (%s); check the network", oneLine(dial.Err.Error()))
	case errors.Is(err, os.ErrDeadlineExceeded), dial.Timeout():
		return model.Errorf(model.Transient, "no connection: it does not answer; check the base url, the network and firewalls")
	default:
		return model.Errorf(model.Transient, "no connection: %s; is the server running?", oneLine(dial.Err.Error()))
	}
}
