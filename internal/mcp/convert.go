package mcp

import (
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belljar/belljar/tools"
)

// The keys under which a result tells how a command ended. They are not its
// structured content: clients that find some show it to the model in place of the
// text, and the output would be lost.
const (
	metaStatus   = "belljar/status"
	metaExitCode = "belljar/exit_code"
)

// describe is a tool as clients are told of it. What a call may do are hints, by
// which clients decide whether they ask their user.
func describe(def tools.Definition, openWorld bool) *sdk.Tool {
	open := openWorld && def.Effect == tools.Execute
	hints := &sdk.ToolAnnotations{ReadOnlyHint: def.Effect == tools.Read, OpenWorldHint: &open}
	if def.Effect != tools.Read {
		destructive := true
		hints.DestructiveHint = &destructive
	}
	return &sdk.Tool{Name: def.Name, Description: def.Description, InputSchema: def.Schema, Annotations: hints}
}

// answer is a result as clients get it.
func answer(result tools.Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: result.IsError, Content: []sdk.Content{}}
	for _, part := range result.Parts {
		if part.MediaType != "" {
			out.Content = append(out.Content, &sdk.ImageContent{MIMEType: part.MediaType, Data: part.Data})
			continue
		}
		out.Content = append(out.Content, &sdk.TextContent{Text: strings.ToValidUTF8(part.Text, string(unicode.ReplacementChar))})
	}
	if result.Status != "" {
		out.Meta = sdk.Meta{metaStatus: result.Status}
		if result.ExitCode != nil {
			out.Meta[metaExitCode] = *result.ExitCode
		}
	}
	return out
}
