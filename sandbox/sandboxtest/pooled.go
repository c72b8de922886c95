package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/pool"
)

// Pooled makes a runtime of a pool, for [TestRuntime]. In place of the empty
// folder Spec.Workspace it puts a link to that of the pool, and at Close the
// folder as the sandbox left it.
func Pooled(p *pool.Pool, capabilities sandbox.Capabilities) sandbox.Runtime {
	return &pooled{p, capabilities}
}

type pooled struct {
	pool         *pool.Pool
	capabilities sandbox.Capabilities
}

func (p *pooled) Capabilities() sandbox.Capabilities { return p.capabilities }

func (p *pooled) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if !filepath.IsAbs(spec.Workspace) {
		return nil, fmt.Errorf("the workspace %q is not an absolute path", spec.Workspace)
	}
	sb, err := p.pool.Get(ctx, spec, nil)
	if err != nil {
		return nil, err
	}
	err = os.Remove(spec.Workspace)
	if err == nil {
		err = os.Symlink(sb.Workspace(), spec.Workspace)
	}
	if err != nil {
		return nil, errors.Join(err, sb.Close())
	}
	return &pooledSandbox{sb, spec}, nil
}

type pooledSandbox struct {
	*pool.Sandbox
	spec sandbox.Spec
}

func (s *pooledSandbox) Close() error {
	return s.CloseWith(func(dir string) error {
		if err := os.Remove(s.spec.Workspace); err != nil {
			return err
		}
		if err := os.Mkdir(s.spec.Workspace, 0o700); err != nil {
			return err
		}
		return pool.CopyOf(dir, s.spec.Owner)(context.Background(), s.spec.Workspace)
	})
}
