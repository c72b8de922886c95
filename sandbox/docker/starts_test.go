package docker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestStarts fills the places of one kind and looks who gets the next.
func TestStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := NewStarts()
		var leaves []func()
		for range maxExecStarts {
			leave, err := enter(t.Context(), starts.execs)
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, leave)
		}
		if leave, err := enter(t.Context(), starts.urgent); err != nil {
			t.Errorf("an urgent start behind others: %v", err)
		} else {
			leave()
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if _, err := enter(ctx, starts.execs); !errors.Is(err, gone) {
			t.Errorf("error = %v, want the reason why the caller gave up", err)
		}
		var order []int
		for i := range 3 {
			go func() {
				leave, err := enter(t.Context(), starts.execs)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i) // one at a time: the places are left one by one
				leave()
			}()
			synctest.Wait()
		}
		if len(order) != 0 {
			t.Errorf("%d got a place beyond the bound", len(order))
		}
		leaves[0]()
		leaves[0]()
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("the order is %v, want that of coming", order)
		}
		if n := len(starts.execs); n != maxExecStarts-1 {
			t.Errorf("%d places are taken, want %d", n, maxExecStarts-1)
		}
	})
}

// TestStartsShared connects engines with one bound for both and with one each.
func TestStartsShared(t *testing.T) {
	host := listenUnix(t, versionedEngine("1.41", "1.41", `{}`))
	reach := func(starts *Starts) *Engine {
		engine, err := connectFirst(t.Context(), []Endpoint{{Host: host}}, Options{Starts: starts}, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		})
		return engine
	}
	shared := NewStarts()
	if first, second := reach(shared), reach(shared); first.starts != shared || second.starts != shared {
		t.Error("engines that were given one bound do not share it")
	}
	if first, second := reach(nil), reach(nil); first.starts == nil || first.starts == second.starts {
		t.Error("engines that were given none have not one each")
	}
}

// TestUrgentStartGoesOnWithoutPlace fills the places of the execs that end
// processes.
func TestUrgentStartGoesOnWithoutPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := NewStarts()
		for range maxUrgentStarts {
			if _, err := enter(t.Context(), starts.urgent); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		leave, err := starts.enterUrgent(t.Context())
		if took := time.Since(began); err != nil || took != urgentWait {
			t.Fatalf("error %v after %v, want none after %v", err, took, urgentWait)
		}
		leave()
		if n := len(starts.urgent); n != maxUrgentStarts {
			t.Errorf("%d places are taken, want %d: it gave up another's", n, maxUrgentStarts)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if _, err := starts.enterUrgent(ctx); !errors.Is(err, gone) {
			t.Errorf("error = %v, want the reason why the caller gave up", err)
		}
	})
}
