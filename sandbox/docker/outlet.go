package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/strslice"

	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// Where the way to the proxy is inside: a port of loopback in the sandbox, and
// the proxy's socket in the forwarder's container.
const (
	proxyPort    = 3128
	socketInside = "/.belljar/proxy"
	socketName   = "proxy"
)

// What a forwarder may use. It needs a few MiB and a dozen threads.
const (
	forwarderMemory = 64 * sandbox.MiB
	forwarderPids   = 256
	forwarderFiles  = 1024
)

// An outlet is the way from a sandbox without network to its proxy: a socket
// in a folder of this machine that only its owner may enter, and a container
// that shares the sandbox's network name space, and nothing else with it, and
// passes connections from there to the socket.
type outlet struct {
	engine   *Engine
	dir      string // of the socket
	listener net.Listener
	served   sync.WaitGroup // the proxy's Serve
	// lifetime ends with close, and with it what keeps the forwarder going.
	lifetime context.Context
	stop     context.CancelFunc
	guarding sync.WaitGroup // the goroutine of guard

	mu        sync.Mutex
	closed    bool
	forwarder *forwarder // nil before the first one, and once there is none
}

// checkOutlet refuses NetworkAllow where it could not be kept.
func (e *Engine) checkOutlet(spec sandbox.Spec) error {
	refused := func(why string) error {
		return fmt.Errorf("the network mode allow %w: %s", sandbox.ErrUnsupported, why)
	}
	// Podman names a runtime by its path.
	name := path.Base(cmp.Or(spec.Runtime, e.info.DefaultRuntime))
	switch {
	case spec.Network != sandbox.NetworkAllow && spec.Proxy != nil:
		return fmt.Errorf("a proxy goes with the network mode allow only, not with %s", spec.Network)
	case spec.Network != sandbox.NetworkAllow:
		return nil
	case spec.Proxy == nil:
		return errors.New("the network mode allow needs a proxy that decides")
	case runtime.GOOS != "linux":
		return refused("the engine's containers cannot reach a socket of this machine, which is no Linux")
	case !e.Local():
		return refused("the engine at " + e.endpoint.Host + " is reached over a network, and the proxy's socket must be on its machine")
	case strings.Contains(e.info.OperatingSystem, "Docker Desktop"):
		return refused("Docker Desktop runs containers in a virtual machine, which cannot reach a socket of this one")
	case name != "runc" && name != "crun" && name != "io.containerd.runc.v2":
		return refused("containers of the runtime " + name + " are not known to share a network; use runc")
	default:
		return nil
	}
}

// openOutlet makes the socket and lets the proxy serve it. The caller closes
// the outlet, also when a later step fails.
func (e *Engine) openOutlet(proxy sandbox.Proxy) (*outlet, error) {
	parent, err := e.cacheDir("proxies")
	if err != nil {
		return nil, err
	}
	var suffix [8]byte
	_, _ = rand.Read(suffix[:]) // never fails, see crypto/rand
	o := &outlet{engine: e, dir: filepath.Join(parent, hex.EncodeToString(suffix[:]))}
	o.lifetime, o.stop = context.WithCancel(context.Background())
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the proxy's folder: %w", err)
	}
	if o.listener, err = listenIn(o.dir, socketName); err != nil {
		return nil, oneline.Join(fmt.Errorf("making the proxy's socket: %w", err), o.close())
	}
	o.served.Go(func() {
		if err := proxy.Serve(o.listener); err != nil && !errors.Is(err, net.ErrClosed) {
			e.log.Warn("the proxy of a sandbox has failed", "error", err)
		}
	})
	return o, nil
}

// listenIn makes a socket that every user may connect to who can enter its
// folder. The folder is named by a handle, since a socket's own path may have
// no more than 108 bytes (unix(7)).
func listenIn(dir, name string) (net.Listener, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	short := "/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) + "/" + name
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// The number may be another file's by the time of closing.
	listener.SetUnlinkOnClose(false)
	if err := os.Chmod(filepath.Join(dir, name), 0o666); err != nil {
		return nil, oneline.Join(err, listener.Close())
	}
	return listener, nil
}

// close ends the way out and removes all of it. It has its own bound and may
// be called at any stage.
func (o *outlet) close() error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.stop()
	var errs []error
	if o.listener != nil {
		if err := o.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err) // the proxy may have been closed first
		}
		waitBounded(o.served.Wait, closeWait)
	}
	waitBounded(o.guarding.Wait, closeWait)
	errs = append(errs, o.replace(nil))
	return oneline.Join(append(errs, os.RemoveAll(o.dir))...)
}

// forwarder is the container that passes connections on. It has the image of
// the sandbox for want of another one, and runs nothing of it.
func (p *plan) forwarder(sandboxID, socket string) (*container.Config, *container.HostConfig) {
	user := initID
	if p.uid == initID {
		user = otherInitID
	}
	stop, pids := 1, int64(forwarderPids)
	config := &container.Config{
		Image:      p.spec.Image,
		Entrypoint: strslice.StrSlice(supervisor.ForwardArgs(helperInside, proxyPort, int(leaseSilence.Seconds()), socketInside)),
		Cmd:        strslice.StrSlice{},
		Env:        supervisor.ForwardEnviron(),
		User:       strconv.Itoa(user) + ":" + strconv.Itoa(user),
		WorkingDir: "/",
		OpenStdin:  true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		StopSignal: "SIGKILL", StopTimeout: &stop,
		Labels:      p.labels,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	host := &container.HostConfig{
		AutoRemove:     true,
		NetworkMode:    container.NetworkMode("container:" + sandboxID),
		UsernsMode:     p.userns(),
		ReadonlyRootfs: true,
		CapDrop:        strslice.StrSlice{"ALL"},
		SecurityOpt:    p.security,
		Runtime:        p.spec.Runtime,
		LogConfig:      container.LogConfig{Type: "none"},
		Mounts: []mount.Mount{
			{Type: mount.TypeBind, Source: p.helper, Target: helperInside, ReadOnly: true},
			{Type: mount.TypeBind, Source: socket, Target: socketInside, ReadOnly: true},
		},
		Resources: container.Resources{
			Memory: forwarderMemory, MemorySwap: forwarderMemory, NanoCPUs: 1e9, PidsLimit: &pids,
			Ulimits: p.withProcesses(ulimits(sandbox.Limits{NoFile: forwarderFiles, Disk: sandbox.NoLimit})),
		},
	}
	return config, host
}

// sweepOutlets removes folders of sockets that nobody serves any more. A folder
// that was made a moment ago may be waiting for its socket.
func (e *Engine) sweepOutlets() error {
	parent, err := e.cacheDir("proxies")
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return fmt.Errorf("looking for sockets that were left: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < sweepAge || served(dir) {
			continue
		}
		errs = append(errs, os.RemoveAll(dir))
	}
	return oneline.Join(errs...)
}

// served tells whether somebody may listen at a folder's socket: all but a clear
// no counts as yes.
func served(dir string) bool {
	folder, err := os.Open(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer folder.Close()
	conn, err := net.Dial("unix", "/proc/self/fd/"+strconv.Itoa(int(folder.Fd()))+"/"+socketName)
	if err != nil {
		return !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist)
	}
	_ = conn.Close() // nothing was said on it
	return true
}
