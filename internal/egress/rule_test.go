package egress_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/egress"
)

func TestParseRule(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"example.org", "example.org"},
		{"Example.ORG.", "example.org"},
		{"example.org:8443", "example.org:8443"},
		{"*.example.org", "*.example.org"},
		{"*.Example.org:80", "*.example.org:80"},
		{"bücher.example", "xn--bcher-kva.example"},
		{"under_score.example", "under_score.example"},
		{"localhost", "localhost"},
		{"192.0.2.1", "192.0.2.1"},
		{"127.0.0.1:8080", "127.0.0.1:8080"},
		{"[2001:DB8::1]:8080", "[2001:db8::1]:8080"},
		{"2001:db8::1", "2001:db8::1"},
		{"[::ffff:127.0.0.1]:80", "127.0.0.1:80"},
		{"１２７.0.0.1", "127.0.0.1"}, // full-width digits are digits
	} {
		rule, err := egress.ParseRule(test.text)
		if err != nil {
			t.Errorf("ParseRule(%q): %v", test.text, err)
		} else if got := rule.String(); got != test.want {
			t.Errorf("ParseRule(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestParseRuleRefuses(t *testing.T) {
	for _, test := range []struct{ text, words string }{
		{"", "empty"},
		{"*", "star"},
		{"*.org", "two labels"},
		{"a.*.org", "star"},
		{"*example.org", "star"},
		{"https://example.org/x", "write the host alone, such as example.org"},
		{"user@example.org", "no host name"},
		{"example.org/path", "no host name"},
		{"exa mple.org", "no host name"},
		{"example.org\x00", "no host name"},
		{"example.org\n", "no host name"},
		{"a..org", "no host name"},
		{"example.org..", "no host name"},
		{"-a.org", "no host name"},
		{"0x7f.1", "odd spelling"},
		{"0X7F000001", "odd spelling"},
		{"127.1", "odd spelling"},
		{"2130706433", "odd spelling"},
		{"0177.0.0.1", "odd spelling"},
		{"1.2.3.4.", ""}, // checked below: it is the address
		{"*.1.2.3.4", "below an address"},
		{"[::1", "brackets"},
		{"[fe80::1%eth0]:80", "brackets"},
		{"[127.0.0.1]", "brackets"},
		{"::g", "neither"},
		{"example.org:0", "no port"},
		{"example.org:65536", "no port"},
		{"example.org:http", "no port"},
		{"example.org:", "no port"},
		{"example.org:+80", "no port"},
		{"0.0.0.0", "one machine"},
		{"224.0.0.1", "one machine"},
		{strings.Repeat("a.", 127) + "org", "characters"},
		{strings.Repeat("a", 64) + ".org", "no host name"},
	} {
		rule, err := egress.ParseRule(test.text)
		switch {
		case test.words == "":
			if err != nil {
				t.Errorf("ParseRule(%q): %v", test.text, err)
			}
		case err == nil:
			t.Errorf("ParseRule(%q) = %v, want an error", test.text, rule)
		case !strings.Contains(err.Error(), test.words) || strings.Contains(err.Error(), "\n"):
			t.Errorf("ParseRule(%q): %q, want one line that says %q", test.text, err, test.words)
		}
	}
	if _, err := egress.ParsePrivate("*.example.org"); err == nil {
		t.Error("a star may lead to private addresses")
	}
}

// FuzzParseRule: what is taken has a spelling that stands for itself.
func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{"example.org", "*.a.b:1", "[::1]:80", "0x7f.1", "bücher.de", "１.1.1.1", "a_b.c."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := egress.ParseRule(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("%q: the error %q is not one line", text, err)
			}
			return
		}
		spelled := rule.String()
		if strings.ContainsFunc(spelled, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("@/\\%#?", r) }) {
			t.Errorf("%q became %q", text, spelled)
		}
		again, err := egress.ParseRule(spelled)
		if err != nil || again != rule {
			t.Errorf("%q became %q, which becomes %v, %v", text, spelled, again, err)
		}
	})
}

func TestReach(t *testing.T) {
	for want, addrs := range map[string][]string{
		"public": {"1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"},
		"private": {
			"10.1.2.3", "127.0.0.1", "127.255.255.254", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd00::1",
			"::ffff:127.0.0.1", "::ffff:10.0.0.1",
		},
		"reserved": {
			"169.254.169.254", "169.254.1.1", "fe80::1", "0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "255.255.255.255", "ff02::1",
			"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::1", "2001::1", "2001:db8::1", "::7f00:1",
			"192.0.2.1", "198.18.0.1", "240.0.0.1", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fec0::1",
			"::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
		},
	} {
		for _, text := range addrs {
			if got := egress.ReachOf(netip.MustParseAddr(text)); got != want {
				t.Errorf("%s is %s, want %s", text, got, want)
			}
		}
	}
}
