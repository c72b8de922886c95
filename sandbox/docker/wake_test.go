package docker

import (
	"os"
	"slices"
	"testing"
)

func TestStopped(t *testing.T) {
	list := [][]string{{"12", "T"}, {"13", "Ts"}, {"14", "S"}, {"15", "Z"}, {"x", "T"}, {"1", "T"}, {"16"}, {"17", "t"}, {"18", "T+"}}
	if got := stopped(list); !slices.Equal(got, []int{12, 13, 18}) {
		t.Errorf("stopped are %v", got)
	}
}

// No process is signaled that is not known to be of the container.
func TestResumeOfOthers(t *testing.T) {
	if resume(os.Getpid(), "0123456789abcdef0123456789abcdef") {
		t.Error("this process was taken for one of a container")
	}
}
