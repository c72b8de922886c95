package main

import (
	"strings"
	"unicode"

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

// namesKey tells by its name whether a parameter of an address holds a secret.
func namesKey(parameter string) bool {
	if looksSecret(parameter) {
		return true
	}
	lower := strings.ToLower(parameter)
	for part := range strings.FieldsFuncSeq(lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch part {
		case "code", "sig", "pass", "pwd":
			return true
		}
	}
	return strings.Contains(lower, "signature") || strings.Contains(lower, "subscription")
}

// keysIn are the values of a variable that are keys of the model's server: all
// of it, or what may be one in an address.
func keysIn(name, value string) []string {
	switch {
	case isKeyVariable(name) && value != "":
		return []string{value}
	case name == addressVariable:
		return openai.AddressKeys(value, namesKey)
	default:
		return nil
	}
}

// secrets are the values that must not stand in a record: the model's key, what
// looks like one in the address of its server, by the flag or the variable, and what
// was handed to the sandbox under a name that says it is secret.
func (a *app) secrets(baseURL string, env []string) []string {
	values := openai.AddressKeys(baseURL, namesKey)
	for _, name := range []string{keyVariable, addressVariable} {
		values = append(values, keysIn(name, a.getenv(name))...)
	}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if looksSecret(name) && value != "" {
			values = append(values, value)
		} else {
			values = append(values, keysIn(name, value)...)
		}
	}
	return values
}
