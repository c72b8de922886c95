package egress_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/belljar/belljar/internal/egress"
)

const secret = "s3cr3t/va\"lue+&0123"

func TestMaskReader(t *testing.T) {
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, text, want string }{
		{"none", "nothing here", "nothing here"},
		{"empty", "", ""},
		{"plain", "a " + secret + " b", "a <secret-hidden> b"},
		{"twice", secret + secret, "<secret-hidden><secret-hidden>"},
		{"in JSON", string(quoted), `"<secret-hidden>"`},
		{"in a query", "?a=" + url.QueryEscape(secret), "?a=<secret-hidden>"},
		{"in a path, other digits", "s3cr3t%2fva%22lue+&0123", "<secret-hidden>"},
		{"all of it escaped", escaped(secret), "<secret-hidden>"},
		{"in upper case", "a " + strings.ToUpper(secret), "a <secret-hidden>"},
		{"in HTML, other names", "s3cr3t/va&quot;lue+&amp;0123", "<secret-hidden>"},
		{"in HTML, slashes too", "s3cr3t&#x2F;va&quot;lue+&amp;0123", "<secret-hidden>"},
		{"in JSON of PHP", `s3cr3t\/va\"lue+&0123`, "<secret-hidden>"},
		{"in HTML", html.EscapeString(secret), "<secret-hidden>"},
		{"in hexadecimal", hex.EncodeToString([]byte(secret)), "<secret-hidden>"},
		{"a beginning only", secret[:len(secret)-1], secret[:len(secret)-1]},
		{"a false start", secret[:5] + secret, secret[:5] + "<secret-hidden>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, reader := range map[string]io.Reader{
				"whole":        strings.NewReader(test.text),
				"byte by byte": iotest.OneByteReader(strings.NewReader(test.text)),
				"with the end": iotest.DataErrReader(strings.NewReader(test.text)),
			} {
				got, err := io.ReadAll(egress.MaskReader([]string{secret}, reader))
				if err != nil || string(got) != test.want {
					t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
				}
			}
		})
	}
}

// escaped is a text with each byte as an escape of a URL.
func escaped(text string) string {
	code := ""
	for _, b := range []byte(text) {
		code += fmt.Sprintf("%%%02x", b)
	}
	return code
}

// TestMaskBase64: wherever in a text the secret begins, too little of it is
// left to be of use.
func TestMaskBase64(t *testing.T) {
	for before := range 4 {
		for after := range 4 {
			text := strings.Repeat("x", before) + secret + strings.Repeat("y", after)
			code := base64.StdEncoding.EncodeToString([]byte(text))
			got, err := io.ReadAll(egress.MaskReader([]string{secret}, strings.NewReader(code)))
			if err != nil || !strings.Contains(string(got), "<secret-hidden>") || len(got) > len("<secret-hidden>")+16 {
				t.Errorf("%d before, %d after: %q, %v", before, after, got, err)
			}
		}
	}
}

// TestMaskStreams: what cannot be the beginning of a secret is not held back.
func TestMaskStreams(t *testing.T) {
	source, write := io.Pipe()
	reader := egress.MaskReader([]string{secret}, source)
	go func() {
		_, _ = io.WriteString(write, "data: one\n\n"+secret[:4]) // read below
	}()
	buf := make([]byte, 100)
	n, err := reader.Read(buf)
	if got := string(buf[:n]); err != nil || got != "data: one\n\n" {
		t.Errorf("got %q, %v", got, err)
	}
	write.CloseWithError(io.ErrUnexpectedEOF)
	if rest, err := io.ReadAll(reader); err != io.ErrUnexpectedEOF || len(rest) != 0 {
		t.Errorf("after a failure: %q, %v", rest, err)
	}
}
