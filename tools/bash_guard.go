package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/belljar/belljar/internal/guard"
	"github.com/belljar/belljar/sandbox"
)

var _ Assessor = (*bash)(nil)

// Assess looks at the script of a call, as it would run in the directory that the
// last command ended in. It is a guard against slips.
func (b *bash) Assess(ctx context.Context, args json.RawMessage) Risk {
	var in bashArguments
	if decode(args, &in) != nil {
		return Risk{}
	}
	finding, ok, err := guard.Check(ctx, in.Command, b.place())
	switch {
	case err != nil:
		return unassessed(err)
	case !ok:
		return Risk{}
	}
	text := finding.Text
	if finding.Line > 1 {
		text = fmt.Sprintf("line %d: %s", finding.Line, text)
	}
	return Risk{Text: text, Hint: finding.Hint, Slip: true}
}

// rootHome is where the home folder of root is in images.
const rootHome = "/root"

// place is where the next command runs. While one runs its directory is not known.
func (b *bash) place() guard.Place {
	info := b.sandbox.Info()
	p := guard.Place{Workspace: info.MountPoint, Home: sandbox.HomePoint, Env: info.Env, Mask: b.opts.Mask}
	if p.Workspace == "" {
		p.Workspace = sandbox.MountPoint
	}
	if info.Profile == sandbox.ProfileDev {
		p.Home = rootHome
	}
	select {
	case here := <-b.turn:
		p.Dir = here.dir
		b.turn <- here
	default:
	}
	return p
}
