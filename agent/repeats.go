package agent

const (
	// repeatsToTell is the number of equal calls with equal results in a row
	// after which the model is told.
	repeatsToTell = 3
	// repeatsToStop is the number after which the run stops, if the model was
	// told before.
	repeatsToStop = 6
)

// repeats counts equal calls with equal results in a row. A call whose result
// changes is not counted: that is a model waiting for something.
type repeats struct {
	last  string
	count int
	told  bool
}

// add takes the next call with its result, in a form in which equal ones are
// equal.
func (r *repeats) add(callAndResult string) {
	if callAndResult != r.last {
		*r = repeats{last: callAndResult}
	}
	r.count++
}
