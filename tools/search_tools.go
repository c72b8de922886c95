package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/search"
	"github.com/belljar/belljar/internal/workspace"
)

// SearchTime is the time that one call of glob or grep is given. What it has
// found until then is the answer, which says so.
const SearchTime = 20 * time.Second

// searchFailure answers what kept a search from beginning.
func searchFailure(ctx context.Context, w *workspace.Workspace, path string, err error) (Result, error) {
	var pattern *search.PatternError
	var refused *workspace.Refusal
	switch {
	case errors.As(err, &pattern):
		return Error(err.Error()), nil
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &refused):
		return Error(err.Error() + similar(ctx, w, refused.Path)), nil
	default:
		return refusal(err)
	}
}

// leftOut says what a walk has not looked at, for a model that may want it.
// nothing tells that the search came back empty.
func leftOut(walked search.Walked, nothing bool) []string {
	var notes []string
	if walked.Stopped {
		notes = append(notes, fmt.Sprintf("the search was stopped after %s, so this is a part of it only: search a smaller folder", seconds(SearchTime)+" s"))
	}
	if nothing && walked.Ignored > 0 {
		notes = append(notes, output.Count(walked.Ignored, "name")+" left out by .gitignore or .ignore; set ignored to look there, too")
	}
	if walked.RulesCut > 0 {
		notes = append(notes, output.Count(walked.RulesCut, "ignore file")+" too large: a part of the rules was passed over")
	}
	if walked.Unreadable > 0 {
		notes = append(notes, output.Count(walked.Unreadable, "name")+" could not be read")
	}
	if walked.Starved > 0 {
		notes = append(notes, output.Count(walked.Starved, "name")+" could not be opened, since too many files are open at once: search a smaller folder")
	}
	if walked.Deep > 0 {
		notes = append(notes, fmt.Sprintf("what is more than %d folders deep was left out", search.MaxDepth))
	}
	if walked.Large > 0 {
		notes = append(notes, fmt.Sprintf("of folders with more than %s the rest was left out", output.Count(search.MaxNames, "name")))
	}
	return notes
}

// noted puts notes in brackets after a text.
func noted(text string, notes []string) Result {
	if len(notes) > 0 {
		text += "[" + strings.Join(notes, "]\n[") + "]\n"
	}
	return Text(text)
}

// bounded is a number from a call: the default where it is not there, and no
// more than the largest.
func bounded(asked float64, usual, largest int) (n int, note string) {
	switch {
	case asked < 1:
		return usual, ""
	case asked > float64(largest):
		return largest, fmt.Sprintf("limit was more than the largest, %d", largest)
	default:
		return int(asked), ""
	}
}

// timed gives a search its time.
func timed(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, SearchTime)
}
