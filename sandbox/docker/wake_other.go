//go:build !linux

package docker

import "github.com/belljar/belljar/internal/supervisor"

// These are for systems on which no processes of containers are the system's.

func mayContinue(string) bool { return false }

func continueStuck(string) bool { return false }

func continueAll(string) {}

func continueSupervisors(string, []supervisor.Proc) bool { return false }

func processesOf(string) []int { return nil }
