package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belljar/belljar/tools"
)

// handle answers calls of a tool that take a share of their session's turns.
// Whatever can be said to the model is a result: clients show errors of the
// protocol to nobody, or end the session.
func (s *Server) handle(share int64) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		session, err := s.session(req.Session)
		if err != nil {
			return nil, err
		}
		leave, err := session.enter(len(req.Params.Arguments))
		if err != nil {
			return answer(tools.Error(fmt.Sprintf("not run: %v; make the call again when others have ended", err))), nil
		}
		defer leave()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(session.life, cancel)()
		call := Call{Name: req.Params.Name, Arguments: req.Params.Arguments}
		if token := req.Params.GetProgressToken(); token != nil {
			p := newProgress(waitingText)
			call.Output = p
			defer p.report(ctx, func(seconds float64, message string) {
				// Whoever does not take it is told the result all the same.
				_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: token, Progress: seconds, Message: message,
				})
			})()
		}
		result, err := session.run(ctx, call, share)
		if err != nil {
			return nil, err
		}
		return answer(result), nil
	}
}

// run runs a call in the session's host when it is its turn. The error is that
// nobody waits any more.
func (s *session) run(ctx context.Context, call Call, share int64) (tools.Result, error) {
	end, err := s.turn(ctx, share)
	if err != nil {
		return tools.Result{}, err
	}
	defer end()
	call.does(startingText)
	host, err := s.ready(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return tools.Result{}, err
	case err != nil:
		return tools.Error(fmt.Sprintf("not run: the sandbox could not be started: %v\n"+
			"the user has to put that right; then the same call can be made again", err)), nil
	}
	call.does(call.Name + " runs")
	result, err := host.host.Call(ctx, call)
	switch {
	case err != nil && ctx.Err() != nil:
		return tools.Result{}, context.Cause(ctx)
	case err != nil:
		s.replace(host)
		return tools.Error(fmt.Sprintf("failed: the sandbox broke while this call ran, and it is not known what it did: %v\n"+
			"the next call gets a new sandbox over the same workspace; processes, jobs and files outside the workspace are gone", err)), nil
	}
	return result, nil
}

// does tells whoever watches the call what it does now.
func (c Call) does(what string) {
	if p, ok := c.Output.(*progress); ok {
		p.begin(what)
	}
}
