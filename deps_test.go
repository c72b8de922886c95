package belljar_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const modulePath = "github.com/belljar/belljar"

// importTable holds, for each package, the packages of this module that it
// imports. An arrow points from what is joined to what it is joined from and
// never back: tools know nothing of the agent, and only cmd/belljar knows all.
// The table is exact: an import that is gone is taken off it.
var importTable = map[string][]string{
	"agent":                  {"agent/model", "agent/trajectory", "tools"},
	"agent/model":            {},
	"agent/model/openai":     {"agent/model", "agent/model/provider"},
	"agent/model/prices":     {"agent/model"},
	"agent/model/provider":   {},
	"agent/model/script":     {"agent/model"},
	"agent/replay":           {"agent", "agent/model", "agent/trajectory", "tools"},
	"agent/trajectory":       {},
	"images":                 {},
	"internal/demo":          {},
	"internal/doctor":        {"internal/egress", "internal/escape", "internal/output", "sandbox"},
	"internal/egress":        {},
	"internal/diskusage":     {},
	"internal/enginetest":    {"sandbox/docker"},
	"internal/escape":        {},
	"internal/filelock":      {},
	"internal/gitdir":        {},
	"internal/guard":         {},
	"internal/ignore":        {},
	"internal/leaktest":      {},
	"internal/oneline":       {},
	"internal/marks":         {},
	"internal/mcp":           {"internal/output", "tools"},
	"internal/output":        {},
	"internal/search":        {"internal/ignore", "internal/utf16text", "internal/workspace"},
	"internal/strictjson":    {},
	"internal/supervisor":    {"internal/escape"},
	"internal/tripwire":      {"internal/gitdir"},
	"internal/ui":            {"agent/trajectory", "internal/marks"},
	"internal/utf16text":     {},
	"internal/workspace":     {"internal/gitdir", "sandbox"},
	"sandbox":                {},
	"sandbox/docker":         {"images", "internal/diskusage", "internal/filelock", "internal/oneline", "internal/output", "internal/supervisor", "sandbox"},
	"sandbox/sandboxtest":    {"internal/escape", "internal/leaktest", "sandbox", "sandbox/pool"},
	"sandbox/renew":          {"sandbox"},
	"sandbox/pool":           {"internal/filelock", "internal/oneline", "sandbox"},
	"tools":                  {"internal/guard", "internal/marks", "internal/output", "internal/search", "internal/strictjson", "internal/tripwire", "internal/utf16text", "internal/workspace", "sandbox"},
	"cmd/belljar-supervisor": {"internal/supervisor"},
	"cmd/belljar": {
		"agent", "agent/model", "agent/model/openai", "agent/model/prices", "agent/model/provider", "agent/model/script", "agent/replay", "agent/trajectory", "images",
		"internal/demo", "internal/doctor", "internal/egress", "internal/mcp", "internal/oneline", "internal/output", "internal/strictjson", "internal/supervisor",
		"internal/tripwire", "internal/ui", "internal/workspace", "sandbox", "sandbox/docker", "sandbox/pool",
		"sandbox/renew", "tools",
	},
}

// owners holds, for each dependency, the packages whose shipped code may import
// it, so that it can be replaced in one place. A dependency that is not listed
// may not be imported at all; the packages of golang.org/x are free.
var owners = map[string][]string{
	"github.com/aymanbagabas/go-udiff":       {"agent/replay", "tools"},
	"github.com/bmatcuk/doublestar":          {"internal/search"},
	"github.com/containerd/errdefs":          {"sandbox/docker"},
	"github.com/distribution/reference":      {"sandbox/docker"},
	"github.com/docker/docker":               {"sandbox/docker"},
	"github.com/goccy/go-yaml":               {"agent/model/script"},
	"github.com/google/jsonschema-go":        {"agent", "tools"},
	"github.com/mattn/go-runewidth":          {"internal/ui"},
	"github.com/moby/profiles":               {"sandbox/docker"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/mcp"},
	"github.com/openai/openai-go":            {"agent/model/openai"},
	"github.com/spf13/cobra":                 {"cmd/belljar"},
	"github.com/spf13/pflag":                 {"cmd/belljar"},
	"mvdan.cc/sh":                            {"internal/guard"},
}

// testOwners are the same for tests: testcontainers is the second observer of
// what belljar makes, and nothing else needs one.
var testOwners = map[string][]string{
	"github.com/testcontainers/testcontainers-go": {"sandbox/docker", "cmd/belljar"},
}

// testHelpers are packages that only tests import.
var testHelpers = []string{"internal/enginetest", "internal/leaktest", "sandbox/sandboxtest"}

// A listedPackage is what the go command says of a package, as it is built for
// Linux.
type listedPackage struct {
	ImportPath                         string
	Dir                                string
	Imports, TestImports, XTestImports []string
}

// name is the package's path within the module.
func (p listedPackage) name() string { return strings.TrimPrefix(p.ImportPath, modulePath+"/") }

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing the packages: %v", err)
	}
	var packages []listedPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p listedPackage
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != modulePath { // The root has tests only.
			packages = append(packages, p)
		}
	}
	if len(packages) == 0 {
		t.Fatal("the module has no packages")
	}
	return packages
}

func TestImportTable(t *testing.T) {
	got := make(map[string][]string)
	for _, p := range listPackages(t) {
		inside := []string{}
		for _, path := range p.Imports {
			if name, ok := strings.CutPrefix(path, modulePath+"/"); ok {
				inside = append(inside, name)
			}
		}
		slices.Sort(inside)
		got[p.name()] = inside
		for _, name := range inside {
			if slices.Contains(testHelpers, name) && !slices.Contains(testHelpers, p.name()) {
				t.Errorf("%s imports %s, which is for tests", p.name(), name)
			}
		}
	}
	if diff := cmp.Diff(importTable, got); diff != "" {
		t.Errorf("imports within the module (-table +code):\n%s", diff)
	}
}

// dependency finds the entry of a table that an import belongs to.
func dependency(table map[string][]string, path string) (string, bool) {
	for name := range table {
		if path == name || strings.HasPrefix(path, name+"/") {
			return name, true
		}
	}
	return "", false
}

// external reports whether an import is of another module.
func external(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && path != modulePath && !strings.HasPrefix(path, modulePath+"/")
}

func TestDependencyOwners(t *testing.T) {
	used := make(map[string]map[string]bool)
	for _, p := range listPackages(t) {
		for _, path := range p.Imports {
			if !external(path) || strings.HasPrefix(path, "golang.org/x/") {
				continue
			}
			name, ok := dependency(owners, path)
			if !ok || !slices.Contains(owners[name], p.name()) {
				t.Errorf("%s imports %s, which it does not own", p.name(), path)
				continue
			}
			if used[name] == nil {
				used[name] = make(map[string]bool)
			}
			used[name][p.name()] = true
		}
	}
	for name, packages := range owners {
		for _, p := range packages {
			if !used[name][p] {
				t.Errorf("the table says that %s imports %s, but it does not", p, name)
			}
		}
	}
}

func TestTestDependencyOwners(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			if name, ok := dependency(testOwners, path); ok && !slices.Contains(testOwners[name], p.name()) {
				t.Errorf("the tests of %s import %s, which they do not own", p.name(), path)
			}
		}
	}
}
