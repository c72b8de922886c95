package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/enginetest"
)

// TestEngine runs the program as it is shipped in real containers.
func TestEngine(t *testing.T) {
	engine := enginetest.Require(t, "")
	if _, err := engine.EnsureImage(t.Context(), images.Tag(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	built, err := enginetest.Binary(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// A folder that holds nothing else, to come first in PATH.
	bin := t.TempDir()
	if err := os.Symlink(built, filepath.Join(bin, "belljar")); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "engine"),
		Setup: func(env *testscript.Env) error {
			// Before the fake of the same name.
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_API_VERSION"} {
				env.Setenv(name, os.Getenv(name))
			}
			return setupScript(env)
		},
		Cmds:                scriptCommands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(engineTimeout),
	})
}

// engineTimeout ends a script that hangs; images may have to be built.
const engineTimeout = 20 * time.Minute
