// Package ignore matches names of files against ignore files as git does:
// .gitignore, and .ignore, which has the same form.
//
// A file of rules belongs to the folder that it lies in; names are matched
// relative to it. That nothing below an ignored folder can be taken back in is
// left to the caller, who does not go into it.
package ignore

import (
	"bytes"
	"strings"
)

const (
	// MaxFile is how many bytes of one file of rules count. Rules come from
	// an untrusted folder.
	MaxFile = 256 << 10
	// maxRule is the length of the longest rule in bytes; longer ones match
	// nothing.
	maxRule = 4096
)

// Rules are those of one file, in their order. They do not change, and a nil
// *Rules has none.
type Rules struct{ rules []rule }

// A rule is one line of a file.
type rule struct {
	negated bool // what matches is not ignored
	dirOnly bool
	base    bool // it is held against the last name alone
	pattern pattern
}

// Parse reads the rules of one file. Text after MaxFile bytes is passed over,
// and so are rules that can match nothing.
func Parse(text []byte) *Rules {
	text = bytes.TrimPrefix(text[:min(len(text), MaxFile)], []byte("\xef\xbb\xbf"))
	var r Rules
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if parsed, ok := parseRule(string(line)); ok {
			r.rules = append(r.rules, parsed)
		}
	}
	return &r
}

// Empty tells that there are no rules.
func (r *Rules) Empty() bool { return r == nil || len(r.rules) == 0 }

func parseRule(line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line = trimSpaces(line)
	var r rule
	if strings.HasPrefix(line, "!") {
		r.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly, line = true, line[:len(line)-1]
	}
	if line == "" || len(line) > maxRule {
		return rule{}, false
	}
	r.base = !strings.Contains(line, "/")
	var ok bool
	r.pattern, ok = compile(strings.TrimPrefix(line, "/"))
	return r, ok
}

// trimSpaces drops the spaces at the end of a line that no backslash keeps.
func trimSpaces(line string) string {
	kept := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		kept = min(i+1, len(line))
	}
	return line[:kept]
}

// Match holds a path, relative to the folder of the rules and with slashes,
// against the rules. The last that matches decides: ignored tells how, and
// decided that there was one.
func (r *Rules) Match(path string, isDir bool) (ignored, decided bool) {
	if r == nil {
		return false, false
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.rules) - 1; i >= 0; i-- {
		rule := &r.rules[i]
		if rule.dirOnly && !isDir {
			continue
		}
		name := path
		if rule.base {
			name = base
		}
		if rule.pattern.match(name) {
			return !rule.negated, true
		}
	}
	return false, false
}
