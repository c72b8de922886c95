package egress

import (
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// forward serves a request over plain HTTP.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	if r.URL.Scheme != "http" {
		refuse(w, http.StatusBadRequest, p.refused(r.URL.Host, "only http addresses are passed on; for https ask for a tunnel (CONNECT)").Error())
		return
	}
	h, port, err := parseTarget(r.URL.Host, portHTTP)
	if err != nil {
		refuse(w, http.StatusBadRequest, p.refused(r.URL.Host, unreadable(err)).Error())
		return
	}
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.User, out.Close = "", nil, false
	dropHopHeaders(out.Header)
	out.Header.Del("Expect") // the server answers it when the body is read
	if r.ContentLength == 0 {
		out.Body = nil
	}
	out.Host, out.URL.Host = authority(h, port, portHTTP), authority(h, port, portHTTP)
	if injection, ok := p.injection(h, port); ok {
		p.inject(w, out, injection)
		return
	}
	to, err := p.decide(r.Context(), h, port)
	if err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	resp, err := p.plain.RoundTrip(out.WithContext(withRoute(out.Context(), to)))
	if err != nil {
		p.failed(r.Context(), h, port, oneLine(err))
		refuse(w, http.StatusBadGateway, "belljar cannot reach "+h.withPort(port)+": "+oneLine(err))
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		refuse(w, http.StatusBadGateway, "the server changed the protocol unasked; for protocols such as WebSocket ask for a tunnel (CONNECT)")
		return
	}
	if err := passAnswer(w, resp, resp.Body); err != nil {
		panic(http.ErrAbortHandler) // cut off, so that it is not taken for whole
	}
}

// passAnswer hands a server's answer to the client, as it comes.
func passAnswer(w http.ResponseWriter, resp *http.Response, body io.Reader) error {
	dropHopHeaders(resp.Header)
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	flusher := http.NewResponseController(w)
	// A client that waits for the beginning of a slow answer gets it.
	if err := flusher.Flush(); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			// A stream of events must not wait for more.
			if err := flusher.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// dropHopHeaders removes what is meant for the next machine only, RFC 9110
// section 7.6.1, trailers included.
func dropHopHeaders(header http.Header) {
	for _, value := range header["Connection"] {
		for name := range strings.SplitSeq(value, ",") {
			header.Del(textproto.TrimString(name))
		}
	}
	for _, name := range []string{
		"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade",
	} {
		header.Del(name)
	}
}

// authority writes a host and port as they stand in an address; the usual port
// is left out.
func authority(h host, port, usual int) string {
	text := h.withPort(port)
	if port == usual {
		text = strings.TrimSuffix(text, ":"+strconv.Itoa(port))
	}
	return text
}
