package escape

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func processAttempts() []attempt {
	try := func(name string, f func() error) attempt { return attempt{area: Processes, name: name, try: f} }
	return []attempt{
		{area: Processes, name: "signal process 1", root: true, try: func() error { return unix.Kill(1, 0) }},
		try("trace process 1", traceFirst),
		try("read the memory of process 1", readFirst),
		try("open the memory of process 1", func() error { return open("/proc/1/mem", unix.O_RDWR) }),
		try("see the folders of process 1", func() error { return readable("/proc/1/root/etc/passwd", "/proc/1/cwd/etc/passwd") }),
		{area: Processes, name: "read the environment of process 1", hostKernel: true, try: func() error { return readable("/proc/1/environ") }},
		{area: Processes, name: "lower the score for the end of memory", hostKernel: true, try: lowerScore},
	}
}

func traceFirst() error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- unix.PtraceSeize(1)
	}()
	return <-result
}

func readFirst() error {
	var buf [8]byte
	local := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	remote := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&buf)), Len: len(buf)}
	_, err := unix.ProcessVMReadv(1, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
	return err
}

// readable returns nil when a byte of one of the files can be read.
func readable(files ...string) error {
	last := error(unix.ENOENT)
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			last = err
			continue
		}
		n, _ := file.Read(make([]byte, 1))
		file.Close()
		if n > 0 {
			return nil
		}
		last = fmt.Errorf("%w: %s is empty", errHeld, path)
	}
	return last
}

// lowerScore asks the kernel to kill anything else first.
func lowerScore() error { return os.WriteFile("/proc/self/oom_score_adj", []byte("-1000"), 0) }
