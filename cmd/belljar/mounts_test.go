package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
)

func TestParseMount(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       sandbox.Mount
		refused    string
	}{
		{name: "writable", text: "/data:/mnt/data", want: sandbox.Mount{Source: "/data", Target: "/mnt/data"}},
		{name: "read-only", text: "/data:/mnt/data:ro", want: sandbox.Mount{Source: "/data", Target: "/mnt/data", ReadOnly: true}},
		{name: "colon in the source", text: "/a:b/c:/mnt/c", want: sandbox.Mount{Source: "/a:b/c", Target: "/mnt/c"}},
		{name: "drive letter", text: `C:\data\x:/mnt/x:ro`, want: sandbox.Mount{Source: `C:\data\x`, Target: "/mnt/x", ReadOnly: true}},
		{name: "drive letter, forward", text: "C:/data:/mnt/x", want: sandbox.Mount{Source: "C:/data", Target: "/mnt/x"}},
		{name: "no target", text: "/data", refused: "is not SRC:DST"},
		{name: "no source", text: ":/mnt", refused: "is not SRC:DST"},
		{name: "relative target", text: "/data:mnt", refused: "is not SRC:DST"},
		{name: "target with backslashes", text: `/data:\mnt`, refused: "is not SRC:DST"},
		{name: "read-only and no target", text: "/data:ro", refused: "is not SRC:DST"},
		{name: "empty", text: "", refused: "is not SRC:DST"},
		{name: "unknown mode", text: "/data:/mnt:rw", refused: `ends with "rw"`},
		{name: "two modes", text: "/data:/mnt:z:ro", refused: `ends with "z"`},
		{name: "programs of tools", text: "/data:/belljar/tools:ro", refused: "is belljar's own"},
		{name: "belljar's own", text: "/data:/belljar/outputs", refused: "is belljar's own"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseMount(tc.text)
			if tc.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("mount (-want +got):\n%s", diff)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %+v and error %v, want one with %q", got, err, tc.refused)
			}
		})
	}
}
