package doctor_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/doctor"
	"github.com/belljar/belljar/sandbox"
)

// dev is a machine on which the dev profile is as it should be.
func dev() *machine {
	m := sound()
	m.spec = sandbox.Spec{Profile: sandbox.ProfileDev, User: sandbox.UserRoot, RootFS: sandbox.RootWritable}
	m.info.User, m.info.Limits.Tmp, m.info.Limits.Home = "0:0", 0, 0
	m.info.Loosened = []string{"user root", "writable system"}
	m.answers["id -u"] = "user 0:0\nhome /root\n"
	m.answers["options"] = "options rw,relatime\n"
	m.answers["name.type"] = "tmp.type \ntmp.exec yes\nhome.type \nhome.exec yes\nshm.type tmpfs\nshm.exec yes\n"
	status := m.answers["NoNewPrivs"]
	for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
		status = strings.Replace(status, set+" 0000000000000000", set+" 00000000000000eb", 1)
	}
	m.answers["NoNewPrivs"] = status
	m.findings += `{"area":"privileges","name":"become root","denied":false,"detail":"done","root":true}` + "\n"
	return m
}

// TestDevProfile: what dev loosens is told in its lines, and all else holds.
func TestDevProfile(t *testing.T) {
	sum, _, checks := examine(t, dev())
	var weak []string
	for _, c := range checks {
		switch c.Status {
		case doctor.Weak:
			weak = append(weak, c.Name)
		case doctor.OK:
		default:
			t.Errorf("%+v", c)
		}
	}
	slices.Sort(weak)
	if diff := cmp.Diff([]string{"escape: privileges", "privileges", "read-only root", "sandbox", "temporary space", "user"}, weak); diff != "" {
		t.Error(diff)
	}
	if !sum.Good() || sum.Weak != len(weak) || sum.Held+sum.Weak != sum.Made {
		t.Errorf("the summary is %+v", sum)
	}
	if text := checks["sandbox"].Detail; !strings.Contains(text, "user root, writable system") {
		t.Errorf("sandbox: %q", text)
	}
}

// TestDevProfileMisses: dev is no excuse for what it does not give.
func TestDevProfileMisses(t *testing.T) {
	for _, test := range []struct {
		name, check string
		spoil       func(*machine)
	}{
		{"a capability more", "privileges", func(m *machine) {
			m.answers["NoNewPrivs"] = strings.Replace(m.answers["NoNewPrivs"], "CapEff 00000000000000eb", "CapEff 00000000002000eb", 1)
		}},
		{"another user", "user", func(m *machine) { m.answers["id -u"] = "user 1000:1000\n" }},
		{"/dev/shm on the disk", "temporary space", func(m *machine) {
			m.answers["name.type"] = strings.Replace(m.answers["name.type"], "shm.type tmpfs", "shm.type overlay", 1)
		}},
		{"an attempt that is not root's", "escape: privileges", func(m *machine) {
			m.findings = strings.ReplaceAll(m.findings, `"area":"privileges","name":"try","denied":true`, `"area":"privileges","name":"try","denied":false`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := dev()
			test.spoil(m)
			if sum, _, checks := examine(t, m); sum.Good() || checks[test.check].Status != doctor.Fail {
				t.Errorf("%+v", checks[test.check])
			}
		})
	}
}

// TestUndeclared: what a runtime does not declare is skipped with the reason.
func TestUndeclared(t *testing.T) {
	for _, test := range []struct {
		check, word string
		spoil       func(*sandbox.Capabilities)
	}{
		{"full memory", "counters", func(c *sandbox.Capabilities) { c.Counters = false }},
		{"timeout", "kill_tree", func(c *sandbox.Capabilities) { c.KillTree = false }},
		{"git", "protect", func(c *sandbox.Capabilities) { c.Protect = false }},
		{"kill of belljar", "isolated", func(c *sandbox.Capabilities) { c.Isolated = false }},
	} {
		m := sound()
		test.spoil(&m.info.Capabilities)
		sum, _, checks := examine(t, m)
		if c := checks[test.check]; c.Status != doctor.Skip || !strings.Contains(c.Detail, "("+test.word+")") || !sum.Good() {
			t.Errorf("without %s: %+v, %+v", test.word, c, sum)
		}
	}
	m := sound()
	m.outlet = fmt.Errorf("the network mode allow %w: the engine is elsewhere", sandbox.ErrUnsupported)
	if _, _, checks := examine(t, m); checks["named hosts"].Status != doctor.Skip || !strings.Contains(checks["named hosts"].Detail, "elsewhere") {
		t.Errorf("without a way out: %+v", checks["named hosts"])
	}
}

// TestGuaranteesAreMapped: docs/security.md names every line, and none that is
// not there.
func TestGuaranteesAreMapped(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	_, table, ok := strings.Cut(string(text), "\n| guarantee |")
	if !ok {
		t.Fatal("docs/security.md has no table of guarantees")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		columns := strings.Split(strings.TrimSpace(line), "|")
		if len(columns) != 4 {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(columns[2], -1) {
			named[name[1]] = true
		}
	}
	delete(named, "belljar doctor") // the head of the table
	for _, name := range doctor.Names() {
		if !named[name] {
			t.Errorf("docs/security.md does not say what %q proves", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("docs/security.md names %q, which is no line of the doctor", name)
	}
}
