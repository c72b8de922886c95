package docker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// Where things are inside a container.
const (
	helperInside = sandbox.ToolPoint + "/belljar"
	homeInside   = sandbox.HomePoint
	defaultPath  = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// A plan is a spec with everything decided.
type plan struct {
	engine   *Engine
	spec     sandbox.Spec // limits filled in
	image    sandbox.Image
	imageEnv []string
	// imageUser is whom the image runs as by itself, "" for root.
	imageUser string
	// volumes are where the image declares some.
	volumes  []string
	uid, gid int // of commands
	helper   string
	home     string         // the home folder inside
	passwd   string         // host path of the folder with passwd and group; "" is the image's own
	hosts    string         // host path of /etc/hosts; "" is the engine's
	owner    supervisor.Ids // whom files must belong to, as counted inside
	name     string
	labels   map[string]string
	security []string
}

// plan checks the spec and gathers what the container needs.
func (e *Engine) plan(ctx context.Context, spec sandbox.Spec) (*plan, error) {
	spec.Mounts = slices.Clone(spec.Mounts)
	spec, err := spec.WithProfile()
	if err != nil {
		return nil, err
	}
	asked := spec.Limits
	spec.Limits = spec.FillLimits(e.info.MemTotal, e.info.NCPU)
	if e.gvisor(spec.Runtime) {
		spec.Limits.Pids = asked.Pids
	}
	if e.writableDev(spec) {
		spec.Limits = besideDev(asked, spec.Limits)
	}
	if asked.Disk == 0 {
		spec.Limits.Disk = diskLimit(spec.Workspace, spec.Limits.Disk)
	}
	if err := cmp.Or(e.checkSpec(spec), checkInMemory(asked, spec.Limits)); err != nil {
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
		p.imageEnv, p.imageUser, p.volumes = found.Config.Env, found.Config.User, sortedKeys(found.Config.Volumes)
	}
	if e.Rootless() {
		// The engine's user name space maps its own user to 0.
		p.uid, p.gid = 0, 0
	}
	p.owner = supervisor.Ids{UID: p.uid, GID: p.gid}
	if p.root() {
		p.uid, p.gid = 0, 0
	}
	if p.helper, err = e.executable(e.gvisor(spec.Runtime)); err != nil {
		return nil, err
	}
	if err := p.settleUser(ctx); err != nil {
		return nil, err
	}
	if p.networkDisabled() {
		if p.hosts, err = e.hostsFile(); err != nil {
			return nil, err
		}
	}
	if p.security, err = e.securityOptions(); err != nil {
		return nil, err
	}
	p.name = newName()
	p.labels, err = ownerLabels(spec.Session)
	return p, err
}

// execUser names the commands' user to the engine. An engine that is told a
// name or a number looks it up in the container's own files, and would wait for
// ever at a pipe that root has put in their place.
func (p *plan) execUser() string {
	if p.root() && p.imageUser == "" {
		return ""
	}
	return p.user()
}

func (p *plan) user() string { return strconv.Itoa(p.uid) + ":" + strconv.Itoa(p.gid) }

func (p *plan) runtime() string {
	if p.spec.Runtime != "" {
		return p.spec.Runtime
	}
	return p.engine.info.DefaultRuntime
}

// root tells that commands are root with capabilities.
func (p *plan) root() bool { return p.spec.User == sandbox.UserRoot }

// loosened names what is weaker than the strict profile.
func (p *plan) loosened() []string {
	var list []string
	if p.root() {
		list = append(list, "user=root", "capabilities="+strings.Join(sandbox.RootCapabilities(), ","))
	}
	if p.spec.RootFS == sandbox.RootWritable {
		list = append(list, "rootfs="+string(p.spec.RootFS))
	}
	if text := diskLoosened(p.spec); text != "" {
		list = append(list, text)
	}
	if p.spec.Network != sandbox.NetworkNone {
		list = append(list, "network="+string(p.spec.Network))
	}
	if p.spec.Limits.Pids == 0 {
		list = append(list, "pids=unlimited")
	}
	for _, m := range p.spec.Mounts {
		if !m.ReadOnly {
			list = append(list, "mount="+m.Source+":"+m.Target)
		}
	}
	if p.spec.Relabel && p.engine.labelsFiles() {
		list = append(list, "relabel="+p.spec.Workspace)
	}
	if p.spec.Unprotected {
		list = append(list, "protect=false")
	}
	return list
}
