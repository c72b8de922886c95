//go:build unix

package workspace

import (
	"syscall"
	"testing"
)

// The probe stands in where the kernel does not tell the umask; both must
// agree where it does.
func TestProbeUmask(t *testing.T) {
	old := syscall.Umask(0o037)
	defer syscall.Umask(old)
	if got, err := probeUmask(); err != nil || got != 0o037 {
		t.Errorf("probeUmask() = %#o, %v", got, err)
	}
	if got, ok := procUmask(); ok && got != 0o037 {
		t.Errorf("procUmask() = %#o", got)
	}
}
