package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// TestImagesLast: texts of the last turn are shortened before an image is left
// out, and an old image is.
func TestImagesLast(t *testing.T) {
	image := tools.Part{MediaType: "image/png", Data: []byte("png")}
	for name, test := range map[string]struct {
		text, beside int
		images       int // that the model is shown in the end
	}{
		"a long text beside":   {60_000, 2, 1},
		"nothing but images":   {0, 30, 0},
		"much text and images": {60_000, 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := &narrow{limit: 16_000, looks: 1, beside: test.beside}
			l := tool{"look", tools.Read, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
				if n := len(page(args, 0)); test.text == 0 || strings.Contains(string(args), "100") && n > 0 {
					return tools.Result{Parts: []tools.Part{image}}, nil
				}
				return tools.Text(page(args, test.text)), nil
			}}
			if test.images == 0 && test.text > 0 {
				l.run = func(_ context.Context, args json.RawMessage) (tools.Result, error) {
					return tools.Result{Parts: append(tools.Text(page(args, test.text)).Parts, image)}, nil
				}
			}
			a, memory := newAgent(t, m, registry(t, l), func(o *agent.Options) { o.ContextWindow, o.Images = 16_000, true })
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			shown, said := 0, 0
			for _, msg := range m.requests[len(m.requests)-1].Messages {
				for _, p := range msg.Parts {
					if p.MediaType != "" {
						shown++
					}
					said += strings.Count(p.Text, "[The image is left out here to save room. Make the call again if you need it.]")
				}
			}
			if shown != test.images || test.images == 0 && said != test.beside {
				t.Errorf("%d images are shown, %d left out: %q", shown, said, notices(memory, trajectory.NoticeCompacted))
			}
		})
	}
}

// TestShortenedTwice: what is left out is told of the whole, however often a
// result was shortened, and what the tool gives once is not said to be had again.
func TestShortenedTwice(t *testing.T) {
	m := &narrow{limit: 16_000, looks: 30}
	l := once{tool{"look", tools.Read, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		size := 2000
		if strings.Contains(string(args), ":100}") {
			size = 100_000
		}
		return tools.Text(page(args, size)), nil
	}}}
	a, _ := newAgent(t, m, registry(t, l), func(o *agent.Options) { o.ContextWindow = 16_000 })
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("ended as %s, error %v", outcome.Stop, err)
	}
	total := len(page(json.RawMessage(`{"n":100}`), 100_000))
	seen := map[int]bool{}
	for _, req := range m.requests {
		if len(req.Messages) < 3 || len(req.Messages[2].Parts) == 0 || !strings.HasPrefix(req.Messages[2].Parts[0].Text, `begin {"n":100}`) {
			continue
		}
		head, rest, _ := strings.Cut(req.Messages[2].Parts[0].Text, "\n[")
		word, tail, _ := strings.Cut(rest, "]\n")
		var out int
		if _, err := fmt.Sscanf(word, "%d bytes", &out); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		if got := len(head) + 1 + out + len(tail); got != total {
			t.Errorf("%d bytes are shown and left out, want %d: %s", got, total, word)
		}
		if !strings.HasSuffix(word, "The same call does not give it again.") {
			t.Errorf("says %q", word)
		}
		seen[out] = true
	}
	if len(seen) < 2 {
		t.Errorf("it was shortened %d times", len(seen))
	}
}

// A once tool gives a thing once.
type once struct{ tool }

func (o once) Definition() tools.Definition {
	def := o.tool.Definition()
	def.Once = true
	return def
}
