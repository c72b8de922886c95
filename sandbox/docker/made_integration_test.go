package docker_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/belljar/belljar/sandbox"
)

// TestMadeAsAsked has the engine tell what the strict profile became.
func TestMadeAsAsked(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Session = newSession()
	spec.Limits = sandbox.Limits{
		Memory: 192 * sandbox.MiB, CPUs: 0.5, Pids: 77, NoFile: 333,
		Tmp: 16 * sandbox.MiB, Home: 8 * sandbox.MiB, Shm: 4 * sandbox.MiB,
	}
	sb := start(t, engine, spec)
	info := sb.Info()
	found := seen.inspect(t, info.ID)
	host, config := found.HostConfig, found.Config

	pids := int64(77)
	want := container.Resources{Memory: 192 << 20, MemorySwap: 192 << 20, NanoCPUs: 500_000_000, PidsLimit: &pids}
	got := container.Resources{Memory: host.Memory, MemorySwap: host.MemorySwap, NanoCPUs: host.NanoCPUs, PidsLimit: host.PidsLimit}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(host.Ulimits, func(u *container.Ulimit) bool {
		return u.Name == "nofile" && u.Soft == 333 && u.Hard == 333
	}) {
		t.Errorf("ulimits = %v, want nofile 333", host.Ulimits)
	}
	if got := script(t, sb, "ulimit -q; ulimit -i"); got != "262144\n1024\n" {
		t.Errorf("bytes in queues of messages and signals under way: %q, want 262144 and 1024", got)
	}
	for name, ok := range map[string]bool{
		"read-only root":            host.ReadonlyRootfs,
		"not privileged":            !host.Privileged,
		"all capabilities dropped":  slices.Equal(host.CapDrop, []string{"ALL"}) && len(host.CapAdd) == 0,
		"no new privileges":         len(host.SecurityOpt) > 0 && host.SecurityOpt[0] == "no-new-privileges",
		"a filter, nothing looser":  len(host.SecurityOpt) == 2 && strings.HasPrefix(host.SecurityOpt[1], `seccomp={"defaultAction":"SCMP_ACT_ERRNO"`),
		"no network":                host.NetworkMode == "none",
		"no port":                   len(host.PortBindings) == 0 && !host.PublishAllPorts,
		"no device":                 len(host.Devices) == 0 && len(host.DeviceRequests) == 0,
		"name spaces of its own":    !host.PidMode.IsHost() && !host.IpcMode.IsHost() && !host.UTSMode.IsHost() && !host.UsernsMode.IsHost(),
		"removed by the engine":     host.AutoRemove,
		"never restarted":           host.RestartPolicy.IsNone() || host.RestartPolicy.Name == "",
		"no output kept by engine":  host.LogConfig.Type == "none",
		"its first process no root": config.User != "" && !strings.HasPrefix(config.User, "0:") && config.User != info.User,
		"running":                   found.State.Running,
	} {
		if !ok {
			t.Errorf("not so: %s; the engine says %+v", name, host)
		}
	}
	checkTmpfs(t, host.Tmpfs, info)
	checkMounts(t, found.Mounts, spec.Workspace)
	checkLabels(t, config.Labels, spec.Session)
	if got := strings.TrimSpace(script(t, sb, "echo $(id -u):$(id -g)")); got != info.User {
		t.Errorf("commands run as %s, Info says %s", got, info.User)
	}
}

func checkTmpfs(t *testing.T, got map[string]string, info sandbox.Info) {
	t.Helper()
	sizes := map[string]int64{"/tmp": info.Limits.Tmp, "/home/belljar": info.Limits.Home, "/dev/shm": info.Limits.Shm}
	if len(got) != len(sizes) {
		t.Errorf("in-memory file systems = %v, want %d", got, len(sizes))
	}
	for path, size := range sizes {
		options := strings.Split(got[path], ",")
		for _, option := range []string{"size=" + strconv.FormatInt(size, 10), "nosuid", "nodev", "exec"} {
			if !slices.Contains(options, option) {
				t.Errorf("%s has the options %q, want %s among them", path, options, option)
			}
		}
	}
}

// A mounted is what counts of a bind mount.
type mounted struct {
	Source, Target string
	Writable       bool
}

func checkMounts(t *testing.T, points []container.MountPoint, workspace string) {
	t.Helper()
	var writable, others []mounted
	for _, m := range points {
		if m.Type == "bind" && !m.RW {
			others = append(others, mounted{Target: m.Destination})
			continue
		}
		writable = append(writable, mounted{m.Source, m.Destination, m.RW})
	}
	if diff := cmp.Diff([]mounted{{workspace, sandbox.MountPoint, true}}, writable); diff != "" {
		t.Errorf("writable mounts (-want +got):\n%s", diff)
	}
	want := []mounted{{Target: "/.belljar/belljar"}, {Target: "/etc/group"}, {Target: "/etc/hosts"}, {Target: "/etc/passwd"}}
	if diff := cmp.Diff(want, others, cmpopts.SortSlices(func(a, b mounted) bool { return a.Target < b.Target })); diff != "" {
		t.Errorf("read-only mounts (-want +got):\n%s", diff)
	}
}

func checkLabels(t *testing.T, labels map[string]string, session string) {
	t.Helper()
	for name, want := range map[string]string{
		"belljar": "sandbox", "belljar.session": session, "belljar.pid": strconv.Itoa(os.Getpid()),
	} {
		if labels[name] != want {
			t.Errorf("label %s = %q, want %q", name, labels[name], want)
		}
	}
	for _, name := range []string{"belljar.boot", "belljar.pidns", "belljar.start"} {
		if labels[name] == "" {
			t.Errorf("label %s is empty", name)
		}
	}
}

// TestNothingLeft closes sandboxes of both networks, one with a command under
// way and processes of its own, and looks for what remains.
func TestNothingLeft(t *testing.T) {
	engine := connect(t)
	seen := observe(t, engine)
	before := networks(t, seen)
	session := newSession()
	for _, mode := range []sandbox.Network{sandbox.NetworkNone, sandbox.NetworkBridge} {
		spec := newSpec(t, os.Getuid(), os.Getgid())
		spec.Session, spec.Network = session, mode
		sb := start(t, engine, spec)
		script(t, sb, "setsid sleep 300 & echo left; touch file")
		wait := background(t, sb, sandbox.Command{Script: "echo ready; sleep 300"})
		if n := len(seen.labeled(t, "belljar.session="+session)); n != 1 {
			t.Errorf("%d containers have the session's label, want 1", n)
		}
		within(t, hang, "Close", func() {
			if err := sb.Close(); err != nil {
				t.Error(err)
			}
		})
		// No grace: Close returns when the container is gone.
		if list := seen.labeled(t, "belljar.session="+session); len(list) != 0 {
			t.Errorf("with network %s: %d containers are left: %s", mode, len(list), list[0].Status)
		}
		if got := wait(); got.err == nil {
			t.Errorf("the command that Close ended gave a result: %s", describe(got.result))
		}
	}
	if diff := cmp.Diff(before, networks(t, seen)); diff != "" {
		t.Errorf("networks (-before +after):\n%s", diff)
	}
}

// networks names the engine's networks that are not of other tests.
func networks(t *testing.T, seen observer) []string {
	t.Helper()
	list, err := seen.NetworkList(t.Context(), network.ListOptions{Filters: filters.NewArgs(filters.Arg("driver", "bridge"))})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range list {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}

// TestNeighbour has a server beside the sandbox, which a sandbox without
// network cannot reach and one on the bridge can.
func TestNeighbour(t *testing.T) {
	engine := connect(t)
	observe(t, engine)
	spec := newSpec(t, os.Getuid(), os.Getgid())
	neighbour, err := testcontainers.Run(t.Context(), spec.Image,
		testcontainers.WithCmd("sh", "-c", "mkdir /tmp/www && cd /tmp/www && echo hello from the neighbour >index.html && exec python3 -u -m http.server 8000"),
		testcontainers.WithWaitStrategyAndDeadline(hang, wait.ForLog("Serving HTTP")),
	)
	testcontainers.CleanupContainer(t, neighbour)
	if err != nil {
		t.Fatal(err)
	}
	address, err := neighbour.ContainerIP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fetch := sandbox.Command{Script: fmt.Sprintf("curl -sS --max-time 20 http://%s:8000/", address)}

	bridged := spec
	bridged.Network = sandbox.NetworkBridge
	sb := start(t, engine, bridged)
	if got := execute(t, sb, fetch); got.err != nil || got.output != "hello from the neighbour\n" {
		t.Errorf("on the bridge: %q, error %v, want the neighbour's greeting", got.output, got.err)
	}
	if diff := cmp.Diff([]string{"network=bridge"}, sb.Info().Loosened); diff != "" {
		t.Errorf("what is loosened (-want +got):\n%s", diff)
	}

	sb = start(t, engine, spec)
	got := execute(t, sb, fetch)
	if got.err != nil || got.result.Status != sandbox.Exited || *got.result.ExitCode != 7 || strings.Contains(got.output, "hello") {
		t.Errorf("without network: %s, %q, error %v, want curl's code 7 for a host that cannot be reached",
			describe(got.result), got.output, got.err)
	}
	if loosened := sb.Info().Loosened; len(loosened) != 0 {
		t.Errorf("loosened = %q, want nothing", loosened)
	}
}
