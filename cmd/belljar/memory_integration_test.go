//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// memoryLimit is what belljar itself may use while any amount of output comes,
// in bytes.
const memoryLimit = 64 << 20

// Floods of output. Where a command does not end by itself belljar ends it.
const (
	flood    = 256 << 20
	longLine = 1_000_000_000
)

// testProgramMemory runs commands that write more than belljar may hold.
func testProgramMemory(t *testing.T, p *program) {
	for _, test := range []struct {
		name, script string
		limit        int64 // 0: the command ends by itself
		written      int64
		status       string
		lossy        bool
	}{
		{"yes", "yes", flood, flood, "output_limit", false},
		{"random bytes", "cat /dev/urandom", flood / 4, flood / 4, "output_limit", true},
		{"one line", fmt.Sprintf("head -c %d /dev/zero", longLine), 0, longLine, "exited", false},
		// Six bytes a line: the limit is at the end of one, and what is kept of
		// the beginning ends within a character.
		{"errors", "yes é€ >&2", 60_000_000, 60_000_000, "output_limit", false},
	} {
		args := []string{"exec", "-c", test.script}
		if test.limit > 0 {
			args = append(args, "--max-output", strconv.FormatInt(test.limit, 10))
		}
		t.Run(test.name+" as an object", func(t *testing.T) {
			text := p.measured(t, p.command(t, "", append([]string{args[0], "--json"}, args[1:]...)...), false)
			checkObject(t, text.Bytes(), test.written, test.status, test.lossy)
		})
		t.Run(test.name, func(t *testing.T) {
			cmd := p.command(t, "", args...)
			onStderr := strings.HasSuffix(test.script, ">&2")
			if got := p.measured(t, cmd, onStderr).total; got < test.written || got > test.written+1000 {
				t.Errorf("%d bytes came, want %d and at most a line of belljar's own", got, test.written)
			}
		})
	}
}

// A kept is the beginning of an output and its whole size.
type kept struct {
	bytes.Buffer
	total int64
}

// measured runs a command, reads one of its streams to the end and checks how
// much memory it used at most. It reads the peak from /proc: what wait(2) tells
// counts the memory of the process that started it, too. The last look is at a
// moment when the program still has its end to write.
func (p *program) measured(t *testing.T, cmd *exec.Cmd, stderr bool) *kept {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if stderr {
		cmd.Stderr = w
	} else {
		cmd.Stdout = w
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	got := &kept{}
	buf := make([]byte, 64<<10)
	var peak, looked int64
	for {
		n, err := r.Read(buf)
		if got.total == 0 || got.total-looked > 8<<20 || got.total < 8<<20 {
			looked = got.total
			peak = max(peak, peakOf(cmd.Process.Pid))
		}
		got.total += int64(n)
		got.Write(buf[:min(n, max(0, 16<<20-got.Len()))])
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // its code is that of the command's end
	t.Logf("peak %d KiB", peak>>10)
	if peak == 0 || peak > memoryLimit {
		t.Errorf("belljar used %d MiB, want at most %d", peak>>20, memoryLimit>>20)
	}
	return got
}

// peakOf reads the most memory that a process has used, 0 once it has ended.
func peakOf(pid int) int64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

func checkObject(t *testing.T, text []byte, written int64, status string, lossy bool) {
	t.Helper()
	if !utf8.Valid(text) {
		t.Error("the object is not valid UTF-8")
	}
	var got execJSON
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v in %q", err, text[:min(len(text), 200)])
	}
	if string(got.Status) != status || (got.Encoding == "lossy") != lossy {
		t.Errorf("status %s and encoding %q, want %s and lossy %v", got.Status, got.Encoding, status, lossy)
	}
	if got.Truncated == nil {
		t.Fatal("the object does not say that output was dropped")
	}
	dropped := got.Truncated.Stdout + got.Truncated.Stderr
	if shown := written - dropped; shown < jsonStreamLimit-2*utf8.UTFMax || shown > jsonStreamLimit {
		t.Errorf("%d of %d bytes were dropped, want all but %d", dropped, written, jsonStreamLimit)
	}
	for _, stream := range []string{got.Stdout, got.Stderr} {
		if len(stream) > 4*jsonStreamLimit {
			t.Errorf("a stream has %d bytes", len(stream))
		}
	}
	if !strings.Contains(got.Stdout+got.Stderr, "omitted") {
		t.Error("the text does not say where something was dropped")
	}
}
