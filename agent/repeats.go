package agent

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/tools"
)

const (
	// longestCycle is the number of calls in the longest cycle that is looked
	// for: what a model asks for at once, or goes through in turn.
	longestCycle = 20
	// roundsToTell is the number of times that a cycle is gone through before
	// the model is told. Two may be a second look, three are none.
	roundsToTell = 3
	// roundsToStop is the number after which the run stops, if the model was
	// told of the cycle before.
	roundsToStop = 6
	// failuresToTell is the number of answers in a row, all of whose calls
	// failed, after which the model is told. Each call may be another one.
	failuresToTell = 5
	// failuresToStop is the number after which the run stops.
	failuresToStop = 10
)

// repeats finds a model that goes round in circles: calls that come again in
// the same order with the same results, one call or a cycle of several. A call
// whose result changes, be it why it failed, is not counted, for that is a
// model waiting for something. It also finds one whose calls all fail, in
// whatever ways: a command that was ended, for its time or a limit, has failed,
// and one that ended by itself has not, whatever its exit code. A call that only
// says what stands, as a list of steps, has not got anywhere by that. The zero
// value is ready.
type repeats struct {
	recent [longestCycle]string // the last calls, the call n at n modulo the length
	calls  int
	// same holds, for each length of a cycle, how many calls in a row were
	// equal to the one so many calls before.
	same [longestCycle + 1]int
	told int // the length of the cycle that the model was told of; 0 is none

	failures     int // answers in a row all of whose calls failed
	toldFailures bool
	// worked and failed tell of the answer that is being taken that a call of it
	// did.
	worked, failed bool
}

// A circle is what a model goes round in.
type circle struct {
	stop   bool   // it was told before, and goes on
	notice string // for the model, where it is to be told
	reason string // for the record, where the run stops
}

// add takes the next call in a form in which equal calls with equal results
// are equal, and whether it worked or failed. What did neither tells nothing.
func (r *repeats) add(callAndResult string, worked, failed bool) {
	for length := 1; length <= longestCycle; length++ {
		// The one so many calls before; it is there once that many have been.
		if r.calls >= length && r.recent[(r.calls-length)%longestCycle] == callAndResult {
			r.same[length]++
		} else {
			r.same[length] = 0
		}
	}
	r.recent[r.calls%longestCycle] = callAndResult
	r.calls++
	r.worked, r.failed = r.worked || worked, r.failed || failed
	if r.told > 0 && r.same[r.told] == 0 {
		r.told = 0
	}
}

// rounds is how often a cycle of the length has just been gone through.
func (r *repeats) rounds(length int) int { return (r.same[length] + length) / length }

// turn is called when the calls of an answer have all been added. It reports
// whether the model goes round in circles and is to be told, or stopped.
func (r *repeats) turn() (circle, bool) {
	switch {
	case r.worked:
		r.failures, r.toldFailures = 0, false
	case r.failed:
		r.failures++
	}
	r.worked, r.failed = false, false
	switch {
	case r.told > 0 && r.rounds(r.told) >= roundsToStop:
		return circle{stop: true, reason: r.reason()}, true
	case r.failures >= failuresToStop && r.toldFailures:
		return circle{stop: true, reason: fmt.Sprintf("all calls of the last %d answers failed, though the model was told", r.failures)}, true
	case r.told > 0:
		return circle{}, false // told of, and given a chance
	}
	for length := 1; length <= longestCycle; length++ {
		if r.rounds(length) >= roundsToTell {
			r.told = length
			return circle{notice: r.text()}, true
		}
	}
	if r.failures >= failuresToTell && !r.toldFailures {
		r.toldFailures = true
		return circle{notice: fmt.Sprintf("All calls of your last %d answers failed. "+
			"Read what their results say and try another way, or say what is in the way.", r.failures)}, true
	}
	return circle{}, false
}

// text tells the model of the cycle.
func (r *repeats) text() string {
	if r.told == 1 {
		return fmt.Sprintf("The last %d calls were the same and had the same result. "+
			"Doing it again will not help: try another way, or say what is in the way.", r.rounds(1))
	}
	return fmt.Sprintf("The same %d calls have come %d times in a row, with the same results. "+
		"Doing them again will not help: try another way, or say what is in the way.", r.told, r.rounds(r.told))
}

// reason says why the run stops.
func (r *repeats) reason() string {
	if r.told == 1 {
		return fmt.Sprintf("the last %d calls were the same and had the same result, though the model was told", r.rounds(1))
	}
	return fmt.Sprintf("the same %d calls came %d times in a row with the same results, though the model was told", r.told, r.rounds(r.told))
}

// lasting is what a result has to have again to be the same: the parts that the
// model saw, or what the tool says of them where they hold more.
func lasting(result tools.Result, parts []model.Part) []model.Part {
	if result.Lasting == "" {
		return parts
	}
	return []model.Part{{Text: result.Lasting}}
}

// digest stands for a call and its result; equal ones have equal digests. A
// result may hold megabytes.
func digest(call model.ToolCall, status string, parts []model.Part) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", call.Name, canonical(call.Arguments), status)
	for _, p := range parts {
		fmt.Fprintf(h, "%q %q %d ", p.Text, p.MediaType, len(p.Data))
		h.Write(p.Data)
	}
	return string(h.Sum(nil))
}

// canonical is a call's arguments without what means nothing in JSON: white
// space and the order of fields. What is no JSON stays as it is.
func canonical(arguments string) string {
	if !json.Valid([]byte(arguments)) {
		return arguments
	}
	var value any
	dec := json.NewDecoder(strings.NewReader(arguments))
	dec.UseNumber() // large numbers would become equal otherwise
	if dec.Decode(&value) != nil {
		return arguments
	}
	text, err := json.Marshal(value)
	if err != nil {
		return arguments
	}
	return string(text)
}
