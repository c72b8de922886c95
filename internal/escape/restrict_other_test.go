//go:build !linux

package escape_test

import "os/exec"

func restrict(*exec.Cmd) {}
