package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// child is a belljar of its own over a workspace, on the same engine and from
// the same image, for the doctor to kill. It ends by itself where it is not.
func (o *doctorOptions) child(workspace, script string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	args := []string{"exec", "--workspace", workspace, "--force-workspace", "--timeout", "2m", "--allow-missing-limits"}
	for _, flag := range []struct{ name, value string }{
		{"--host", o.host}, {"--context", o.context}, {"--image", o.image}, {"--runtime", o.runtime},
		{"--profile", o.profile}, {"--user", o.user}, {"--rootfs", o.rootFS},
	} {
		if flag.value != "" {
			args = append(args, flag.name, flag.value)
		}
	}
	return exec.Command(self, append(args, "-c", script)...)
}

// containersOver counts the containers over a workspace. An engine in a machine
// of its own may name it below where it sees this one's folders.
func containersOver(ctx context.Context, e engine, workspace string) (int, error) {
	list, err := e.List(ctx)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, listed := range list {
		if strings.HasSuffix(listed.Workspace, workspace) {
			count++
		}
	}
	return count, nil
}
