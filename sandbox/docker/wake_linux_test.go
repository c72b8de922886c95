package docker

import "testing"

// No process is taken for one of a container that is not in its control group.
func TestMembersOfNoContainer(t *testing.T) {
	const none = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	if list := members(none); len(list) != 0 {
		t.Errorf("%d processes", len(list))
	}
	if continueAll(none) || continueSupervisors(none, nil) {
		t.Error("something was continued")
	}
}
