package ignore

import "strings"

// A pattern is one compiled rule. Most are a name or an ending, which are
// compared as they are; the others are tokens.
type pattern struct {
	kind   kind
	text   string
	tokens []token
}

type kind byte

const (
	whole  kind = iota // the path is the text
	ending             // the path ends in the text and has no slash
	tokens
)

// A token is a step of a pattern.
type token struct {
	op   op
	char byte
	set  *set
}

// tokenCost and setCost are what they take in memory, in bytes.
const (
	tokenCost = 16
	setCost   = 32
)

// A set is one of bytes.
type set [4]uint64

func (s *set) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *set) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

type op byte

const (
	opChar op = iota // that byte
	opAny            // any byte but a slash
	opSet            // a byte of the set
	opStar           // bytes without a slash, as many as there are
	opDirs           // nothing, or anything that ends in a slash
	opTail           // all that is left
)

// compile reads a pattern; ok is false for one that matches nothing. As in
// git, characters are bytes.
func compile(text string) (p pattern, ok bool) {
	const special = `*?[\`
	if !strings.ContainsAny(text, special) {
		return pattern{kind: whole, text: text}, true
	}
	if rest := text[1:]; text[0] == '*' && !strings.ContainsAny(rest, special+"/") {
		return pattern{kind: ending, text: rest}, true
	}
	p.kind = tokens
	for i := 0; i < len(text); {
		t, size := next(text, i)
		if size == 0 {
			return pattern{}, false
		}
		i += size
		p.tokens = append(p.tokens, t)
	}
	return p, true
}

// cost is what the tokens take in memory, in bytes.
func (p *pattern) cost() int {
	cost := tokenCost * len(p.tokens)
	for _, t := range p.tokens {
		if t.set != nil {
			cost += setCost
		}
	}
	return cost
}

// next reads the token at text[i:]. Its size is 0 where there is none, as at a
// bracket that is not closed.
func next(text string, i int) (token, int) {
	switch text[i] {
	case '*':
		return stars(text, i)
	case '?':
		return token{op: opAny}, 1
	case '[':
		return class(text[i:])
	case '\\':
		if i+1 == len(text) {
			return token{}, 0
		}
		return token{op: opChar, char: text[i+1]}, 2
	default:
		return token{op: opChar, char: text[i]}, 1
	}
}

// stars reads one asterisk or more. Two and more cross folders where they
// stand for whole names, and are like one elsewhere.
func stars(text string, i int) (token, int) {
	end := i
	for end < len(text) && text[end] == '*' {
		end++
	}
	begins := i == 0 || text[i-1] == '/'
	switch {
	case end-i > 1 && begins && end == len(text):
		return token{op: opTail}, end - i
	case end-i > 1 && begins && text[end] == '/':
		return token{op: opDirs}, end - i + 1
	default:
		return token{op: opStar}, end - i
	}
}

// class reads a set in brackets.
func class(text string) (token, int) {
	var members set
	i, negated := 1, false
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(text) {
			return token{}, 0
		}
		if text[i] == ']' && !first {
			break
		}
		size := member(&members, text[i:])
		if size == 0 {
			return token{}, 0
		}
		i += size
	}
	if negated {
		for i := range members {
			members[i] = ^members[i]
		}
	}
	members['/'>>6] &^= 1 << ('/' & 63)
	return token{op: opSet, set: &members}, i + 1
}

// member adds what one member of a set in brackets stands for, and gives its
// size, 0 for a broken one.
func member(into *set, text string) int {
	if strings.HasPrefix(text, "[:") {
		if name, _, closed := strings.Cut(text[2:], ":]"); closed {
			return named(into, name)
		}
	}
	low, size := setChar(text)
	if size == 0 {
		return 0
	}
	high := low
	if rest := text[size:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
		var more int
		if high, more = setChar(rest[1:]); more == 0 {
			return 0
		}
		size += 1 + more
	}
	into.add(low) // in git it counts where the range is none, as in [z-a]
	for c := int(low); c <= int(high); c++ {
		into.add(byte(c))
	}
	return size
}

func setChar(text string) (byte, int) {
	if text[0] != '\\' {
		return text[0], 1
	}
	if len(text) < 2 {
		return 0, 0
	}
	return text[1], 2
}

// named adds the characters of a named class, and gives the size of its
// spelling, 0 for an unknown one.
func named(into *set, name string) int {
	lower := func(c byte) bool { return 'a' <= c && c <= 'z' }
	upper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	alpha := func(c byte) bool { return lower(c) || upper(c) }
	graph := func(c byte) bool { return '!' <= c && c <= '~' }
	is, known := map[string]func(byte) bool{
		"alpha": alpha, "digit": digit, "lower": lower, "upper": upper, "graph": graph,
		"alnum":  func(c byte) bool { return alpha(c) || digit(c) },
		"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
		"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
		"print":  func(c byte) bool { return c == ' ' || graph(c) },
		"punct":  func(c byte) bool { return graph(c) && !alpha(c) && !digit(c) },
		"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
		"xdigit": func(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
	}[name]
	if !known {
		return 0
	}
	for c := range 256 {
		if is(byte(c)) {
			into.add(byte(c))
		}
	}
	return len("[:") + len(name) + len(":]")
}

// match tells whether a path matches. It takes time of the order of the
// pattern's length times the path's, whatever they hold.
func (p *pattern) match(path string) bool {
	switch p.kind {
	case whole:
		return path == p.text
	case ending:
		return strings.HasSuffix(path, p.text) && !strings.Contains(path, "/")
	default:
		return p.run(path)
	}
}

// run keeps the set of tokens that may come next, and takes the path byte by
// byte. The set has one place more, for the end of the pattern.
func (p *pattern) run(path string) bool {
	n := len(p.tokens)
	both := make([]bool, 2*(n+1))
	now, then := both[:n+1], both[n+1:]
	p.add(now, 0)
	for i := range len(path) {
		clear(then)
		for at, t := range p.tokens {
			if now[at] {
				p.step(then, at, t, path[i])
			}
		}
		now, then = then, now
	}
	return now[n]
}

// step takes one byte at a token.
func (p *pattern) step(then []bool, at int, t token, c byte) {
	switch t.op {
	case opChar:
		if c == t.char {
			p.add(then, at+1)
		}
	case opAny:
		if c != '/' {
			p.add(then, at+1)
		}
	case opSet:
		if t.set.has(c) {
			p.add(then, at+1)
		}
	case opStar:
		if c != '/' {
			p.add(then, at)
		}
	case opDirs:
		then[at] = true
		if c == '/' {
			p.add(then, at+1)
		}
	case opTail:
		p.add(then, at)
	}
}

// add puts a token in the set, and those after it that need nothing before
// them. What follows opDirs comes with it only when the set begins there,
// which is before the first byte or after the slash before it.
func (p *pattern) add(set []bool, at int) {
	for {
		set[at] = true
		if at == len(p.tokens) {
			return
		}
		switch p.tokens[at].op {
		case opStar, opDirs, opTail:
			at++
		default:
			return
		}
	}
}
