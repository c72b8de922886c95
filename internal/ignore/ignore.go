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
	// maxRule is the length of the longest rule in bytes, and maxTokens how many
	// steps the longest pattern has: the time to hold a name against it grows
	// with them.
	maxRule   = 4096
	maxTokens = 512
	// ruleCost is what a rule takes in memory beside its text and its tokens,
	// in bytes and rounded up.
	ruleCost = 128
)

// Rules are those of one file, in their order. They do not change, and a nil
// *Rules has none.
type Rules struct {
	rules []rule
	cost  int
	cut   bool
}

// A rule is one line of a file.
type rule struct {
	negated bool // what matches is not ignored
	dirOnly bool
	base    bool // it is held against the last name alone
	pattern pattern
}

// Parse reads the rules of one file, as many as fit in so many bytes of memory.
// Text after MaxFile bytes is passed over, the line that it cuts included, and
// so are rules that are too long, or that can match nothing.
func Parse(text []byte, room int) *Rules {
	var r Rules
	if len(text) > MaxFile {
		r.cut = true
		text = text[:bytes.LastIndexByte(text[:MaxFile], '\n')+1]
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > maxRule {
			r.cut = true
			continue
		}
		parsed, ok := parseRule(string(line))
		if !ok {
			continue
		}
		cost := ruleCost + len(line) + parsed.pattern.cost()
		if len(parsed.pattern.tokens) > maxTokens {
			r.cut = true
			continue
		}
		if r.cost+cost > room {
			r.cut = true
			break
		}
		r.cost += cost
		r.rules = append(r.rules, parsed)
	}
	return &r
}

// Empty tells that there are no rules.
func (r *Rules) Empty() bool { return r == nil || len(r.rules) == 0 }

// Cost is what the rules take in memory, in bytes.
func (r *Rules) Cost() int {
	if r == nil {
		return 0
	}
	return r.cost
}

// Cut tells that rules were passed over because of their length or number.
func (r *Rules) Cut() bool { return r != nil && r.cut }

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
	if line == "" {
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
// decided that there was one. stop is asked at each rule that takes time, and
// ends the call undecided when it says so; nil never does.
func (r *Rules) Match(path string, isDir bool, stop func() bool) (ignored, decided bool) {
	if r == nil {
		return false, false
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.rules) - 1; i >= 0; i-- {
		rule := &r.rules[i]
		if rule.dirOnly && !isDir {
			continue
		}
		if rule.pattern.kind == tokens && stop != nil && stop() {
			return false, false
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
