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
	next     int       // the code of the command after one that went over a limit
	named    string    // what the probe of named hosts says
	outlet   error     // of a start with the network mode allow
	started  *exec.Cmd // the child
	stays    bool      // a container outlives its belljar
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
			"name.type":           "tmp.type tmpfs\ntmp.exec yes\nhome.type tmpfs\nhome.exec yes\nshm.type tmpfs\nshm.exec yes\n",
			"id -u":               "user 1000:1000\nhome /home/belljar\n",
			"alias":               "",
			"stat -c":             "",
			"stat -c '%s %Y' '/'": "4096 1700000000\n",
			"mkdir made":          "from the host\n",
			"options":             "options ro,relatime\n",
			"NoNewPrivs":          "CapInh 0000000000000000\nCapPrm 0000000000000000\nCapEff 0000000000000000\nCapBnd 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2\nSeccomp_filters 1\n",
			"/proc/net/dev":       "",
			"../outside":          "",
			"/proc/self/ns":       "pid pid:[1]\nnet net:[2]\nmnt mnt:[3]\nipc ipc:[4]\nuts uts:[5]\n1 process\n7 process\n",
			"environ":             "HOME=/home/belljar\nPATH=/usr/bin\n",
			"grep -c":             "0\n",
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

// owned counts what is there over a workspace: one thing while its child lives.
func (m *machine) owned(_ context.Context, workspace string) (int, error) {
	if child := m.started; child != nil && child.Dir == workspace && (m.stays || child.Process.Signal(syscall.Signal(0)) == nil) {
		return 1, nil
	}
	return 0, nil
}

// child is a process that does as a belljar would.
func (m *machine) child(workspace, script string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", strings.Replace(script, "sleep", "exec sleep", 1))
	cmd.Dir = workspace
	m.started = cmd
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
