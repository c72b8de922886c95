package trajectory

import _ "embed" // the schema is part of the binary

//go:embed schema.json
var schemaText string

// Schema returns the JSON Schema of one line of a record.
func Schema() []byte { return []byte(schemaText) }
