package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
)

func TestLeadOut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags networkFlags
		env   []string
		want  []string // the environment
		says  string   // "" for nothing
	}{
		{"no proxy", networkFlags{}, nil, nil, ""},
		{"a host elsewhere", networkFlags{allow: []string{"a.example"}}, nil, nil, ""},
		{"an address of loopback", networkFlags{allow: []string{"127.0.0.1:8765"}}, nil,
			[]string{"NO_PROXY=localhost,::1", "no_proxy=localhost,::1"}, "127.0.0.1 leads to this machine"},
		{"in brackets", networkFlags{allow: []string{"[::1]:80"}}, nil,
			[]string{"NO_PROXY=localhost,127.0.0.1", "no_proxy=localhost,127.0.0.1"}, "::1 leads to this machine"},
		{"its name", networkFlags{allowPrivate: []string{"LocalHost:8765"}}, nil,
			[]string{"NO_PROXY=127.0.0.1,::1", "no_proxy=127.0.0.1,::1"}, "localhost leads to this machine"},
		{"a name below it", networkFlags{allowPrivate: []string{"app.localhost"}}, nil,
			[]string{"NO_PROXY=127.0.0.1,::1", "no_proxy=127.0.0.1,::1"}, "app.localhost leads to this machine"},
		{"the user's own", networkFlags{allow: []string{"127.0.0.1"}}, []string{"NO_PROXY="}, []string{"NO_PROXY="}, ""},
		{"the user's own, in the way", networkFlags{allow: []string{"a.corp.example"}}, []string{"no_proxy=x, .Corp.example"},
			[]string{"no_proxy=x, .Corp.example"}, "keeps programs from the way to a.corp.example"},
		{"the user's own, for all", networkFlags{allow: []string{"a.example"}}, []string{"NO_PROXY=*"}, []string{"NO_PROXY=*"}, "keeps programs"},
		{"not below", networkFlags{allow: []string{"ample.example"}}, []string{"NO_PROXY=le.example,"}, []string{"NO_PROXY=le.example,"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			a := &app{stderr: &said}
			g, err := a.openGate(&tt.flags, &networkLog{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			spec := sandbox.Spec{Env: tt.env}
			a.leadOut(g, &spec)
			if diff := cmp.Diff(tt.want, spec.Env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if got := said.String(); !strings.Contains(got, tt.says) || (got == "") != (tt.says == "") {
				t.Errorf("said %q, want %q in it", got, tt.says)
			}
		})
	}
}
