package mcp_test

import (
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The end of a client waits for the close of a host that broke before.
func TestEndWaitsForTheCloseOfABrokenHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &starter{slow: time.Minute}
		client, hangUp, ended := connect(t, t.Context(), options(s), nil)
		call(t, client, "say", "1")
		go client.CallTool(t.Context(), &sdk.CallToolParams{Name: "run", Arguments: map[string]any{"do": "break", "text": "engine died"}})
		synctest.Wait() // the host is being closed
		hangUp()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		select {
		case <-s.last().closed:
		default:
			t.Error("the host that broke is not closed at the end")
		}
	})
}
