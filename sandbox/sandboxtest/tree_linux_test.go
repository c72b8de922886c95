package sandboxtest

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func statLine(name string) string {
	return "42 (" + name + ") S 7 42 43 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 1 18446744073709551615"
}

func TestParseStat(t *testing.T) {
	for _, name := range []string{"sleep", "", "a b", "a) S 1 1 1", "((", "))", "new\nline", "\xff"} {
		p, ok := parseStat(42, []byte(statLine(name)))
		want := proc{identity: identity{pid: 42, start: 98765}, name: name, state: 'S', parent: 7, session: 43}
		if !ok || p != want {
			t.Errorf("name %q: got %+v, %v, want %+v", name, p, ok, want)
		}
	}
	for _, line := range []string{"", "42", "42 (x", "42 (x) S 1", strings.Replace(statLine("x"), "98765", "soon", 1), ")("} {
		if p, ok := parseStat(42, []byte(line)); ok {
			t.Errorf("line %q was taken as %+v", line, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("sleep", 1)
	f.Add("a) R 1 2 3", 2)
	f.Fuzz(func(t *testing.T, name string, pid int) {
		if p, ok := parseStat(pid, []byte(statLine(name))); !ok || p.name != name || p.session != 43 {
			t.Errorf("name %q: got %+v, %v", name, p, ok)
		}
		parseStat(pid, []byte(name)) // must not panic
	})
}

// A process that is none of the command's must not be taken for one.
func TestScanKeepsStrangersOut(t *testing.T) {
	since, err := now()
	if err != nil {
		t.Fatal(err)
	}
	stranger := exec.CommandContext(t.Context(), "sleep", "600")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stranger.Process.Kill()
		stranger.Wait()
	}()
	empty := tree{since: since, mark: "pipe:[0]"}
	if found, err := empty.scan(); err != nil || len(found) != 0 {
		t.Errorf("scan = %v, %v, want nothing", found, err)
	}
	own := tree{since: since, mark: "pipe:[0]", leader: stranger.Process.Pid}
	own.leader = 0
	own.known = map[identity]struct{}{{pid: stranger.Process.Pid, start: 1}: {}}
	if found, err := own.scan(); err != nil || len(found) != 0 {
		t.Errorf("scan = %v, %v, want nothing: the number has come to mean another process", found, err)
	}
}

func TestQuote(t *testing.T) {
	for _, text := range []string{"", "a b", "it's", "''", "$x `y` \\ \"z\"\n*"} {
		out, err := exec.Command("sh", "-c", "printf %s "+quote(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("quote(%q) came back as %q, %v", text, out, err)
		}
	}
}

func TestReportIsBounded(t *testing.T) {
	var found []proc
	for pid := range 100 {
		found = append(found, proc{identity: identity{pid: pid + 1}, name: "p" + strconv.Itoa(pid)})
	}
	list, count := report(found)
	if count != 100 || len(list) != 32 || list[31].PID != 32 {
		t.Errorf("%d listed, %d counted, want 32, 100", len(list), count)
	}
	if list, count := report(nil); list != nil || count != 0 {
		t.Errorf("report(nil) = %v, %d", list, count)
	}
}

func TestFolderOf(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain", "really (deleted)", "gone"} {
		full := dir + "/" + name
		if err := os.Mkdir(full, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "cat")
		cmd.Dir = full
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if name == "gone" {
			if err := os.Remove(full); err != nil {
				t.Fatal(err)
			}
		}
		if got := folderOf(cmd.Process.Pid); got != full {
			t.Errorf("folderOf = %q, want %q", got, full)
		}
		stdin.Close()
		cmd.Wait()
	}
	if got := folderOf(1 << 30); got != "" {
		t.Errorf("folderOf a process that is not there = %q", got)
	}
	if !slices.Contains([]string{"", "/"}, folderOf(1)) {
		t.Errorf("folderOf(1) = %q", folderOf(1))
	}
}

// A process that forks and ends while it is looked at must not leave its child
// unseen.
func TestKillChain(t *testing.T) {
	since, err := now()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	mark, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(w.Fd())))
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		// Each link of the chain starts the next one in a session of its own
		// and ends; the last one stays.
		cmd := exec.CommandContext(t.Context(), "bash", "-c",
			`exec 99>&3; if [ $1 -gt 0 ]; then setsid bash -c "$0" "$0" $(($1 - 1)) & else exec sleep 600; fi`)
		cmd.Args = append(cmd.Args, cmd.Args[2], "15")
		cmd.ExtraFiles = []*os.File{w}
		// A tree takes whole sessions, and the test's own has strangers in it.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		chain := tree{since: since, mark: mark}
		if _, err := chain.kill(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if left, err := chain.scan(); err != nil || len(left) != 0 {
				t.Fatalf("left after the kill: %v, %v", left, err)
			}
		}
	}
}
