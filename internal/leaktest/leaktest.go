// Package leaktest lets a test prove that it leaves no goroutine and no open
// file behind. Only tests import it.
package leaktest

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience bounds the wait for what is still on its way to its end.
const patience = 10 * time.Second

// Check notes the goroutines and open files of the process and compares at
// the test's cleanup: more than slack new ones of either kind fail the test,
// and their stacks and names are printed. Call it first, so that it looks
// last. What is still ending gets a bounded time for it.
//
// It is not for tests that run beside parallel ones, whose goroutines would
// count too. Files are compared where the system lists them (/proc/self/fd).
func Check(t testing.TB, slack int) {
	t.Helper()
	check(t, slack, patience)
}

func check(t testing.TB, slack int, patience time.Duration) {
	t.Helper()
	goroutinesBefore, filesBefore := goroutines(), files()
	t.Cleanup(func() {
		t.Helper()
		var stacks, names []string
		// Nothing tells when a goroutine has ended or the other side has
		// closed a connection, so this looks again until it is so.
		end := time.Now().Add(patience)
		for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
			stacks, names = added(goroutinesBefore, goroutines()), added(filesBefore, files())
			if len(stacks) <= slack && len(names) <= slack || time.Now().After(end) {
				break
			}
			time.Sleep(pause)
		}
		if len(stacks) > slack {
			t.Errorf("%d goroutines are left, at most %d may be:\n\n%s", len(stacks), slack, strings.Join(stacks, "\n\n"))
		}
		if len(names) > slack {
			t.Errorf("%d open files are left, at most %d may be:\n%s", len(names), slack, strings.Join(names, "\n"))
		}
	})
}

// added lists what is in now and was not in before.
func added(before, now map[string]string) []string {
	var list []string
	for key, text := range now {
		if _, found := before[key]; !found {
			list = append(list, text)
		}
	}
	return list
}

// goroutines maps each goroutine's number, which is never used again, to its
// stack. Those of the testing package and the runtime are left out.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	for stack := range bytes.SplitSeq(buf, []byte("\n\n")) {
		text := string(stack)
		header, frames, found := strings.Cut(text, "\n")
		if number, isStack := strings.CutPrefix(header, "goroutine "); found && isStack && !ours(frames) {
			number, _, _ = strings.Cut(number, " ")
			all[number] = text
		}
	}
	return all
}

// ours tells the goroutines that a test cannot leak: those that run tests and
// the one that the runtime keeps for signals.
func ours(frames string) bool {
	for _, function := range []string{
		"testing.tRunner(", "testing.(*T).Run(", "testing.(*B).run", "testing.(*M).", "testing.(*F).",
		"os/signal.signal_recv(", "os/signal.loop(", "runtime.ensureSigM",
	} {
		if strings.HasPrefix(frames, function) || strings.Contains(frames, "\n"+function) {
			return true
		}
	}
	return false
}

// files maps each open file, by number and target, to a text for a message.
func files() map[string]string {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	all := map[string]string{}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(dir, entry.Name()))
		// The runtime opens its poller once and keeps it; the folder's own
		// handle is closed by now.
		if err != nil || strings.HasPrefix(target, "anon_inode:[eventpoll]") || strings.HasPrefix(target, "anon_inode:[eventfd]") {
			continue
		}
		text := entry.Name() + " -> " + target
		all[text] = text
	}
	return all
}
