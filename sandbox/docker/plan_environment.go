package docker

import (
	"strconv"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// environment is what commands see: the image's own, then belljar's, then the
// spec's.
func (p *plan) environment() [][]byte {
	env := []string{"PATH=" + defaultPath, "LANG=C.UTF-8"}
	env = append(env, p.imageEnv...)
	env = append(env,
		"HOME="+homeInside, "USER=belljar", "LOGNAME=belljar", "TMPDIR=/tmp",
		// The mount's owner may differ from the user as git counts it, in an
		// engine that maps users.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+sandbox.MountPoint)
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
			out[i] = []byte("PATH=" + path + ":" + homeInside + "/.local/bin")
		}
	}
	return out
}
