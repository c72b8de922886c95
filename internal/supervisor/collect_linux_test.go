//go:build !race

package supervisor

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// spareVariable makes this test's program a spare.
const spareVariable = "BELLJAR_TEST_SPARE"

// TestSpareStaysSmall asks a spare a great many things before its command comes.
// The race detector's own memory would hide what is measured.
func TestSpareStaysSmall(t *testing.T) {
	if os.Getenv(spareVariable) != "" {
		os.Exit(serve())
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spare := exec.Command(path, "-test.run=^TestSpareStaysSmall$")
	spare.Env = append(Environ(), spareVariable+"=1")
	requests, err := spare.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	replies, err := spare.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := spare.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		requests.Close()
		if err := spare.Wait(); err != nil {
			t.Errorf("the spare: %v", err)
		}
	}()
	magic := make([]byte, len(Magic))
	if _, err := io.ReadFull(replies, magic); err != nil || !bytes.Equal(magic, []byte(Magic)) {
		t.Fatalf("the spare says %q, %v", magic, err)
	}
	var reply Reply
	if err := ReadFrame(replies, &reply); err != nil {
		t.Fatal(err)
	}
	ask := func(times int) (resident int) {
		for range times {
			if err := WriteFrame(requests, Request{Op: Count}); err != nil {
				t.Fatal(err)
			}
			if err := ReadFrame(replies, &reply); err != nil {
				t.Fatal(err)
			}
		}
		return residentKiB(t, spare.Process.Pid)
	}
	before := ask(10)
	after := ask(10_000)
	if most := before + 2*collectAbove>>10; after > most {
		t.Errorf("a spare took %d KiB after ten requests, and %d KiB after ten thousand; want %d at most", before, after, most)
	}
}

// residentKiB is how much memory a process takes.
func residentKiB(t *testing.T, pid int) (kib int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatalf("reading VmRSS: %v", err)
	}
	return kib
}
