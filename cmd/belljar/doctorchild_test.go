package main

import (
	"testing"

	"github.com/belljar/belljar/sandbox/docker"
)

func TestContainersOver(t *testing.T) {
	fake, err := connectFake(t.Context(), docker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer fake.Close()
	for workspace, want := range map[string]int{"/home/u/w": 1, "/home/u/w2": 0, "/home/u": 0} {
		if got, err := containersOver(t.Context(), fake, workspace); got != want || err != nil {
			t.Errorf("over %s: %d, %v, want %d", workspace, got, err, want)
		}
	}
}
