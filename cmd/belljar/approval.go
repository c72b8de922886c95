package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// An approvalMode says which calls a person is asked about.
type approvalMode int

const (
	approvalNever  approvalMode = iota
	approvalRisky               // those that are out of the ordinary
	approvalAlways              // all
)

func (m approvalMode) String() string {
	return [...]string{approvalNever: "never", approvalRisky: "risky", approvalAlways: "always"}[m]
}

// approvals are the modes for calls by their effect. The zero value asks nobody.
type approvals [tools.Execute + 1]approvalMode

// effectName is the name of an effect in the flag and the record.
func effectName(e tools.Effect) string {
	return [...]string{tools.Read: "read", tools.Write: "write", tools.Execute: "execute"}[e]
}

// String writes the modes as the flag takes them.
func (a approvals) String() string {
	if a == (approvals{a[0], a[0], a[0]}) {
		return a[0].String()
	}
	var parts []string
	for effect, mode := range a {
		parts = append(parts, effectName(tools.Effect(effect))+"="+mode.String())
	}
	return strings.Join(parts, ",")
}

// recorded are the modes as the record holds them.
func (a approvals) recorded() trajectory.Approvals {
	return trajectory.Approvals{Read: a[tools.Read].String(), Write: a[tools.Write].String(), Execute: a[tools.Execute].String()}
}

// approvalFlags say which calls of the model are not simply run.
type approvalFlags struct {
	approval approvals
	guard    bool
}

func (f *approvalFlags) add(flags *pflag.FlagSet) {
	flags.Var(approvalValue{&f.approval}, "approval", "calls of the model that you are asked about: never, risky or always, for all of them or by kind (read, write, execute): execute=always,write=risky; where nobody can be asked they are denied")
	flags.BoolVar(&f.guard, "guard", true, "do not run commands that hardly anybody means, such as one that removes the whole workspace, unless you are asked and say so; --guard=false runs them. A guard against slips, no boundary")
}

// An approvalValue is a flag for the modes: one for all kinds, or one for each
// that is named. What is said later holds.
type approvalValue struct{ modes *approvals }

func (v approvalValue) String() string {
	if v.modes == nil {
		return ""
	}
	return v.modes.String()
}

func (v approvalValue) Type() string { return "MODE" }

func (v approvalValue) Set(text string) error {
	modes := *v.modes
	for part := range strings.SplitSeq(text, ",") {
		kind, name, single := strings.Cut(strings.TrimSpace(part), "=")
		if !single {
			kind, name = "", kind
		}
		mode, err := parseApproval(name)
		if err != nil {
			return err
		}
		found := false
		for effect := range modes {
			if kind == "" && !single || kind == effectName(tools.Effect(effect)) {
				modes[effect], found = mode, true
			}
		}
		if !found {
			return fmt.Errorf("%q is no kind of call; they are read, write and execute", kind)
		}
	}
	*v.modes = modes
	return nil
}

func parseApproval(name string) (approvalMode, error) {
	for _, mode := range [...]approvalMode{approvalNever, approvalRisky, approvalAlways} {
		if name == mode.String() {
			return mode, nil
		}
	}
	return 0, fmt.Errorf("%q is not known; it is never, risky or always, or KIND=MODE,... with read, write and execute", name)
}
