package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/belljar/belljar/internal/strictjson"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

const (
	// configVariable names the user's config file.
	configVariable = "BELLJAR_CONFIG"
	// noConfig is the word for none.
	noConfig = "none"
	// maxConfig bounds it in bytes.
	maxConfig = 4 << 20
	// toolsFolder lies beside the config and holds the programs of the user's
	// tools, which the sandbox sees at sandbox.ProgramsPoint.
	toolsFolder = "tools"
)

// A config is what the user's own config file says. The zero value is that of
// none.
type config struct {
	file  string // "" where there is none
	tools []tools.Custom
}

// addConfig adds the flag that names the config.
func addConfig(flags *pflag.FlagSet, file *string) {
	addText(flags, file, "config", "", "", "file with your own tools, or none (default $BELLJAR_CONFIG, or belljar/config.json in the XDG configuration folder)")
}

// readConfig reads the config that a flag, the environment or custom names. The
// spec gets the folder with the programs of the tools, where there is one. What
// the sandbox can change is not trusted: neither the config nor that folder may
// be in what it sees and can write.
func (a *app) readConfig(flag string, spec *sandbox.Spec) (config, error) {
	file, chosen := a.configFile(flag)
	if file == "" {
		return config{}, nil
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return config{}, fmt.Errorf("finding the config: %w", err)
	}
	real, err := reach("the config "+file, file, spec)
	var refusal *usageError
	switch {
	case errors.As(err, &refusal):
		return config{}, err
	case err == nil, chosen: // an open pipe cannot be reached by its name, but read
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return config{}, nil
	default:
		a.notice("no config is read, since its place cannot be looked at: %v", err)
		return config{}, nil
	}
	data, err := readOnce(file, real, maxConfig)
	if err != nil {
		return config{}, refusedf("reading the config: %w; --config names another, or none", err)
	}
	c := config{file: file}
	if err := c.parse(data); err != nil {
		return config{}, refusedf("the config %s: %w", file, err)
	}
	return c, c.mountPrograms(spec)
}

// configFile is the file to read, "" for none, and whether the user named it.
func (a *app) configFile(flag string) (file string, chosen bool) {
	switch named := cmp.Or(flag, a.getenv(configVariable)); named {
	case "":
	case noConfig:
		return "", true
	default:
		return named, true
	}
	const name = "config.json"
	// The XDG rules: a relative path is invalid and is ignored.
	if dir := a.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "belljar", name), false
	}
	if dir := a.getenv("AppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "belljar", name), false
	}
	home := a.getenv("HOME")
	if runtime.GOOS == "windows" {
		home = a.getenv("USERPROFILE")
	}
	if home == "" {
		return "", false // who has no home has no config there
	}
	return filepath.Join(home, ".config", "belljar", name), false
}

// parse reads the text of a config.
func (c *config) parse(data []byte) error {
	fields, err := strictjson.Object(data)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch name {
		case "tools":
			if c.tools, err = tools.ParseCustom(fields[name]); err != nil {
				return fmt.Errorf("tools%s%w", separator(err), err)
			}
		default:
			return fmt.Errorf("there is no field %.64q; the only field is tools", name)
		}
	}
	return nil
}

// separator stands between a field and what is wrong in it.
func separator(err error) string {
	if strings.HasPrefix(err.Error(), "[") {
		return ""
	}
	return ": "
}

// usesPrograms tells whether a command names a place in the folder with the programs
// of the tools. A folder of that name which merely lies there is not shown.
func (c *config) usesPrograms() bool {
	return slices.ContainsFunc(c.tools, func(t tools.Custom) bool {
		return strings.Contains(t.Script, sandbox.ProgramsPoint) ||
			slices.ContainsFunc(t.Args, func(word string) bool { return strings.Contains(word, sandbox.ProgramsPoint) })
	})
}

// mountPrograms lets the sandbox see the folder with the programs of the tools.
func (c *config) mountPrograms(spec *sandbox.Spec) error {
	dir := filepath.Join(filepath.Dir(c.file), toolsFolder)
	if _, err := os.Stat(dir); !c.usesPrograms() || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	real, err := workspace.CheckMount(dir, true)
	if err != nil {
		return refused(fmt.Errorf("the folder with the programs of your tools: %w", err))
	}
	if _, err := reach(fmt.Sprintf("the folder %s with the programs of your tools", dir), dir, spec); err != nil {
		return err
	}
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: real, Target: sandbox.ProgramsPoint, ReadOnly: true})
	if err := spec.CheckMounts(); err != nil {
		return &usageError{err: err}
	}
	return nil
}
