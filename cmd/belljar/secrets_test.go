package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSecretsOfAddresses: keys are secret wherever they stand, and the words of an address
// are not.
func TestSecretsOfAddresses(t *testing.T) {
	const base = "https://host/v1?"
	for name, test := range map[string]struct {
		flag string
		vars map[string]string
		env  []string
		want []string
	}{
		"a tenant":                   {flag: base + "tenant=workspace"},
		"a region":                   {flag: base + "region=us-east-1"},
		"a deployment":               {flag: base + "deployment=production"},
		"a date":                     {flag: base + "preview=2024-10-21"},
		"an option":                  {flag: base + "stream_timeout_seconds"},
		"a host":                     {flag: base + "tenant=localhost"},
		"by name":                    {flag: base + "Ocp-Apim-Subscription-Key=workspace", want: []string{"workspace"}},
		"by a short name":            {flag: base + "x-sig=workspace&se=workshop", want: []string{"workspace"}},
		"a name within another":      {flag: base + "encoder=workspace&design=workshop&passage=forestry"},
		"by its look":                {flag: base + "conversion=sk-0123456789abcdef", want: []string{"sk-0123456789abcdef"}},
		"by the variable":            {vars: map[string]string{addressVariable: base + "code=workspace"}, want: []string{"workspace"}},
		"the key":                    {vars: map[string]string{keyVariable: "k"}, want: []string{"k"}},
		"handed on":                  {env: []string{"MY_TOKEN=one", "OTHER=two", keyVariable + "=three"}, want: []string{"one", "three"}},
		"handed on within addresses": {env: []string{addressVariable + "=" + base + "code=workspace"}, want: []string{"workspace"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(nil)
			a.lookupEnv = func(name string) (string, bool) { value, ok := test.vars[name]; return value, ok }
			if diff := cmp.Diff(test.want, a.secrets(test.flag, test.env)); diff != "" {
				t.Errorf("secrets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHandedKeyIsTold: whoever hands a key to the sandbox is told so, whichever
// flag and variable it is in.
func TestHandedKeyIsTold(t *testing.T) {
	const address = "https://host/v1?code=sk-canary"
	for name, test := range map[string]struct {
		flags sandboxFlags
		vars  map[string]string
		want  string // "" is nothing
	}{
		"the key":            {sandboxFlags{pass: []string{keyVariable}}, map[string]string{keyVariable: "k"}, "this key"},
		"an address":         {sandboxFlags{pass: []string{addressVariable}}, map[string]string{addressVariable: address}, "the key in this address"},
		"an address, given":  {sandboxFlags{env: []string{addressVariable + "=" + address}}, nil, "the key in this address"},
		"an address without": {sandboxFlags{pass: []string{addressVariable}}, map[string]string{addressVariable: "https://host/v1?tenant=workspace"}, ""},
		"another variable":   {sandboxFlags{env: []string{"OTHER=" + address}}, nil, ""},
		"an empty key":       {sandboxFlags{pass: []string{keyVariable}}, map[string]string{keyVariable: ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr strings.Builder
			a := newApp(nil)
			a.stdout, a.stderr = io.Discard, &stderr
			a.lookupEnv = func(name string) (string, bool) { value, ok := test.vars[name]; return value, ok }
			if _, err := test.flags.environment(a); err != nil {
				t.Fatal(err)
			}
			if said := stderr.String(); (said != "") != (test.want != "") || !strings.Contains(said, test.want) || strings.Contains(said, "sk-canary") {
				t.Errorf("stderr %q, want %q in it", said, test.want)
			}
		})
	}
}
