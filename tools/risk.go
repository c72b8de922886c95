package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belljar/belljar/internal/tripwire"
)

// A Risk is what is out of the ordinary about one call. The zero value is
// nothing.
type Risk struct {
	// Text says what the call would do, in one line, and Hint what else there is
	// to do; Hint may be empty.
	Text, Hint string
	// Slip: hardly anybody means it.
	Slip bool
	// Failed: the look at the call broke down, so that nothing is known of it.
	Failed bool
}

// An Assessor is a Tool that can tell of a call, before it runs, what is out of
// the ordinary about it. It tells of slips and of what a person may want to know,
// and is no boundary: what the call can reach is bounded elsewhere.
type Assessor interface {
	Tool
	// Assess looks at the arguments of a call, which have the shape of the
	// definition's schema, and runs nothing. When the context ends, it does.
	Assess(ctx context.Context, args json.RawMessage) Risk
}

// Assess tells what is out of the ordinary about a call, and whether it would
// run at all: one of an unknown name, or with arguments that do not fit, would
// not.
func (r *Registry) Assess(ctx context.Context, name string, args json.RawMessage) (risk Risk, runs bool) {
	e := r.lookup(name)
	if e == nil {
		return Risk{}, false
	}
	args, problem := checkArguments(e, args)
	if problem != "" {
		return Risk{}, false
	}
	assessor, ok := e.tool.(Assessor)
	if !ok {
		return Risk{}, true
	}
	// A tool that breaks down while it looks must not take down the run.
	defer func() {
		if v := recover(); v != nil {
			risk, runs = unassessed(fmt.Errorf("the tool %s broke down (%v)", name, v)), true
		}
	}()
	return assessor.Assess(ctx, args), true
}

// unassessed is the risk of a call of which nothing is known.
func unassessed(err error) Risk {
	return Risk{Text: fmt.Sprintf("it is not known what this would do: %v", err), Failed: true}
}

// riskOfChange tells what is out of the ordinary about changing files: that
// programs on the host obey one, and that others go away.
func riskOfChange(changed, removed []string) Risk {
	var said []string
	for _, path := range changed {
		if by, ok := tripwire.ObeyedBy(path); ok {
			said = append(said, fmt.Sprintf("changes %s, which programs on your machine obey (%s)", visibleName(path), by))
		}
	}
	for _, path := range removed {
		said = append(said, "removes "+visibleName(path))
	}
	const most = 3
	if len(said) > most {
		said = append(said[:most], fmt.Sprintf("and %d more", len(said)-most))
	}
	return Risk{Text: strings.Join(said, "; ")}
}
