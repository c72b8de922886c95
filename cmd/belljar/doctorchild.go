package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// containersOf counts the containers that a process owns.
func containersOf(ctx context.Context, e engine, pid int) (int, error) {
	list, err := e.List(ctx)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, listed := range list {
		if listed.PID == pid {
			count++
		}
	}
	return count, nil
}

// keyFiles are the places in the user's home folder where keys are kept, as far
// as they are there.
func keyFiles() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // there is none to look in
	}
	names := []string{
		".ssh", ".aws", ".gnupg", ".docker/config.json", ".kube", ".azure", ".config/gcloud", ".config/gh",
		".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc", ".password-store",
	}
	for i, name := range names {
		names[i] = filepath.Join(home, name)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Lstat(name)
		return err != nil
	})
}
