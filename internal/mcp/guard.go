package mcp

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// NewToken makes a token that nobody can guess.
func NewToken() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// guard lets through what bears the token and comes from no foreign web page: a
// page whose name is made to lead to this machine sends that name as the host,
// and every page its own as the origin.
func guard(opts HTTPOptions, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !opts.AllowRemote && !isLoopback(r.Host):
			refuse(w, http.StatusForbidden, "this server is asked by localhost or 127.0.0.1, not by another name")
		case !knownOrigin(r.Header.Values("Origin")):
			refuse(w, http.StatusForbidden, "requests of web pages are not answered")
		case !bears(r.Header.Values("Authorization"), opts.Token):
			w.Header().Set("WWW-Authenticate", `Bearer realm="belljar"`)
			refuse(w, http.StatusUnauthorized, "the header \"Authorization: Bearer TOKEN\" is missing or has another token than the server's")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// refuse answers a request that does not come in. What more it would send is not
// read.
func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Connection", "close")
	http.Error(w, text, code)
}

// isLoopback tells whether a host, perhaps with a port, is this machine by the
// names that nobody else can give away.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// knownOrigin tells whether a request comes from no web page, or from one of this
// machine.
func knownOrigin(origins []string) bool {
	for _, origin := range origins {
		page, err := url.Parse(origin)
		if err != nil || page.Host == "" || !isLoopback(page.Host) {
			return false
		}
	}
	return true
}

// bears tells whether the headers are one with the token. How long the comparison
// takes does not tell how much of it was right.
func bears(headers []string, token string) bool {
	if len(headers) != 1 || token == "" {
		return false
	}
	scheme, given, _ := strings.Cut(headers[0], " ")
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
