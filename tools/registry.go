package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Streamer is a Tool whose calls give raw output as they go, more than the
// result shows: for a record, or to watch.
type Streamer interface {
	Tool
	// ExecuteTo is Execute with out taking the raw output, which may be cut at
	// the tool's own bound. out is used by one goroutine at a time and not
	// after the return. When it fails the call is ended and the error
	// returned. Where out is a Keeper it may be closed.
	ExecuteTo(ctx context.Context, args json.RawMessage, out io.Writer) (Result, error)
}

// A Registry is a set of tools, looked up by name. The zero value is empty and
// ready. It is safe for concurrent use.
type Registry struct {
	mu     sync.RWMutex
	order  []*entry
	byName map[string]*entry
}

type entry struct {
	tool   Tool
	def    Definition
	schema *jsonschema.Resolved
}

// validName tells what every provider takes as the name of a function. The
// expression for it would be the dearest part of this package's start.
func validName(name string) bool {
	const letters, others = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789_-"
	return 0 < len(name) && len(name) <= 64 && strings.Trim(name, letters+others) == ""
}

// Register adds a tool. A name that is taken or that a provider would not
// take, and a schema that is not a sound one of an object, are errors.
func (r *Registry) Register(tool Tool) error {
	def := tool.Definition()
	if !validName(def.Name) {
		return fmt.Errorf("registering tool %q: a name has 1 to 64 letters, digits, underscores and hyphens", def.Name)
	}
	if def.Schema == nil || def.Schema.Type != "object" {
		return fmt.Errorf("registering tool %q: its schema is not that of an object", def.Name)
	}
	resolved, err := def.Schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("registering tool %q: %w", def.Name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.byName[def.Name]; taken {
		return fmt.Errorf("registering tool %q: there is already a tool of that name", def.Name)
	}
	e := &entry{tool: tool, def: def, schema: resolved}
	if r.byName == nil {
		r.byName = make(map[string]*entry)
	}
	r.byName[def.Name] = e
	r.order = append(r.order, e)
	return nil
}

// Definitions describes the tools in the order of their registration.
func (r *Registry) Definitions() []Definition {
	r.mu.RLock()
	defer r.mu.RUnlock()
	defs := make([]Definition, len(r.order))
	for i, e := range r.order {
		defs[i] = e.def
	}
	return defs
}

// Effect tells what a call of the named tool may do, and whether there is such
// a tool.
func (r *Registry) Effect(name string) (Effect, bool) {
	e := r.lookup(name)
	if e == nil {
		return 0, false
	}
	return e.def.Effect, true
}

func (r *Registry) lookup(name string) *entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byName[name]
}

// Execute runs one call with the arguments as the model sent them. An unknown
// name and arguments that do not fit the tool's schema are answered to the
// model. So is a panic of the tool: one broken tool does not take down the run,
// and the answer, which names the panic, is in the record.
func (r *Registry) Execute(ctx context.Context, name string, args json.RawMessage) (Result, error) {
	return r.ExecuteTo(ctx, name, args, nil)
}

// ExecuteTo is Execute with out, unless it is nil, taking the raw output of a
// tool that is a [Streamer].
func (r *Registry) ExecuteTo(ctx context.Context, name string, args json.RawMessage, out io.Writer) (res Result, err error) {
	e := r.lookup(name)
	if e == nil {
		return r.unknown(name), nil
	}
	args, problem := checkArguments(e, args)
	if problem != "" {
		return Error(problem), nil
	}
	defer func() {
		if v := recover(); v != nil {
			res = Error(fmt.Sprintf("the tool %s broke down (%v): this is a fault of belljar and not of the call; try another way", name, v))
			err = nil
		}
	}()
	if s, ok := e.tool.(Streamer); ok && out != nil {
		return s.ExecuteTo(ctx, args, out)
	}
	return e.tool.Execute(ctx, args)
}

func (r *Registry) unknown(name string) Result {
	var names []string
	for _, def := range r.Definitions() {
		names = append(names, def.Name)
	}
	if len(names) == 0 {
		return Error(fmt.Sprintf("there is no tool %q; there are no tools", name))
	}
	return Error(fmt.Sprintf("there is no tool %q; the tools are: %s", name, strings.Join(names, ", ")))
}

// decode reads arguments that have been checked against the schema.
func decode(args json.RawMessage, into any) error {
	if err := json.Unmarshal(args, into); err != nil {
		return errors.New("the arguments do not have the shape of the schema: " + err.Error())
	}
	return nil
}
