package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/doctor"
	"github.com/belljar/belljar/sandbox"
)

// examine runs the doctor on a machine and gives the checks by name.
func examine(t *testing.T, m *machine, secrets ...string) (sum doctor.Summary, order []string, checks map[string]doctor.Check) {
	t.Helper()
	checks = make(map[string]doctor.Check)
	temp, key := t.TempDir(), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := doctor.Run(t.Context(), doctor.Options{
		Connect: func(context.Context) (doctor.Engine, error) { return m, m.connect },
		OwnerOf: func(string) (sandbox.Owner, error) {
			return sandbox.Owner{UID: os.Getuid(), GID: os.Getgid()}, nil
		},
		TempDir: temp,
		Secrets: secrets,
		Spec:    m.spec,
		Child:   m.child, Owned: m.owned, KeyFiles: []string{key},
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
		{"a key inside", func(m *machine) {
			m.onProbe = func(script string) {
				if after, ok := strings.CutPrefix(script, "stat -c '%s %Y' '"); ok {
					path, _, _ := strings.Cut(after, "'")
					if info, err := os.Lstat(path); err == nil {
						m.answers["stat -c"] = fmt.Sprintln(info.Size(), info.ModTime().Unix())
					}
				}
			}
		}, "secrets"},
		{"keys cannot be looked for", func(m *machine) { delete(m.answers, "stat -c") }, "secrets"},
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
	if got, want := checks["memory"].Detail, "2 GiB, no swap (read on the host; it cannot be read inside)"; got != want {
		t.Errorf("memory: %q, want %q", got, want)
	}
	if c := checks["processes"]; c.Status != doctor.Skip || c.Detail == "" {
		t.Errorf("processes: %+v", c)
	}
	if !sum.Good() || sum.Skipped == 0 {
		t.Error("a check that says nothing is no failure")
	}
}

// TestSkipsWhatCannotBeTold: where the machine cannot show a guarantee, that is
// no failure and no proof.
func TestSkipsWhatCannotBeTold(t *testing.T) {
	for _, test := range []struct {
		name          string
		spoil         func(*machine)
		check, detail string
	}{
		{"no memory limit", func(m *machine) {
			m.info.Capabilities.Counters = false
			m.info.Readings[0].Source = sandbox.FromNowhere
		}, "full memory", "the limit (memory) was not found in force"},
		{"no counters", func(m *machine) { m.info.Capabilities.Counters = false }, "full memory", "takes its sandbox along"},
		{"disk by single files", func(m *machine) {
			m.info.Loosened = []string{"disk=single files only"}
			m.limits["fill$i"] = sandbox.Exited
		}, "disk limit", "only single files are limited"},
		{"no stat in the image", func(m *machine) { m.answers["stat -c '%s %Y' '/'"] = "" }, "secrets", "neither stat nor find works"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := sound()
			test.spoil(m)
			_, _, checks := examine(t, m)
			if c := checks[test.check]; c.Status != doctor.Skip || !strings.Contains(c.Detail, test.detail) {
				t.Errorf("check %q: %+v, want it skipped with %q", test.check, c, test.detail)
			}
		})
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
