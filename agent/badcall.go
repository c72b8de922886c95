package agent

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

const (
	// maxBad is the number of answers in a row, each with a call that the
	// model's server could not read, that end a run.
	maxBad = 3
	// maxShown bounds what the model is shown of such a call, in bytes.
	maxShown = 2048
)

// takeBadCall deals with an answer that the model's server kept back, because it
// could not read the call in it. The model is told, as of any other call that
// is wrong: asked the same again it would often write the same.
func (r *run) takeBadCall(refused error) (Stop, error) {
	var e *model.Error
	if !errors.As(refused, &e) {
		return "", refused
	}
	if r.bad++; r.bad >= maxBad {
		return r.stuck(fmt.Sprintf("the model's server could not read a call in the last %d answers: %s", r.bad, cleanText(e.Message)))
	}
	return "", r.tell(trajectory.NoticeBadCall, r.badCallText(e.Call))
}

// badCallText tells the model what was wrong with its call. Its first line says
// it all; what it wrote and what would be right come after.
func (r *run) badCallText(call model.RefusedCall) string {
	problem, written := cleanText(call.Problem), cleanText(call.Written)
	lines := []string{"The call in your last answer could not be read, so nothing of that answer was taken and nothing was run."}
	if problem != "" {
		lines[0] += " The server says: " + problem
	}
	if strings.TrimSpace(written) != "" {
		lines = append(lines, "You wrote: "+clip(written, maxShown))
	}
	lines = append(lines, r.rightCall(problem+"\n"+written), "Make the call again in the right form, or say what is in the way.")
	return strings.Join(lines, "\n")
}

// rightCall says what a call of the tool that is named has to be.
func (r *run) rightCall(said string) string {
	name := namedTool(said)
	var names []string
	for _, tool := range r.offered {
		if tool.Name == name {
			return fmt.Sprintf("The arguments of %s must be one JSON object of this schema: %s", tool.Name, tool.Schema)
		}
		names = append(names, tool.Name)
	}
	text := "The tools are: " + strings.Join(names, ", ")
	if name != "" {
		text = fmt.Sprintf("There is no tool %q. %s", name, text)
	}
	return text
}

// namedTool is the tool that a call is of, by what the server says of it or by
// one of the forms in which models write calls; "" is not known.
func namedTool(said string) string {
	for _, pattern := range []string{
		`call tool '([\w.-]+)' which was not`,
		`parameters for tool ([\w.-]+) did not`,
		`<function=([\w.-]+)`,
		`"name"\s*:\s*"([\w.-]+)"`,
		`\bcall:([\w.-]+)\{`,
	} {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(said); found != nil {
			return found[1]
		}
	}
	return ""
}
