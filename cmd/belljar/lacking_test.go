package main

import (
	"context"
	"fmt"

	"github.com/belljar/belljar/sandbox"
)

// A lackingEngine is a fakeEngine on a machine that cannot limit memory.
type lackingEngine struct{ *fakeEngine }

// Start says what is missing as a real engine does.
func (e lackingEngine) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	readings := []sandbox.Reading{
		{Limit: "memory", Asked: float64(sandbox.GiB), Found: sandbox.NoLimit, Source: sandbox.FromInside},
		{Limit: "nofile", Asked: 4096, Found: 4096, Source: sandbox.FromInside},
	}
	loosened, err := sandbox.CheckReadings(readings, spec.AllowMissingLimits)
	if err != nil {
		return nil, fmt.Errorf("starting a sandbox: %w", err)
	}
	sb, err := e.fakeEngine.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return lackingSandbox{sb, readings, loosened}, nil
}

// A lackingSandbox tells of its missing limits.
type lackingSandbox struct {
	sandbox.Sandbox
	readings []sandbox.Reading
	loosened []string
}

func (s lackingSandbox) Info() sandbox.Info {
	info := s.Sandbox.Info()
	info.Readings, info.Loosened = s.readings, append(info.Loosened, s.loosened...)
	return info
}
