package supervisor

import (
	"os"
	"testing"
)

func TestStartThreads(t *testing.T) {
	threads := func() int {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	// More than there are, so that they cannot all have been there before.
	want := threads() + 4
	startThreads(want)
	if got := threads(); got < want {
		t.Errorf("%d threads after %d were started, want at least as many", got, want)
	}
}
