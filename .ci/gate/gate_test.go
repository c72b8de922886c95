package main

import (
	"strings"
	"testing"
)

func TestGate(t *testing.T) {
	tests := []struct {
		name, in string
		ok       bool
		show     []string
		hide     string
	}{
		{
			name: "passed",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}`,
			ok: true, show: []string{"ok  \tp\t0.1s", "1 passed, 0 failed, 0 skipped"}, hide: "chatter",
		},
		{
			name: "skipped subtest",
			in: `{"Action":"output","Package":"p","Test":"TestA/b","Output":"=== RUN   TestA/b\n"}
{"Action":"output","Package":"p","Test":"TestA/b","Output":"    a_test.go:1: no engine\n"}
{"Action":"skip","Package":"p","Test":"TestA/b"}
{"Action":"pass","Package":"p","Test":"TestA"}`,
			show: []string{"skipped: p TestA/b: a_test.go:1: no engine"},
		},
		{
			name: "failed",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"want 1\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			show: []string{"want 1", "0 passed, 1 failed"},
		},
		{
			name: "panic in one test",
			in: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"panic: x\n"}
{"Action":"fail","Package":"p"}`,
			show: []string{"panic: x"},
		},
		{
			name: "does not compile",
			in: `{"Action":"build-output","ImportPath":"p","Output":"a.go:1: syntax error\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"fail","Package":"p"}`,
			show: []string{"syntax error"},
		},
		{name: "nothing ran", in: `{"Action":"skip","Package":"p"}`},
		{name: "not JSON", in: "go: cannot find main module", show: []string{"cannot find main module"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			ok, err := gate(strings.NewReader(test.in), &out)
			if got := ok && err == nil; got != test.ok {
				t.Errorf("gate = %v, %v; want %v", ok, err, test.ok)
			}
			for _, part := range test.show {
				if !strings.Contains(out.String(), part) {
					t.Errorf("output %q lacks %q", out.String(), part)
				}
			}
			if test.hide != "" && strings.Contains(out.String(), test.hide) {
				t.Errorf("output %q shows %q", out.String(), test.hide)
			}
		})
	}
}
