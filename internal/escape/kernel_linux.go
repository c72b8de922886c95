package escape

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelAttempts are system calls that change or read the kernel itself. Their
// arguments are invalid, so that one which is let through does nothing.
func kernelAttempts() []attempt {
	const invalid = ^uintptr(0)
	try := func(name string, f func() error) attempt { return attempt{area: Kernel, name: name, try: f} }
	empty := [1]byte{}
	text := uintptr(unsafe.Pointer(&empty))
	return []attempt{
		try("load a module", func() error { return call(unix.SYS_INIT_MODULE, 0, 0, text) }),
		try("load a module from a file", func() error { return call(unix.SYS_FINIT_MODULE, invalid, text, 0) }),
		try("remove a module", func() error { return call(unix.SYS_DELETE_MODULE, text, 0) }),
		try("load a bpf program", func() error { return call(unix.SYS_BPF, 5 /* BPF_PROG_LOAD */, 0, 0) }),
		try("watch the processor", func() error { return call(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, invalid, 0) }),
		try("add a key", func() error { return call(unix.SYS_ADD_KEY, text, text, 0, 0, 0) }),
		try("use the keyring", func() error { return call(unix.SYS_KEYCTL, 0, 0xfffffffd, 0) }),
		try("request a key", func() error { return call(unix.SYS_REQUEST_KEY, text, text, 0, 0) }),
		try("boot another kernel", func() error { return call(unix.SYS_KEXEC_LOAD, 0, 0, 0, invalid) }),
		try("reboot", func() error { return call(unix.SYS_REBOOT, 0, 0, 0, 0) }),
		try("set the clock", func() error { return call(unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, invalid) }),
		try("set the host name", func() error { return call(unix.SYS_SETHOSTNAME, invalid, 1) }),
		try("swap on a file", func() error { return call(unix.SYS_SWAPON, text, 0) }),
		try("switch on accounting", func() error { return call(unix.SYS_ACCT, text) }),
		try("change quotas", func() error { return call(unix.SYS_QUOTACTL, 0x80000100 /* Q_SYNC of users */, text, 0, 0) }),
		{area: Kernel, name: "read the kernel's log", hostKernel: true, try: func() error { return call(unix.SYS_SYSLOG, 3, invalid, 1) }},
		{area: Kernel, name: "set up a ring of calls", hostKernel: true, try: func() error { return call(unix.SYS_IO_URING_SETUP, 1, 0) }},
		try("handle page faults", func() error { return call(unix.SYS_USERFAULTFD, 0) }),
		try("watch a whole mount", func() error { return call(unix.SYS_FANOTIFY_INIT, 0xc /* FAN_CLASS_PRE_CONTENT|FAN_CLASS_CONTENT */, 0) }),
		try("move pages of process 1", func() error { return call(unix.SYS_MOVE_PAGES, 1, 0, 0, 0, 0, 0) }),
	}
}
