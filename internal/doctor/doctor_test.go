package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/doctor"
	"github.com/belljar/belljar/internal/escape"
	"github.com/belljar/belljar/sandbox"
)

// A machine answers the probes of the doctor from a table instead of running
// them: its sandbox is as good or as bad as the test wants. The key is a piece
// of the probe's text.
type machine struct {
	answers  map[string]string
	info     sandbox.Info
	spec     sandbox.Spec // that is asked for
	timeout  sandbox.Status
	connect  error
	image    error
	start    error
	closing  error
	exec     error
	workDir  string
	findings string // of the attempts to get out
	limits   map[string]sandbox.Status
	next     int    // the code of the command after one that went over a limit
	named    string // what the probe of named hosts says
	outlet   error  // of a start with the network mode allow
	stays    bool   // a container outlives its belljar
	onProbe  func(script string)
	closings int
}

// inside is a limit that was read inside and is as asked for.
func inside(limit string, value float64) sandbox.Reading {
	return sandbox.Reading{Limit: limit, Asked: value, Found: value, Source: sandbox.FromInside}
}

// sound is a machine on which every check passes.
func sound() *machine {
	return &machine{
		timeout:  sandbox.TimedOut,
		findings: denied(),
		limits: map[string]sandbox.Status{
			"fill$i": sandbox.DiskLimit, "of=/dev/null": sandbox.OutOfMemory, "bomb()": sandbox.PidsLimit, "/fill": sandbox.Exited,
		},
		next:  4,
		named: "named 200\nother 403\nmetadata 403\n",
		info: sandbox.Info{
			Helper: "/helper", Engine: "Engine 1.0", Runtime: "runc", Shell: "/bin/bash", User: "1000:1000", Network: sandbox.NetworkNone,
			Capabilities: sandbox.Capabilities{Seccomp: true, Counters: true, KillTree: true, Isolated: true, Protect: true},
			Limits:       sandbox.Limits{Memory: 2 * sandbox.GiB, CPUs: 1.5, Pids: 512, NoFile: 4096, Disk: sandbox.GiB, Tmp: 512 * sandbox.MiB, Home: 384 * sandbox.MiB, Shm: 64 * sandbox.MiB},
			Readings: []sandbox.Reading{
				inside("memory", float64(2*sandbox.GiB)), inside("swap", 0), inside("cpus", 1.5), inside("pids", 512), inside("nofile", 4096),
				inside("tmp", float64(512*sandbox.MiB)), inside("home", float64(384*sandbox.MiB)), inside("shm", float64(64*sandbox.MiB)),
			},
		},
		answers: map[string]string{
			"name.type":     "tmp.type tmpfs\ntmp.exec yes\nhome.type tmpfs\nhome.exec yes\nshm.type tmpfs\nshm.exec yes\n",
			"id -u":         "user 1000:1000\nhome /home/belljar\n",
			"alias":         "",
			"ls -d":         "",
			"mkdir made":    "from the host\n",
			"options":       "options ro,relatime\n",
			"NoNewPrivs":    "CapInh 0000000000000000\nCapPrm 0000000000000000\nCapEff 0000000000000000\nCapBnd 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2\nSeccomp_filters 1\n",
			"/proc/net/dev": "",
			"../outside":    "",
			"/proc/self/ns": "pid pid:[1]\nnet net:[2]\nmnt mnt:[3]\nipc ipc:[4]\nuts uts:[5]\n1 process\n7 process\n",
			"environ":       "HOME=/home/belljar\nPATH=/usr/bin\n",
			"grep -c":       "0\n",
		},
	}
}

// denied is what a sound sandbox says of the attempts to get out.
func denied() string {
	var text strings.Builder
	for _, area := range escape.Areas() {
		fmt.Fprintf(&text, `{"area":%q,"name":"try","denied":true,"detail":"EPERM"}`+"\n", area)
	}
	return text.String()
}

func (m *machine) Description() string                { return m.info.Engine }
func (m *machine) Capabilities() sandbox.Capabilities { return m.info.Capabilities }
func (m *machine) Info() sandbox.Info                 { return m.info }

func (m *machine) EnsureImage(context.Context, string, io.Writer) (sandbox.Image, error) {
	return sandbox.Image{Ref: "image:1"}, m.image
}

func (m *machine) Start(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if m.workDir == "" {
		m.workDir = spec.Workspace
	}
	if spec.Network == sandbox.NetworkAllow && m.outlet != nil {
		return nil, m.outlet
	}
	return m, m.start
}

// reach answers the probe of named hosts, after it has reached the one that it
// names as its own.
func (m *machine) reach(script string, out io.Writer) error {
	address := regexp.MustCompile(`ask named (\S+)`).FindStringSubmatch(script)[1]
	resp, err := http.Get("http://" + address)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, m.named)
	return errors.Join(err, resp.Body.Close())
}

// owned counts what a process owns: one thing while it lives.
func (m *machine) owned(_ context.Context, pid int) (int, error) {
	process, err := os.FindProcess(pid)
	if m.stays || err == nil && process.Signal(syscall.Signal(0)) == nil {
		return 1, nil
	}
	return 0, nil
}

// child is a process that does as a belljar would.
func (m *machine) child(workspace, script string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", strings.Replace(script, "sleep", "exec sleep", 1))
	cmd.Dir = workspace
	return cmd
}

func (m *machine) Close() error { m.closings++; return m.closing }

func (m *machine) Exec(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	if m.exec != nil {
		return sandbox.Result{}, m.exec
	}
	if m.onProbe != nil {
		m.onProbe(cmd.Script)
	}
	code := 0
	if strings.Contains(cmd.Script, "ask named") {
		return sandbox.Result{Status: sandbox.Exited, ExitCode: &code}, m.reach(cmd.Script, cmd.Stdout)
	}
	if len(cmd.Args) > 0 {
		_, err := io.WriteString(cmd.Stdout, m.findings)
		return sandbox.Result{Status: sandbox.Exited, ExitCode: &code}, err
	}
	if strings.Contains(cmd.Script, "setsid") {
		return sandbox.Result{Status: m.timeout}, nil
	}
	for key, status := range m.limits {
		if strings.Contains(cmd.Script, key) {
			return sandbox.Result{Status: status, ExitCode: &code}, nil
		}
	}
	if cmd.Script == "exit 4" {
		code = m.next
		return sandbox.Result{Status: sandbox.Exited, ExitCode: &code}, nil
	}
	// The longest key that fits is the most particular one.
	keys := slices.SortedFunc(maps.Keys(m.answers), func(a, b string) int { return len(b) - len(a) })
	for _, key := range keys {
		if !strings.Contains(cmd.Script, key) {
			continue
		}
		if key == "mkdir made" {
			if err := os.Mkdir(filepath.Join(m.workDir, "made"), 0o755); err != nil {
				return sandbox.Result{}, err
			}
			if err := os.WriteFile(filepath.Join(m.workDir, "made", "file"), nil, 0o644); err != nil {
				return sandbox.Result{}, err
			}
		}
		_, err := io.WriteString(cmd.Stdout, m.answers[key])
		return sandbox.Result{Status: sandbox.Exited, ExitCode: &code}, err
	}
	return sandbox.Result{}, errors.New("no answer for " + cmd.Script)
}

// examine runs the doctor on a machine and gives the checks by name.
func examine(t *testing.T, m *machine, secrets ...string) (sum doctor.Summary, order []string, checks map[string]doctor.Check) {
	t.Helper()
	checks = make(map[string]doctor.Check)
	temp := t.TempDir()
	sum, err := doctor.Run(t.Context(), doctor.Options{
		Connect: func(context.Context) (doctor.Engine, error) { return m, m.connect },
		OwnerOf: func(string) (sandbox.Owner, error) {
			return sandbox.Owner{UID: os.Getuid(), GID: os.Getgid()}, nil
		},
		TempDir: temp,
		Secrets: secrets,
		Spec:    m.spec,
		Child:   m.child, Owned: m.owned, KeyFiles: []string{"/home/u/.ssh"},
	}, func(c doctor.Check) {
		order = append(order, c.Name)
		checks[c.Name] = c
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind in the temporary folder: %v, %v", left, err)
	}
	return sum, order, checks
}

func TestSoundMachinePasses(t *testing.T) {
	m := sound()
	sum, order, checks := examine(t, m, "a-secret-value")
	for _, c := range checks {
		if c.Status != doctor.OK {
			t.Errorf("%s: %s %s", c.Name, c.Status, c.Detail)
		}
	}
	if diff := cmp.Diff(doctor.Summary{Made: 34, Held: 34}, sum); diff != "" || !sum.Good() {
		t.Error(diff)
	}
	want := []string{
		"engine", "image", "sandbox", "memory", "cpus", "processes", "open files", "temporary space", "user",
		"ownership", "read-only root", "privileges", "network", "named hosts", "host files", "host processes", "secrets", "git",
		"escape: mounts", "escape: namespaces", "escape: kernel settings", "escape: devices", "escape: kernel calls",
		"escape: privileges", "escape: processes", "escape: raw sockets", "escape: files",
		"full memory", "fork bomb", "full disks", "disk limit", "timeout", "kill of belljar", "removal",
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, doctor.Names()); diff != "" {
		t.Error(diff)
	}
	if m.closings != 3 {
		t.Errorf("the three sandboxes were closed %d times", m.closings)
	}
}

func TestEachFaultIsFound(t *testing.T) {
	const secret = "a-secret-value"
	answer := func(key, text string) func(*machine) { return func(m *machine) { m.answers[key] = text } }
	edit := func(key, old, new string) func(*machine) {
		return func(m *machine) { m.answers[key] = strings.ReplaceAll(m.answers[key], old, new) }
	}
	found := func(limit string, value float64) func(*machine) {
		return func(m *machine) {
			for i, reading := range m.info.Readings {
				if reading.Limit == limit {
					m.info.Readings[i].Found = value
				}
			}
		}
	}
	self, _ := os.Readlink("/proc/self/ns/net")
	for _, test := range []struct {
		name  string
		spoil func(*machine)
		check string
	}{
		{"no engine", func(m *machine) { m.connect = errors.New("no engine answers") }, "engine"},
		{"no image", func(m *machine) { m.image = errors.New("cannot build") }, "image"},
		{"start fails", func(m *machine) { m.start = errors.New("cannot start") }, "sandbox"},
		{"memory ignored", found("memory", sandbox.NoLimit), "memory"},
		{"memory too large", found("memory", 1<<32), "memory"},
		{"memory unknown", func(m *machine) { m.info.Readings[0].Source = sandbox.FromNowhere }, "memory"},
		{"swap", found("swap", sandbox.NoLimit), "memory"},
		{"cpus ignored", found("cpus", 4), "cpus"},
		{"processes ignored", found("pids", sandbox.NoLimit), "processes"},
		{"open files", found("nofile", 1048576), "open files"},
		{"tmp on the disk", edit("name.type", "tmp.type tmpfs", "tmp.type overlay"), "temporary space"},
		{"home too large", found("home", 1<<30), "temporary space"},
		{"noexec", edit("name.type", "tmp.exec yes", "tmp.exec Permission denied"), "temporary space"},
		{"another user", edit("id -u", "1000:1000", "0:0"), "user"},
		{"another workspace", answer("mkdir made", "cat: given: No such file or directory\n"), "ownership"},
		{"writable root", answer("options", "writable /usr\noptions ro\n"), "read-only root"},
		{"root mounted for writing", answer("options", "options rw,relatime\n"), "read-only root"},
		{"a capability", edit("NoNewPrivs", "CapBnd 0000000000000000", "CapBnd 00000000a80425fb"), "privileges"},
		{"new privileges", edit("NoNewPrivs", "NoNewPrivs 1", "NoNewPrivs 0"), "privileges"},
		{"no seccomp", edit("NoNewPrivs", "Seccomp 2", "Seccomp 0"), "privileges"},
		{"an interface", answer("/proc/net/dev", "interface eth0\n"), "network"},
		{"a route", answer("/proc/net/dev", "route eth0\n"), "network"},
		{"another network mode", func(m *machine) { m.info.Network = sandbox.NetworkBridge }, "network"},
		{"engine socket", answer("../outside", "socket /run/docker.sock\n"), "host files"},
		{"shared namespace", edit("/proc/self/ns", "net:[2]", self), "host processes"},
		{"namespaces unknown", edit("/proc/self/ns", "pid pid:[1]", ""), "host processes"},
		{"secret inside", answer("environ", "KEY="+secret+"\n"), "secrets"},
		{"timeout ignored", func(m *machine) { m.timeout = sandbox.Exited }, "timeout"},
		{"an attempt gets through", func(m *machine) {
			m.findings = strings.Replace(m.findings, `"denied":true`, `"denied":false`, 1)
		}, "escape: mounts"},
		{"the attempts stop half-way", func(m *machine) { m.findings = m.findings[:len(m.findings)/2] }, "escape: files"},
		{"memory is not bounded", func(m *machine) { m.limits["of=/dev/null"] = sandbox.Exited }, "full memory"},
		{"processes are not bounded", func(m *machine) { m.limits["bomb()"] = sandbox.Exited }, "fork bomb"},
		{"no command after a bomb", func(m *machine) { m.next = 1 }, "fork bomb"},
		{"disks are not bounded", func(m *machine) { m.limits["/fill"] = sandbox.OutOfMemory }, "full disks"},
		{"process survives", answer("grep -c", "1\n"), "timeout"},
		{"a host beside the named one", func(m *machine) { m.named = "named 200\nother 200\nmetadata 403\n" }, "named hosts"},
		{"the metadata address", func(m *machine) { m.named = "named 200\nother 403\nmetadata 200\n" }, "named hosts"},
		{"a way around", func(m *machine) { m.named += "around by DNS\n" }, "named hosts"},
		{"the named host is not reached", func(m *machine) { m.named = "other 403\nmetadata 403\n" }, "named hosts"},
		{"no way out", func(m *machine) { m.outlet = errors.New("it broke") }, "named hosts"},
		{"a key inside", answer("ls -d", "/home/u/.ssh\n"), "secrets"},
		{"the disk is not bounded", func(m *machine) { m.limits["fill$i"] = sandbox.Exited }, "disk limit"},
		{"a container stays", func(m *machine) { m.stays = true }, "kill of belljar"},
		{"git is changed", func(m *machine) {
			m.onProbe = func(script string) {
				if strings.Contains(script, "alias") {
					if err := os.WriteFile(filepath.Join(m.workDir, ".git", "config"), []byte("x"), 0o600); err != nil {
						panic(err)
					}
				}
			}
		}, "git"},
		{"not removed", func(m *machine) { m.closing = errors.New("still there") }, "removal"},
		{"sandbox is lost", func(m *machine) { m.exec = sandbox.ErrLost }, "user"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := sound()
			test.spoil(m)
			sum, order, checks := examine(t, m, secret)
			if sum.Good() {
				t.Error("the machine is found good")
			}
			if sum.Made != len(order) || sum.Made+sum.NotMade != 34 || sum.Held+sum.Failed+sum.Skipped != sum.Made {
				t.Errorf("the summary %+v does not fit %d checks", sum, len(order))
			}
			if c := checks[test.check]; c.Status != doctor.Fail || c.Detail == "" {
				t.Errorf("check %q: %+v", test.check, c)
			}
			if strings.Contains(checks["secrets"].Detail, secret) {
				t.Error("the secret is told")
			}
		})
	}
}

func TestFileOutsideIsFound(t *testing.T) {
	m := sound()
	m.onProbe = func(script string) {
		if strings.Contains(script, "../outside") {
			content, err := os.ReadFile(filepath.Join(m.workDir, "..", "outside"))
			if err != nil {
				t.Error(err)
			}
			m.answers["../outside"] = string(content)
		}
	}
	if sum, _, checks := examine(t, m); sum.Good() || checks["host files"].Status != doctor.Fail {
		t.Errorf("a file of the host was read and nothing said so: %+v", checks["host files"])
	}
}

func TestLimitsFromElsewhere(t *testing.T) {
	m := sound()
	m.info.Readings[0].Source = sandbox.FromHost
	m.info.Readings = slices.DeleteFunc(m.info.Readings, func(r sandbox.Reading) bool { return r.Limit == "pids" })
	sum, _, checks := examine(t, m)
	if got, want := checks["memory"].Detail, "2048 MiB, no swap (read on the host; it cannot be read inside)"; got != want {
		t.Errorf("memory: %q, want %q", got, want)
	}
	if c := checks["processes"]; c.Status != doctor.Skip || c.Detail == "" {
		t.Errorf("processes: %+v", c)
	}
	if !sum.Good() || sum.Skipped == 0 {
		t.Error("a check that says nothing is no failure")
	}
}

func TestCancelStopsTheChecks(t *testing.T) {
	m := sound()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	m.onProbe = func(string) { cancel(why) }
	var last string
	_, err := doctor.Run(ctx, doctor.Options{
		Connect: func(context.Context) (doctor.Engine, error) { return m, nil },
		OwnerOf: func(string) (sandbox.Owner, error) { return sandbox.Owner{}, nil },
		TempDir: t.TempDir(),
	}, func(c doctor.Check) { last = c.Name })
	if !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	if last != "removal" || m.closings != 1 {
		t.Errorf("the last check was %q and the sandbox was closed %d times", last, m.closings)
	}
}
