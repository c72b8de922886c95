package egress

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// hidden stands in place of a secret.
const hidden = "<secret-hidden>"

// A mask hides secrets, as they are, in upper or lower case alone, and as they
// look inside JSON, a URL, HTML, base64 and hexadecimal. A secret in another
// disguise is not found.
type mask struct{ forms [][]byte } // the longest first

// secretParts are a header's value and those of its parts that are secrets of
// their own: "Bearer TOKEN" holds a token, "Basic CODE" a name and a password.
func secretParts(value string) []string {
	parts := []string{value}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == ';' }) {
		parts = append(parts, part)
		for _, sign := range []string{"=", ":"} {
			if _, after, ok := strings.Cut(part, sign); ok {
				parts = append(parts, strings.Trim(after, `"`))
			}
		}
	}
	if scheme, code, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(code)); err == nil {
			parts = append(parts, string(plain))
			if _, password, ok := strings.Cut(string(plain), ":"); ok {
				parts = append(parts, password)
			}
		}
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return len(part) < MinSecret })
	slices.Sort(parts)
	return slices.Compact(parts)
}

// newMask makes a mask of secrets.
func newMask(secrets []string) *mask {
	var forms []string
	for _, secret := range secrets {
		for _, text := range []string{secret, strings.ToLower(secret), strings.ToUpper(secret)} {
			forms = append(forms, text)
			forms = append(forms, urlForms(text)...)
			forms = append(forms, htmlForms(text)...)
			forms = append(forms, jsonForms(text)...)
		}
		forms = append(forms, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))))
		forms = append(forms, base64Forms(secret)...)
	}
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	m := &mask{}
	for _, form := range slices.Compact(forms) {
		m.forms = append(m.forms, []byte(form))
	}
	return m
}

// urlForms are a text inside a URL: with what must be escaped as escapes, or
// all of it, in digits of either case.
func urlForms(text string) []string {
	var all strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&all, "%%%02X", text[i])
	}
	forms := []string{url.QueryEscape(text), url.PathEscape(text), all.String()}
	for _, form := range forms {
		forms = append(forms, lowerEscapes(form))
	}
	return forms
}

// lowerEscapes writes the digits of the escapes of a URL in lower case.
func lowerEscapes(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], bytes.ToLower(out[i+1:i+3]))
		}
	}
	return string(out)
}

// htmlForms are a text inside HTML, as several libraries escape it.
func htmlForms(text string) []string {
	named := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;")
	more := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "/", "&#x2F;", "`", "&#x60;", "=", "&#x3D;")
	return []string{html.EscapeString(text), named.Replace(text), more.Replace(text)}
}

// jsonForms are a text inside a JSON string, with and without the escapes that
// HTML needs.
func jsonForms(text string) []string {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return nil
	}
	safe, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	inner := strings.TrimSuffix(plain.String(), "\n")
	return []string{inner[1 : len(inner)-1], string(safe[1 : len(safe)-1]), strings.ReplaceAll(inner[1:len(inner)-1], "/", `\/`)}
}

// base64Forms are what a text becomes inside base64 at each of the three
// places where it may begin, without the characters that its neighbours share.
func base64Forms(text string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			code := encoding.EncodeToString(append(make([]byte, before), text...))
			whole := (before + len(text)) / 3 * 4 // of groups that hold nothing else
			first := []int{0, 2, 3}[before]
			if whole-first >= MinSecret {
				forms = append(forms, code[first:whole])
			}
		}
	}
	return forms
}

// text hides the secrets in a short text.
func (m *mask) text(text string) string {
	for _, form := range m.forms {
		text = strings.ReplaceAll(text, string(form), hidden)
	}
	return text
}

// header hides the secrets in every value and drops a name that holds one.
func (m *mask) header(header http.Header) http.Header {
	out := make(http.Header, len(header))
	for name, values := range header {
		if m.text(name) != name || m.text(strings.ToLower(name)) != strings.ToLower(name) {
			continue
		}
		for _, value := range values {
			out[name] = append(out[name], m.text(value))
		}
	}
	return out
}

// reader hides the secrets in a stream. It holds back only what may be the
// beginning of one.
func (m *mask) reader(r io.Reader) io.Reader {
	return &maskReader{mask: m, source: r, chunk: make([]byte, 32<<10)}
}

type maskReader struct {
	mask   *mask
	source io.Reader
	chunk  []byte
	held   []byte // read and not yet searched to its end
	ready  []byte // searched
	err    error  // of the source
}

func (r *maskReader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.source.Read(r.chunk)
		r.err = err
		r.held = append(r.held, r.chunk[:n]...)
		r.ready, r.held = r.mask.search(r.held, errors.Is(err, io.EOF))
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// search hides the secrets in data and gives what is ready and what may be the
// beginning of another secret, which at the end is ready as well.
func (m *mask) search(data []byte, end bool) (ready, held []byte) {
	for {
		at, form := m.first(data)
		if at < 0 {
			break
		}
		ready = append(append(ready, data[:at]...), hidden...)
		data = data[at+len(form):]
	}
	keep := 0
	if !end {
		keep = m.beginning(data)
	}
	ready = append(ready, data[:len(data)-keep]...)
	return ready, bytes.Clone(data[len(data)-keep:])
}

// first finds the first secret, the longest where several begin.
func (m *mask) first(data []byte) (at int, form []byte) {
	at = -1
	for _, candidate := range m.forms {
		if i := bytes.Index(data, candidate); i >= 0 && (at < 0 || i < at) {
			at, form = i, candidate
		}
	}
	return at, form
}

// beginning is the length of the longest end of data that begins a secret.
func (m *mask) beginning(data []byte) int {
	longest := 0
	for _, form := range m.forms {
		for n := min(len(form)-1, len(data)); n > longest; n-- {
			if bytes.Equal(data[len(data)-n:], form[:n]) {
				longest = n
				break
			}
		}
	}
	return longest
}
