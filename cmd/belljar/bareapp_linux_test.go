package main

import (
	"io"
	"strings"
)

// bareApp is the program on the fake engine, with nothing to read and no
// environment: what the machine of the tests has set does not reach it.
func bareApp(stdout, stderr io.Writer) *app {
	a := newApp(connectFake)
	a.stdin, a.stdout, a.stderr = strings.NewReader(""), stdout, stderr
	a.lookupEnv = func(string) (string, bool) { return "", false }
	return a
}
