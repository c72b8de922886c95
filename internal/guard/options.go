package guard

import "strings"

// An optionSyntax tells how a program reads its options: the letters, with a colon
// behind those that take a value, and the long names, with "=" behind those.
type optionSyntax struct {
	short, long string
	// mixed: options may come after operands.
	mixed bool
}

// parsed is a command line as a program understands it.
type parsed struct {
	options  []option
	operands []text
}

// An option has a letter, or its long name in full.
type option struct {
	name  string
	value text
}

// has tells whether one of some options was given.
func (p parsed) has(names ...string) bool {
	_, ok := p.value(names...)
	return ok
}

// value is that of the last of some options.
func (p parsed) value(names ...string) (text, bool) {
	for i := len(p.options) - 1; i >= 0; i-- {
		for _, name := range names {
			if p.options[i].name == name {
				return p.options[i].value, true
			}
		}
	}
	return nil, false
}

// parse reads what follows a program's name.
func (s optionSyntax) parse(args []text) parsed {
	var p parsed
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg.is("--"):
			p.operands = append(p.operands, args...)
			return p
		case arg.hasPrefix("--"):
			args = s.longOption(&p, arg, args)
		case arg.hasPrefix("-") && len(arg) > 1:
			args = s.shortOptions(&p, arg[1:], args)
		case s.mixed:
			p.operands = append(p.operands, arg)
		default:
			p.operands = append(append(p.operands, arg), args...)
			return p
		}
	}
	return p
}

// longOption reads an option with a long name, which may be shortened to what
// no other begins with.
func (s optionSyntax) longOption(p *parsed, arg text, args []text) []text {
	name, set, hasValue := strings.Cut(string(arg[2:]), "=")
	o := option{name: name}
	if hasValue {
		o.value = arg[len(arg)-len([]rune(set)):]
	}
	var full string
	for known := range strings.FieldsSeq(s.long) {
		plain := strings.TrimSuffix(known, "=")
		if plain == name {
			full = known
			break
		}
		if strings.HasPrefix(plain, name) && full == "" {
			full = known
		}
	}
	if full != "" {
		o.name = strings.TrimSuffix(full, "=")
	}
	if strings.HasSuffix(full, "=") && !hasValue && len(args) > 0 {
		o.value, args = args[0], args[1:]
	}
	p.options = append(p.options, o)
	return args
}

// shortOptions reads letters that stand together.
func (s optionSyntax) shortOptions(p *parsed, letters text, args []text) []text {
	for i, letter := range letters {
		o := option{name: string(letter)}
		at := strings.IndexRune(s.short, letter)
		if at >= 0 && strings.HasPrefix(s.short[at+len(o.name):], ":") {
			if o.value = letters[i+1:]; len(o.value) == 0 && len(args) > 0 {
				o.value, args = args[0], args[1:]
			}
			p.options = append(p.options, o)
			return args
		}
		p.options = append(p.options, o)
	}
	return args
}
