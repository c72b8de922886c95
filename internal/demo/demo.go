// Package demo holds the scripted answers of belljar's demonstration: a model
// that writes a program, runs it, reads its failure, mends it and runs it
// again.
package demo

import _ "embed"

//go:embed demo.yaml
var script []byte

// Script is the demonstration as a file of scripted answers.
func Script() []byte { return append([]byte(nil), script...) }
