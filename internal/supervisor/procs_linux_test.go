package supervisor

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	// A line as proc(5) describes it: 52 fields, most of them 0 here.
	line := func(name, state, parent, session, flags, threads, start string) string {
		fields := make([]string, 50)
		for i := range fields {
			fields[i] = "0"
		}
		fields[fieldState], fields[fieldParent], fields[fieldSession] = state, parent, session
		fields[fieldFlags], fields[fieldThreads], fields[fieldStart] = flags, threads, start
		return "12 (" + name + ") " + strings.Join(fields, " ") + "\n"
	}
	tests := []struct {
		name  string
		stat  string
		ok    bool
		alive bool
		comm  string
	}{
		{"running", line("bash", "R", "1", "12", "4194560", "1", "99"), true, true, "bash"},
		{"stopped", line("bash", "T", "1", "12", "0", "1", "99"), true, true, "bash"},
		{"ended", line("bash", "Z", "1", "12", "4", "1", "99"), true, false, "bash"},
		{"on its way out", line("python3", "R", "1", "12", "4", "1", "99"), true, false, "python3"},
		{"first thread ended, others run", line("java", "Z", "1", "12", "4", "8", "99"), true, true, "java"},
		{"a name that looks like fields", line("a) Z 1 (b", "S", "1", "12", "0", "1", "99"), true, true, "a) Z 1 (b"},
		{"a name with a newline", line("a\nb", "S", "1", "12", "0", "1", "99"), true, true, "a\nb"},
		{"cut off", line("bash", "R", "1", "12", "0", "1", "99")[:30], false, false, ""},
		{"empty", "", false, false, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, ok := parseStat(12, []byte(test.stat))
			if ok != test.ok {
				t.Fatalf("ok = %v, want %v", ok, test.ok)
			}
			if !ok {
				return
			}
			list := p.appendTo(nil)
			if p.alive() != test.alive || p.parent != 1 || p.Session != 12 || p.Start != 99 || list[0].Name != test.comm {
				t.Errorf("got %+v (alive %v), named %q", p, p.alive(), list[0].Name)
			}
		})
	}
}

func TestDescendantsOfThisProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 86399 & read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		list, _ := descendants(cmd.Process.Pid)
		for _, p := range list {
			_ = rawKill(p.PID, 9)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}()
	for range 5000 {
		if list, count := descendants(os.Getpid()); count >= 2 {
			for _, p := range list {
				if p.Name == "sleep" {
					return
				}
			}
		}
		pause(1)
	}
	t.Error("the child's child was not found")
}

func TestFieldReadsCounters(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir + "/" + name
	}
	v1 := write("oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
	v2 := write("events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 0\n")
	tests := []struct {
		name, file, word string
		want             int64
	}{
		{"version 1", v1, "oom_kill ", 3}, {"version 2", v2, "oom_kill ", 2}, {"forks", v2, "max ", 7},
		{"plain", write("current", "12\n"), "", 12}, {"no limit", write("max", "max\n"), "", -1},
		{"missing", dir + "/none", "", -1}, {"no file", "", "", -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fd, err := unix.Open(test.file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err == nil {
				defer unix.Close(fd)
			}
			field(fd, test.word) // read as often as one likes
			if got := field(fd, test.word); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
