// Command belljar-supervisor is the part of belljar that runs inside
// containers, as a program of its own. A belljar from make build carries it
// for each processor: it starts in a third of the time of the whole belljar
// and needs a seventh of its memory, and machines that are not Linux have
// nothing else to mount.
package main

import (
	"os"

	"github.com/belljar/belljar/internal/supervisor"
)

func main() {
	if !supervisor.Wanted(os.Args) {
		os.Stderr.WriteString("belljar-supervisor is started by belljar inside its containers\n")
		os.Exit(125)
	}
	os.Exit(supervisor.Main(os.Args))
}
