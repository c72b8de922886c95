package docker

import (
	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// startDir is where the command really began.
func (r *run) startDir() string {
	if r.dirLost {
		return r.box.info.MountPoint
	}
	return r.dir
}

// endDir is where the command ended, as far as the supervisor could tell.
func (r *run) endDir(dir []byte) string {
	if len(dir) == 0 || dir[0] != '/' || len(r.cmd.Args) > 0 {
		return r.startDir()
	}
	return string(dir)
}

func rise(before, after int64) int {
	if before < 0 || after < before {
		return 0
	}
	return int(after - before)
}

func processes(list []supervisor.Proc) []sandbox.Process {
	var out []sandbox.Process
	for _, p := range list[:min(len(list), sandbox.MaxProcesses)] {
		out = append(out, sandbox.Process{PID: p.PID, Name: p.Name})
	}
	return out
}
