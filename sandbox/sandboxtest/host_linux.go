package sandboxtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/belljar/belljar/sandbox"
)

// NewRuntime makes a runtime of host processes. The error says that the shell
// is missing or, elsewhere than on Linux, that there is no such runtime.
func NewRuntime(opts Options) (*Runtime, error) {
	candidates := []string{opts.Shell}
	if opts.Shell == "" {
		candidates = []string{"bash", "sh"}
	}
	var errs []error
	for _, name := range candidates {
		shell, err := exec.LookPath(name)
		if err == nil {
			return &Runtime{shell: shell}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("finding a shell for host processes: %w", errors.Join(errs...))
}

// Start makes a sandbox on Spec.Workspace. The caller closes it.
func (r *Runtime) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting a sandbox of host processes: %w", context.Cause(ctx))
	}
	if !filepath.IsAbs(spec.Workspace) {
		return nil, fmt.Errorf("workspace %q is not an absolute path; give the full one", spec.Workspace)
	}
	mount, err := filepath.EvalSymlinks(spec.Workspace)
	if err != nil {
		return nil, fmt.Errorf("looking at the workspace: %w", err)
	}
	if info, err := os.Stat(mount); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("workspace %q is not a folder; give one that is", spec.Workspace)
	}
	mounts, err := mountsOf(spec)
	if err != nil {
		return nil, err
	}
	if !spec.Protect.Empty() {
		return nil, errors.New("host processes cannot be kept from changing their files; ask for no protection")
	}
	credential, err := credentialOf(spec.Owner)
	if err != nil {
		return nil, err
	}
	private, err := privateFolder(spec.Owner, credential != nil)
	if err != nil {
		return nil, err
	}
	spec.Env = append([]string(nil), spec.Env...)
	listener, err := openProxy(&spec)
	if err != nil {
		os.RemoveAll(private)
		return nil, err
	}
	return &host{
		listener: listener,
		spec:     spec, mount: mount, mounts: mounts, shell: r.shell, private: private, credential: credential,
		closing: make(chan struct{}),
		left:    map[*tree]struct{}{},
		pipes:   map[*os.File]struct{}{},
	}, nil
}

// openProxy lets commands find the proxy of the network mode allow. They could
// reach everything without it as well.
func openProxy(spec *sandbox.Spec) (net.Listener, error) {
	if spec.Network != sandbox.NetworkAllow || spec.Proxy == nil {
		return nil, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("making the proxy's port: %w", err)
	}
	go func() { _ = spec.Proxy.Serve(listener) }() // ends with the listener, which is its only error
	spec.Env = append(sandbox.ProxyEnv("http://"+listener.Addr().String()), spec.Env...)
	return listener, nil
}

// mountsOf are a spec's mounts where commands of the host see them.
func mountsOf(spec sandbox.Spec) ([]sandbox.Mount, error) {
	if err := sandbox.CheckMounts(spec.Mounts); err != nil {
		return nil, err
	}
	var mounts []sandbox.Mount
	for _, m := range spec.Mounts {
		seen, err := filepath.EvalSymlinks(m.Source)
		if err != nil {
			return nil, fmt.Errorf("looking at the folder to mount at %s: %w", m.Target, err)
		}
		if info, err := os.Stat(seen); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s, to be mounted at %s, is no folder", m.Source, m.Target)
		}
		m.Target = seen
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// credentialOf tells whom commands must be started as; nil is the caller.
func credentialOf(owner sandbox.Owner) (*syscall.Credential, error) {
	if owner.UID == os.Getuid() && owner.GID == os.Getgid() {
		return nil, nil
	}
	if os.Getuid() != 0 {
		return nil, fmt.Errorf("running commands as %d:%d needs root; use the owner %d:%d",
			owner.UID, owner.GID, os.Getuid(), os.Getgid())
	}
	credential := &syscall.Credential{Uid: uint32(owner.UID), Gid: uint32(owner.GID)}
	for _, group := range owner.Groups {
		credential.Groups = append(credential.Groups, uint32(group))
	}
	return credential, nil
}

// privateFolder makes the folder that holds HOME and what is handed to shells.
func privateFolder(owner sandbox.Owner, give bool) (string, error) {
	dir, err := os.MkdirTemp("", "belljar-host-")
	if err != nil {
		return "", fmt.Errorf("making the sandbox's own folder: %w", err)
	}
	err = os.Mkdir(filepath.Join(dir, "home"), 0o700)
	if err == nil && give {
		err = errors.Join(os.Chown(dir, owner.UID, owner.GID), os.Chown(filepath.Join(dir, "home"), owner.UID, owner.GID))
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("making the sandbox's own folder: %w", err)
	}
	return dir, nil
}

// host is one sandbox of host processes.
type host struct {
	spec       sandbox.Spec
	mount      string
	mounts     []sandbox.Mount
	shell      string
	private    string // removed at Close
	credential *syscall.Credential
	listener   net.Listener // of the proxy, or nil

	closing   chan struct{} // closed by Close
	closeOnce sync.Once
	closeErr  error
	running   sync.WaitGroup // calls of Exec; added to under mu only

	mu     sync.Mutex
	closed bool
	count  int                   // commands so far, for names
	left   map[*tree]struct{}    // trees with processes that outlived their command
	pipes  map[*os.File]struct{} // pipes that such processes may still write to
	drains sync.WaitGroup        // the readers of pipes
}

var _ sandbox.Sandbox = (*host)(nil)

// Info describes the sandbox.
func (h *host) Info() sandbox.Info {
	return sandbox.Info{
		ID:         filepath.Base(h.private),
		Image:      sandbox.Image{Ref: h.spec.Image},
		Engine:     "host processes",
		Runtime:    "host",
		MountPoint: h.mount,
		Mounts:     h.mounts,
		Shell:      h.shell,
		Profile:    cmp.Or(h.spec.Profile, sandbox.ProfileStrict),
		User:       strconv.Itoa(h.spec.Owner.UID) + ":" + strconv.Itoa(h.spec.Owner.GID),
		Env:        h.spec.Env,
		Limits:     h.spec.Limits,
		Network:    "host",
		Loosened:   []string{"isolation: none, commands run as processes of the host"},
	}
}

// enter counts a call of Exec in and numbers it.
func (h *host) enter() (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return 0, fmt.Errorf("running a command: %w; start another", sandbox.ErrClosed)
	}
	h.running.Add(1)
	h.count++
	return h.count, nil
}

// keep takes over what outlives a command: its processes, and its pipes,
// which are read on so that the processes do not die of writing to them.
func (h *host) keep(t *tree, pipes ...*os.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left[t] = struct{}{}
	for _, pipe := range pipes {
		h.pipes[pipe] = struct{}{}
		h.drains.Go(func() {
			discard(pipe)
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.pipes, pipe)
			pipe.Close()
		})
	}
}

// Close ends every process of the sandbox and removes what it made outside
// the workspace.
func (h *host) Close() error {
	h.closeOnce.Do(func() {
		h.mu.Lock()
		h.closed = true
		h.mu.Unlock()
		close(h.closing)
		h.running.Wait()

		var errs []error
		for t := range h.left {
			_, err := t.kill()
			errs = append(errs, err)
		}
		h.mu.Lock()
		for pipe := range h.pipes {
			// A process may have handed its pipe to one that is none of ours.
			interrupt(pipe)
		}
		h.mu.Unlock()
		h.drains.Wait()
		if h.listener != nil {
			if err := h.listener.Close(); !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err) // the proxy may have been closed first
			}
		}
		errs = append(errs, os.RemoveAll(h.private))
		if err := errors.Join(errs...); err != nil {
			h.closeErr = fmt.Errorf("closing a sandbox of host processes: %w", err)
		}
	})
	return h.closeErr
}
