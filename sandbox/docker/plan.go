package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

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
