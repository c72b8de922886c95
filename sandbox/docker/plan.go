package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/go-units"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// Where things are inside a container.
const (
	helperInside = sandbox.ToolPoint + "/belljar"
	homeInside   = sandbox.HomePoint
	defaultPath  = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// The user that PID 1 has: nobody, unless the commands' user is that. A
// command must not be able to signal or trace it.
const (
	initID      = 65534
	otherInitID = 65533
)

// The least that an engine takes and a supervisor can work with.
const (
	minCPUs   = 0.01
	minNoFile = 64
)

// maxPids is the kernel's PID_MAX_LIMIT, see proc(5).
const maxPids = 1 << 22

// A plan is a spec with everything decided.
type plan struct {
	engine   *Engine
	spec     sandbox.Spec // limits filled in
	image    sandbox.Image
	imageEnv []string
	uid, gid int // of commands
	helper   string
	passwd   string // host path of the folder with passwd and group
	name     string
	labels   map[string]string
	security []string
}

// plan checks the spec and gathers what the container needs.
func (e *Engine) plan(ctx context.Context, spec sandbox.Spec) (*plan, error) {
	spec.Limits, spec.Mounts = e.fill(spec.Limits), slices.Clone(spec.Mounts)
	if spec.Network == "" {
		spec.Network = sandbox.NetworkNone
	}
	if err := e.checkSpec(spec); err != nil {
		return nil, err
	}
	found, ok, err := e.inspectImage(ctx, spec.Image)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("the image %s is not there: pull or build it first", spec.Image)
	}
	p := &plan{engine: e, spec: spec, image: describeImage(spec.Image, found), uid: spec.Owner.UID, gid: spec.Owner.GID}
	if found.Config != nil {
		p.imageEnv = found.Config.Env
	}
	if e.Rootless() {
		// The engine's user name space maps its own user to 0.
		p.uid, p.gid = 0, 0
	}
	if p.helper, err = e.executable(); err != nil {
		return nil, err
	}
	if p.passwd, err = e.userFiles(ctx, p); err != nil {
		return nil, err
	}
	if p.security, err = e.securityOptions(); err != nil {
		return nil, err
	}
	var suffix [6]byte
	_, _ = rand.Read(suffix[:]) // never fails, see crypto/rand
	p.name = "belljar-" + hex.EncodeToString(suffix[:])
	p.labels, err = ownerLabels(spec.Session)
	return p, err
}

// checkSpec refuses what could not work, before anything is made.
func (e *Engine) checkSpec(spec sandbox.Spec) error {
	switch info, err := os.Stat(spec.Workspace); {
	case err != nil:
		return fmt.Errorf("looking at the workspace: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the workspace %s is no folder", spec.Workspace)
	case !utf8.ValidString(spec.Workspace):
		return fmt.Errorf("the workspace's path %q is not UTF-8, which the engine cannot take: rename the folder", spec.Workspace)
	case !filepath.IsAbs(spec.Workspace):
		return fmt.Errorf("the workspace %q is not an absolute path", spec.Workspace)
	}
	if err := checkMounts(spec.Mounts); err != nil {
		return err
	}
	l := spec.Limits
	switch {
	case l.Memory < sandbox.MinMemory:
		return fmt.Errorf("a memory limit of %s is too little: at least %s", units.BytesSize(float64(l.Memory)), units.BytesSize(float64(sandbox.MinMemory)))
	case l.Pids < sandbox.MinPids:
		return fmt.Errorf("a process limit of %d is too little: at least %d", l.Pids, sandbox.MinPids)
	case l.Pids > maxPids:
		return fmt.Errorf("a process limit of %d is more than Linux has: at most %d", l.Pids, maxPids)
	case l.CPUs <= 0 || math.IsNaN(l.CPUs):
		return fmt.Errorf("a limit of %v processors makes no sense", l.CPUs)
	case e.info.NCPU > 0 && l.CPUs > float64(e.info.NCPU):
		return fmt.Errorf("a limit of %v processors is more than the engine's %d", l.CPUs, e.info.NCPU)
	case l.CPUs < minCPUs:
		return fmt.Errorf("a limit of %v processors is too little: at least %v", l.CPUs, minCPUs)
	case e.info.MemTotal > 0 && l.Memory > e.info.MemTotal:
		return fmt.Errorf("a memory limit of %s is more than the engine's %s", units.BytesSize(float64(l.Memory)), units.BytesSize(float64(e.info.MemTotal)))
	case l.NoFile < minNoFile:
		return fmt.Errorf("a limit of %d open files is too little: at least %d", l.NoFile, minNoFile)
	case l.Tmp <= 0 || l.Home <= 0 || l.Shm <= 0:
		return errors.New("the sizes of /tmp, the home folder and /dev/shm must be positive")
	}
	if err := (sandbox.Command{Script: ":", Env: spec.Env}).Check(); err != nil {
		return err
	}
	if err := spec.Protect.Check(); err != nil {
		return err
	}
	switch spec.Network {
	case sandbox.NetworkNone, sandbox.NetworkAllow, sandbox.NetworkBridge:
	default:
		return fmt.Errorf("the network mode %q is unknown: none, allow or bridge", spec.Network)
	}
	if err := e.checkOutlet(spec); err != nil {
		return err
	}
	if _, ok := e.info.Runtimes[spec.Runtime]; spec.Runtime != "" && !ok {
		return fmt.Errorf("the engine has no runtime %q: it has %s", spec.Runtime, strings.Join(sortedKeys(e.info.Runtimes), ", "))
	}
	return nil
}

func (p *plan) user() string { return strconv.Itoa(p.uid) + ":" + strconv.Itoa(p.gid) }

func (p *plan) runtime() string {
	if p.spec.Runtime != "" {
		return p.spec.Runtime
	}
	return p.engine.info.DefaultRuntime
}

// loosened names what is weaker than the strict profile.
func (p *plan) loosened() []string {
	var list []string
	if p.spec.Network != sandbox.NetworkNone {
		list = append(list, "network="+string(p.spec.Network))
	}
	for _, m := range p.spec.Mounts {
		if !m.ReadOnly {
			list = append(list, "mount="+m.Source+":"+m.Target)
		}
	}
	if p.spec.Unprotected {
		list = append(list, "protect=false")
	}
	return list
}

// container is the strict profile.
func (p *plan) container() (*container.Config, *container.HostConfig) {
	initUser := initID
	if p.uid == initID {
		initUser = otherInitID
	}
	stop := 1
	config := &container.Config{
		Image: p.spec.Image,
		// The image's own entrypoint is replaced, not emptied, so that it
		// cannot swallow the command.
		Entrypoint: strslice.StrSlice(supervisor.InitArgs(helperInside, int(leaseSilence.Seconds()))),
		Cmd:        strslice.StrSlice{},
		Env:        supervisor.Environ(),
		User:       strconv.Itoa(initUser) + ":" + strconv.Itoa(initUser),
		WorkingDir: "/",
		OpenStdin:  true, StdinOnce: true, AttachStdin: true, AttachStdout: true,
		// PID 1 ignores what can be ignored, so a stop is a kill.
		StopSignal: "SIGKILL", StopTimeout: &stop,
		Labels: p.labels,
		// An image's health check would run its commands in the sandbox.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	l := p.spec.Limits
	pids := l.Pids
	host := &container.HostConfig{
		AutoRemove:     true,
		NetworkMode:    p.networkMode(),
		UsernsMode:     p.userns(),
		ReadonlyRootfs: true,
		CapDrop:        strslice.StrSlice{"ALL"},
		SecurityOpt:    p.security,
		Runtime:        p.spec.Runtime,
		GroupAdd:       p.groups(),
		LogConfig:      container.LogConfig{Type: "none"},
		Tmpfs: map[string]string{
			sandbox.TmpPoint: fmt.Sprintf("rw,exec,nosuid,nodev,mode=1777,size=%d", l.Tmp),
			// The engine's own is not executable.
			sandbox.ShmPoint: fmt.Sprintf("rw,exec,nosuid,nodev,mode=1777,size=%d", l.Shm),
			homeInside:       fmt.Sprintf("rw,exec,nosuid,nodev,mode=0700,uid=%d,gid=%d,size=%d", p.uid, p.gid, l.Home),
		},
		Mounts: p.mounts(),
		Resources: container.Resources{
			Memory: l.Memory, MemorySwap: l.Memory,
			NanoCPUs:  int64(l.CPUs * 1e9),
			PidsLimit: &pids,
			Ulimits: []*container.Ulimit{
				{Name: "nofile", Soft: l.NoFile, Hard: l.NoFile},
				{Name: "core", Soft: 0, Hard: 0},
			},
		},
	}
	return config, host
}

// networkMode is the engine's name for the network. What is allowed goes out by
// another container, so the sandbox has no network either way.
func (p *plan) networkMode() container.NetworkMode {
	if p.spec.Network == sandbox.NetworkAllow {
		return container.NetworkMode(sandbox.NetworkNone)
	}
	return container.NetworkMode(p.spec.Network)
}

// userns keeps an engine that maps the users of its containers to others from
// doing so, since files must belong to the owner.
func (p *plan) userns() container.UsernsMode {
	for _, option := range p.engine.info.SecurityOptions {
		if strings.HasPrefix(option, "name=userns") {
			return "host"
		}
	}
	return ""
}

// groups are the owner's further groups, which a rootless engine cannot map.
func (p *plan) groups() []string {
	if p.engine.Rootless() {
		return nil
	}
	var list []string
	for _, gid := range p.spec.Owner.Groups {
		if gid != p.gid {
			list = append(list, strconv.Itoa(gid))
		}
	}
	return list
}

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

// createError says what can be done about a container that cannot be made.
func (p *plan) createError(err error) error {
	text := oneLine(err.Error())
	if strings.Contains(text, "bind source path does not exist") {
		return fmt.Errorf("the engine at %s does not see %s: it must run on this machine and see the same files", p.engine.endpoint.Host, missingSource(text, p.spec.Workspace))
	}
	return fmt.Errorf("creating the container: %s", text)
}

// missingSource finds the path in the engine's message.
func missingSource(text, fallback string) string {
	if _, path, ok := strings.Cut(text, "bind source path does not exist: "); ok {
		return path
	}
	return fallback
}

// startError says what can be done about a container that does not start.
func startError(err error) error {
	text := oneLine(err.Error())
	switch {
	case strings.Contains(text, "exec format error"):
		return fmt.Errorf("starting the container: the image is for another processor than this belljar (%s)", text)
	default:
		return fmt.Errorf("starting the container: %s", text)
	}
}
