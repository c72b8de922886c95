package trajectory

// Nested is an event of a sub-agent: its body, with the call of the agent that
// it works for. In a record it is the body's own line with a "parent". Who does
// not ask for it by this type passes it over, so that what a sub-agent said and
// did is not taken for the run's own.
type Nested struct {
	// Parent is the id of the call.
	Parent string `json:"parent"`
	Body   Body   `json:"-"` // never nil, and not nested itself
}

func (n Nested) eventType() string { return n.Body.eventType() }

// Unnest returns the body of an event, and the call that it is below; "" is none.
func Unnest(body Body) (inner Body, parent string) {
	if n, is := body.(Nested); is {
		return n.Body, n.Parent
	}
	return body, ""
}

// Nest returns a Recorder that puts each event below a call and hands it on.
func Nest(parent string, next Recorder) Recorder { return nest{parent, next} }

type nest struct {
	parent string
	next   Recorder
}

var _ Recorder = nest{}

func (n nest) Record(body Body) error { return n.next.Record(Nested{Parent: n.parent, Body: body}) }
