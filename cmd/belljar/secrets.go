package main

import (
	"strings"

	"github.com/belljar/belljar/agent/model/openai"
)

// isKeyVariable tells the variables that hold the key of a model's server.
func isKeyVariable(name string) bool { return name == keyVariable }

// keyVariable holds the key of the model's server, and addressVariable its
// address.
const (
	keyVariable     = "OPENAI_API_KEY"
	addressVariable = "OPENAI_BASE_URL"
)

// looksSecret tells by its name whether a variable holds a secret. It is asked
// only of variables that are handed to the sandbox on request.
func looksSecret(name string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

// secrets are the values that must not stand in a record: the model's key, what
// may be one in the address of its server, by the flag or the variable, and what
// was handed to the sandbox under a name that says it is secret.
func (a *app) secrets(baseURL string, env []string) []string {
	values := append(openai.AddressSecrets(baseURL), openai.AddressSecrets(a.getenv(addressVariable))...)
	if key := a.getenv(keyVariable); key != "" {
		values = append(values, key)
	}
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); looksSecret(name) && value != "" {
			values = append(values, value)
		}
	}
	return values
}
