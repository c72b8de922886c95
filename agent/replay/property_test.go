package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// fileTools are the real tools over a folder.
func fileTools(t *testing.T, dir string) *tools.Registry {
	t.Helper()
	space, err := workspace.Open(dir, "/workspace", sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { space.Close() })
	set, seen := new(tools.Registry), new(tools.Seen)
	for _, tool := range []tools.Tool{
		tools.NewReadFile(space, seen), tools.NewWriteFile(space, seen), tools.NewEditFile(space, seen),
		tools.NewApplyPatch(space, seen), tools.NewGlob(space), tools.NewGrep(space),
	} {
		if err := set.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// randomAnswers are answers that ask for anything, and in the end to look at
// all files.
func randomAnswers(random *rand.Rand) []model.Response {
	file := func() string { return fmt.Sprintf("d%d/f%d.txt", random.IntN(2), random.IntN(3)) }
	word := func() string { return []string{"one", "two", "three"}[random.IntN(3)] }
	var answers []model.Response
	for range 8 {
		answer := model.Response{Finish: model.FinishToolCalls}
		for range 1 + random.IntN(4) {
			name, args := "read_file", map[string]any{"path": file()}
			switch random.IntN(7) {
			case 0, 1:
				name, args["content"] = "write_file", word()+"\n"+word()+"\n"
			case 2, 3:
				name, args["old_text"], args["new_text"] = "edit_file", word(), word()
			case 4:
				name, args = "glob", map[string]any{"pattern": "**/*.txt"}
			case 5:
				name, args = "grep", map[string]any{"pattern": word()}
			}
			data, _ := json.Marshal(args) // of texts
			answer.Calls = append(answer.Calls, model.ToolCall{Name: name, Arguments: string(data)})
		}
		answers = append(answers, answer)
	}
	look := model.Response{Finish: model.FinishToolCalls, Calls: []model.ToolCall{{Name: "glob", Arguments: `{"pattern":"**/*"}`}}}
	return append(answers, look, says("Done."))
}

// TestDeterministicRunReplaysTheSame: whatever the calls were, on the same start
// they give the same, and on another one they do not.
func TestDeterministicRunReplaysTheSame(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
			if err != nil {
				t.Fatal(err)
			}
			worker, err := agent.New(agent.Options{
				Model: &list{randomAnswers(rand.New(rand.NewPCG(seed, 1)))}, Tools: fileTools(t, t.TempDir()), Recorder: session.Writer(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := worker.Run(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			again := func(dir string) ([]replay.Call, replay.Summary) {
				caller, err := agent.NewCaller(agent.Options{Tools: fileTools(t, dir)})
				if err != nil {
					t.Fatal(err)
				}
				return run(t, session, replay.Options{Caller: alone{caller}})
			}
			calls, sum := again(t.TempDir())
			if sum.Same != sum.Calls || sum.Calls < 9 {
				t.Errorf("%+v\n%+v", sum, calls)
			}
			other := t.TempDir()
			if err := os.WriteFile(filepath.Join(other, "planted.txt"), []byte("one two three\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, sum := again(other); sum.Differs == 0 {
				t.Errorf("a file more is no difference: %+v", sum)
			}
		})
	}
}

// alone is a Caller for runs without sub-agents.
type alone struct{ *agent.Caller }

func (a alone) Call(ctx context.Context, _ string, call trajectory.ToolCall) (trajectory.ToolResult, error) {
	return a.Caller.Call(ctx, call)
}
