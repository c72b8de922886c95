package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belljar/belljar/internal/output"
)

// Bounds of a list of steps. It stays in the conversation for as long as a run
// goes on, so it has to be small beside what a model can take.
const (
	// MaxTodoItems is the most steps that a list has.
	MaxTodoItems = 50
	// MaxTodoBytes bounds the arguments of the call that writes it.
	MaxTodoBytes = 8000
)

// The statuses of a step.
const (
	todoPending    = "pending"
	todoInProgress = "in_progress"
	todoCompleted  = "completed"
)

type todo struct{ def Definition }

var _ Tool = (*todo)(nil)

// NewTodo makes the tool that a model writes its steps down with. It keeps
// nothing: the newest call that worked is the list, in the conversation and on
// record, and whoever shows the call shows the list.
func NewTodo() Tool {
	return &todo{def: Definition{
		Name: "todo",
		Description: describe("todo", map[string]string{
			"MostItems": fmt.Sprint(MaxTodoItems), "MostBytes": output.Count(MaxTodoBytes, "byte"),
		}),
		Schema: todoSchema(), Effect: Read, Standing: true,
	}}
}

func todoSchema() *jsonschema.Schema {
	s := object(1, field{"items", "array", "All steps, in order."})
	s.Properties["items"].Items = object(2,
		field{"content", "string", "What is to be done, in one line."},
		field{"status", "string", "pending, in_progress or completed."},
	)
	s.Properties["items"].Items.Properties["status"].Enum = []any{todoPending, todoInProgress, todoCompleted}
	return s
}

func (t *todo) Definition() Definition { return t.def }

// A todoItem is one step.
type todoItem struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

func (t *todo) Execute(_ context.Context, args json.RawMessage) (Result, error) {
	if len(args) > MaxTodoBytes {
		return Error(fmt.Sprintf("the list has %s, and may have %s: say each step in fewer words, or sum up those that are completed",
			output.Count(int64(len(args)), "byte"), output.Count(MaxTodoBytes, "byte"))), nil
	}
	var in struct {
		Items []todoItem `json:"items"`
	}
	if err := decode(args, &in); err != nil {
		return Error(err.Error()), nil
	}
	if problem := todoProblem(in.Items); problem != "" {
		return Error(problem), nil
	}
	return Text(todoText(in.Items)), nil
}

// todoProblem says what is wrong with a list, and nothing where it is right.
func todoProblem(items []todoItem) string {
	if len(items) > MaxTodoItems {
		return fmt.Sprintf("the list has %d steps, and may have %d: sum up those that belong together", len(items), MaxTodoItems)
	}
	current := -1
	for i, item := range items {
		switch {
		case strings.TrimSpace(item.Content) == "":
			return fmt.Sprintf("items[%d] says nothing: give its content, or leave it out", i)
		case item.Status != todoInProgress:
		case current >= 0:
			// Who does several things at once knows of none how far it is.
			return fmt.Sprintf("items[%d] and items[%d] are both in_progress: at most one may be; make the other one pending or completed", current, i)
		default:
			current = i
		}
	}
	return ""
}

// todoText says how far a list is. The model has just written the list itself.
func todoText(items []todoItem) string {
	if len(items) == 0 {
		return "the list is empty now"
	}
	completed, current := 0, ""
	for _, item := range items {
		switch item.Status {
		case todoCompleted:
			completed++
		case todoInProgress:
			current = "; in progress: " + strings.Join(strings.Fields(item.Content), " ")
		}
	}
	return fmt.Sprintf("%d of %d completed%s", completed, len(items), current)
}
