package tools

import (
	"embed"
	"strings"
	"text/template"
)

// descriptions are what models are told about the tools, one file each. The
// limits in them are filled in from the constants that the code goes by.
//
//go:embed *.md
var descriptions embed.FS

// describe fills the description of the named tool. A description that cannot
// be filled is a mistake in the program and panics.
func describe(name string, data any) string {
	t := template.Must(template.New(name+".md").Option("missingkey=error").ParseFS(descriptions, name+".md"))
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
