// Package ui is what a person sees of belljar on a terminal or in a log.
//
// Everything that a model, a tool or a command wrote is untrusted here: it is
// put through [Sanitize] or a [Sanitizer] before it reaches the screen, so
// that it can neither move the cursor, nor set a title, nor hide a line. Only
// this package adds escape sequences, and only where [Detect] found a
// terminal that takes them.
//
// A [Renderer] shows the events of a run, live or read back from the record.
package ui
