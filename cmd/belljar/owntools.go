package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/ui"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// addCustom adds the user's own tools to those of belljar.
func (j *job) addCustom(registry *tools.Registry) error {
	return j.config.register(registry, j.jar, j.opts.timeout, j.opts.maxTimeout)
}

// customTool makes one of the user's own tools.
func (j *job) customTool(c tools.Custom) (tools.Tool, error) {
	return newCustom(j.jar, c, j.opts.timeout, j.opts.maxTimeout)
}

// register adds the tools over a sandbox to a registry. The times are what the
// flags say of commands; 0 is nothing.
func (c config) register(registry *tools.Registry, sb sandbox.Sandbox, timeout, maxTimeout time.Duration) error {
	for _, own := range c.tools {
		tool, err := newCustom(sb, own, timeout, maxTimeout)
		if err == nil {
			err = registry.Register(tool)
		}
		if err != nil {
			return refusedf("the config %s: %w", c.file, err)
		}
	}
	return nil
}

// newCustom makes a user's tool over a sandbox.
func newCustom(sb sandbox.Sandbox, c tools.Custom, timeout, maxTimeout time.Duration) (tools.Tool, error) {
	if timeout == 0 && maxTimeout > 0 {
		timeout = min(tools.DefaultTimeout, maxTimeout)
	}
	return tools.NewCustom(sb, c, tools.CustomOptions{Timeout: timeout})
}

// names tells the user's own tools in one line.
func (c config) names() string {
	var names []string
	for _, tool := range c.tools {
		names = append(names, ownName(tool.Name, effectName(tool.Effect)))
	}
	return strings.Join(names, ", ")
}

// ownName is a tool with what a call may do.
func ownName(name, effect string) string { return name + " (" + effect + ")" }

// ownTools tells in one line which tools of a run were the user's own.
func ownTools(m trajectory.Manifest) string {
	var names []string
	for _, tool := range m.Tools {
		if tool.Definition != nil {
			names = append(names, ownName(tool.Name, tool.Effect))
		}
	}
	return strings.Join(names, ", ")
}

// recordTools writes down what the model is offered.
func (j *job) recordTools(defs []tools.Definition) error {
	manifest, err := j.session.Manifest()
	if err != nil {
		return err
	}
	own := make(map[string]json.RawMessage)
	for _, c := range j.config.tools {
		own[c.Name] = hidden(j.masker, c.Source)
	}
	for _, def := range defs {
		told, err := json.Marshal(struct{ Name, Description, Schema any }{def.Name, def.Description, def.Schema})
		if err != nil {
			return fmt.Errorf("recording the tool %s: %w", def.Name, err)
		}
		sum := sha256.Sum256(told)
		manifest.Tools = append(manifest.Tools, trajectory.Tool{
			Name: def.Name, Effect: effectName(def.Effect), SHA256: hex.EncodeToString(sum[:]), Definition: own[def.Name],
		})
	}
	return j.session.SetManifest(manifest)
}

// hidden is a definition without the secrets that are known. Where what is left
// is no JSON any more, as with a secret among the names of its fields, nothing of
// it is told.
func hidden(masker *trajectory.Masker, definition json.RawMessage) json.RawMessage {
	masked := json.RawMessage(masker.Mask(string(definition)))
	if !json.Valid(masked) {
		return json.RawMessage(`{}`)
	}
	return masked
}

// listTools prints the user's own tools. It needs no engine and no model.
func (a *app) listTools(opts *runOptions, args []string) error {
	if len(args) > 0 {
		return usagef("--list-tools runs nothing, but the task %q was given", args[0])
	}
	if opts.file != "" {
		return usagef("--list-tools runs nothing, but the file %s with a task was given", opts.file)
	}
	spec, err := a.placeToLook(&opts.sandboxFlags)
	if err != nil {
		return err
	}
	c, err := a.readConfig(opts.config, &spec)
	if err != nil {
		return err
	}
	if len(c.tools) == 0 {
		file, _ := a.configFile(opts.config)
		a.notice("you have no tools of your own (config: %s)", cmp.Or(file, noConfig))
		return nil
	}
	rows := [][]string{{"NAME", "EFFECT", "OUTPUT", "COMMAND", "DESCRIPTION"}}
	for _, tool := range c.tools {
		if opts.json {
			if err := writeJSON(a.out(), tool.Source); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{tool.Name, effectName(tool.Effect), outputName(tool), ui.Line(ownCommand(tool)), ui.Line(firstLine(tool.Description))})
	}
	if opts.json {
		return nil
	}
	return ui.Table(a.out(), a.tableWidth(), rows)
}

// placeToLook is place for who runs nothing: a folder that is refused, such as the
// home folder, keeps nobody from looking. A run there would be refused itself.
func (a *app) placeToLook(f *sandboxFlags) (sandbox.Spec, error) {
	if _, err := workspace.Check(f.workspace, f.force); err != nil {
		mounts, err := f.mountList()
		return sandbox.Spec{Mounts: mounts}, err
	}
	return a.place(f)
}

// outputName is what a tool's stdout is, as a config says it.
func outputName(tool tools.Custom) string {
	if tool.Rich {
		return "json"
	}
	return "text"
}

// ownCommand shows a tool's command in one line.
func ownCommand(tool tools.Custom) string {
	return firstLine(cmp.Or(tool.Script, strings.Join(tool.Args, " ")))
}
