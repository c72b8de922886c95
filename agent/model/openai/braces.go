package openai

// braces tell, piece by piece, where one JSON object ends, so that arguments are
// not parsed from their beginning with each of thousands of pieces.
type braces struct {
	depth            int
	inText, escaping bool
	// closed says that the first object has ended and nothing but white space
	// came after it. Whether it is well-formed is another question.
	closed, over bool
}

// add takes up a piece.
func (b *braces) add(piece string) {
	for _, c := range []byte(piece) {
		switch {
		case b.over:
			return
		case b.escaping:
			b.escaping = false
		case b.inText:
			b.escaping, b.inText = c == '\\', c != '"'
		case c == ' ', c == '\t', c == '\r', c == '\n':
		case b.closed:
			b.closed, b.over = false, true
		case c == '"':
			b.inText = true
		case c == '{':
			b.depth++
		case c == '}':
			b.depth--
			b.closed = b.depth == 0
		}
	}
}
