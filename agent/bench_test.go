package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// BenchmarkTurns runs a hundred turns of a scripted model with a call each, and
// writes the events that came of it to another file, in turn: what is left is
// what the loop itself takes.
func BenchmarkTurns(b *testing.B) {
	const turns = 100
	var responses []model.Response
	for n := range turns {
		responses = append(responses, asks(call("look", fmt.Sprintf(`{"n":%d,"text":"some words to look at"}`, n))))
	}
	responses = append(responses, says("done"))
	set := new(tools.Registry)
	if err := set.Register(echo("look", tools.Read)); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	var loop, writing []time.Duration
	for n := 0; b.Loop(); n++ {
		memory := &trajectory.Memory{}
		file := create(b, filepath.Join(dir, fmt.Sprintf("%d.loop", n)))
		a, err := agent.New(agent.Options{
			Model: answers(responses...), Tools: set, Recorder: trajectory.Tee(memory, trajectory.NewWriter(file)), MaxTurns: turns + 1,
		})
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		out, err := a.Run(b.Context(), "look at many things")
		loop = append(loop, time.Since(start))
		if err != nil || out.Stop != agent.StopFinished || out.Turns != turns+1 {
			b.Fatalf("%+v, %v", out, err)
		}
		w := trajectory.NewWriter(create(b, filepath.Join(dir, fmt.Sprintf("%d.again", n))))
		start = time.Now()
		for _, body := range memory.Bodies() {
			if err := w.Record(body); err != nil {
				b.Fatal(err)
			}
		}
		writing = append(writing, time.Since(start))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[(len(d)-1)/2].Nanoseconds()) / 1000 / turns
	}
	b.ReportMetric(median(loop), "loop-us/turn")
	b.ReportMetric(median(writing), "writing-us/turn")
	b.ReportMetric(median(loop)/median(writing), "loop/writing")
}

// create makes a file that is closed at the end.
func create(b *testing.B, path string) *os.File {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	return file
}
