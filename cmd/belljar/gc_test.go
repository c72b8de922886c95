package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNothingToRemoveIsOneLine(t *testing.T) {
	var lines []leftoverJSON
	for range 200 {
		lines = append(lines, leftoverJSON{Kind: "folder", Action: "kept"})
	}
	lines = append(lines, leftoverJSON{Kind: "file", Action: "kept"})
	var out, said bytes.Buffer
	a := &app{stdout: &out, stderr: &said}
	if err := a.leftoverTable(lines, gcOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "belljar: there is nothing to remove; kept: 1 file, 200 folders; --kept lists what and why\n"
	if diff := cmp.Diff(want, out.String()+said.String()); diff != "" {
		t.Error(diff)
	}
}
