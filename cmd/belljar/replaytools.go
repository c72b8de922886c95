package main

import (
	"bytes"
	"encoding/json"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// subAgentTool is the name of the tool that starts sub-agents, which have none.
const subAgentTool = "agent"

// replayTools makes the tools that an agent of the run had, by the same names
// and in the same order, which the answer to a wrong name tells. lacking are those
// that cannot be had now.
func (j *job) replayTools(m trajectory.Manifest, parent string, jobs *tools.Jobs) (registry *tools.Registry, lacking map[string]bool, err error) {
	list, err := j.toolList(jobs)
	if err != nil {
		return nil, nil, err
	}
	builtin := make(map[string]tools.Tool)
	offered := m.Tools
	for _, tool := range list {
		name := tool.Definition().Name
		builtin[name] = tool
		if len(m.Tools) == 0 { // a record of an earlier belljar
			offered = append(offered, trajectory.Tool{Name: name})
		}
	}
	if len(m.Tools) == 0 {
		offered = append(offered, trajectory.Tool{Name: subAgentTool})
	}
	registry, lacking = new(tools.Registry), make(map[string]bool)
	for _, then := range offered {
		if parent != "" && then.Name == subAgentTool {
			continue
		}
		tool := builtin[then.Name]
		if then.Definition != nil {
			tool = j.recordedTool(then.Definition)
		}
		if tool == nil {
			lacking[then.Name] = true
			if tool, err = j.absentTool(then.Name); err != nil {
				return nil, nil, err
			}
		}
		if err := registry.Register(tool); err != nil {
			return nil, nil, err
		}
	}
	return registry, lacking, nil
}

// recordedTool makes a tool of the user's own as it is on record, nil where that
// is not whole: secrets are hidden in it.
func (j *job) recordedTool(definition json.RawMessage) tools.Tool {
	hidden, err := json.Marshal(trajectory.Hidden) // the record's escapes are the encoder's
	if err != nil || bytes.Contains(definition, bytes.Trim(hidden, `"`)) || bytes.Contains(definition, []byte(trajectory.Hidden)) {
		return nil
	}
	list, err := tools.ParseCustom(append(append([]byte("["), definition...), ']'))
	if err != nil || len(list) != 1 {
		return nil
	}
	tool, err := j.customTool(list[0])
	if err != nil {
		return nil
	}
	return tool
}

// absentTool stands in the place of a tool that cannot be had, by its name. It is
// not called.
func (j *job) absentTool(name string) (tools.Tool, error) {
	list, err := tools.ParseCustom([]byte(`[{"name": "absent", "description": "It cannot be had.", "parameters": {"type": "object"}, "command": ["false"], "effect": "execute"}]`))
	if err != nil {
		return nil, err
	}
	list[0].Name = name
	return j.customTool(list[0])
}
