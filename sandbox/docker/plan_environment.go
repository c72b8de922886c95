package docker

import (
	"strconv"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// environment is what commands see: the image's own, then belljar's, then the
// spec's.
func (p *plan) environment() [][]byte {
	env := append([]string{"PATH=" + defaultPath, "LANG=C.UTF-8"}, p.counts()...)
	if p.root() {
		// What asks a person would wait for one, and pip would refuse to touch
		// the packages of a system that is thrown away.
		env = append(env, "DEBIAN_FRONTEND=noninteractive", "PIP_BREAK_SYSTEM_PACKAGES=1", "PIP_ROOT_USER_ACTION=ignore")
	}
	env = append(env, p.imageEnv...)
	user, safe := "belljar", sandbox.MountPoint
	if p.root() {
		user, safe = "root", "*"
	}
	env = append(env,
		"HOME="+p.home, "USER="+user, "LOGNAME="+user, "TMPDIR=/tmp",
		// The mount's owner may differ from the user as git counts it: root
		// works on the owner's files, and some engines map users.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+safe)
	if p.spec.Network == sandbox.NetworkAllow {
		env = append(env, sandbox.ProxyEnv("http://127.0.0.1:"+strconv.Itoa(proxyPort))...)
	}
	env = append(env, p.spec.Env...)
	var out [][]byte
	for _, kv := range env {
		out = append(out, []byte(kv))
	}
	out = lastWins(out)
	for i, kv := range out {
		if path, ok := strings.CutPrefix(string(kv), "PATH="); ok {
			out[i] = []byte("PATH=" + path + ":" + p.home + "/.local/bin")
		}
	}
	return out
}
