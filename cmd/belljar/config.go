package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/belljar/belljar/internal/output"
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
	// tools, which the sandbox sees at toolsPoint.
	toolsFolder = "tools"
	toolsPoint  = sandbox.OwnPoint + "/tools"
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
	data, err := readBounded(file, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !chosen:
		return config{}, nil
	case err != nil:
		return config{}, refusedf("reading the config: %w; --config names another, or none", err)
	}
	if file, err = filepath.Abs(file); err != nil {
		return config{}, fmt.Errorf("finding the config: %w", err)
	}
	if err := checkOutside(file, spec); err != nil {
		return config{}, err
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
	home, err := os.UserHomeDir()
	if err != nil {
		return "", false // who has no home has no config there
	}
	return filepath.Join(home, ".config", "belljar", name), false
}

// readBounded reads a file of up to so many bytes.
func readBounded(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %s", file, output.Size(most))
	}
	return data, err
}

// checkOutside refuses a file that what runs in the sandbox could change, by its
// name or by what a link there leads to.
func checkOutside(file string, spec *sandbox.Spec) error {
	open := []string{spec.Workspace}
	for _, m := range spec.Mounts {
		if !m.ReadOnly {
			open = append(open, m.Source)
		}
	}
	places := []string{file, filepath.Dir(file)}
	for _, place := range places {
		real, err := filepath.EvalSymlinks(place)
		if err != nil {
			continue // a pipe, which has no place
		}
		for _, dir := range open {
			if isBelow(real, dir) {
				return refusedf("the config %s lies in %s, where what runs in the sandbox could change it; put it elsewhere, or give --config none", file, dir)
			}
		}
	}
	return nil
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

// mountPrograms lets the sandbox see the folder with the programs of the tools.
func (c *config) mountPrograms(spec *sandbox.Spec) error {
	dir := filepath.Join(filepath.Dir(c.file), toolsFolder)
	if _, err := os.Stat(dir); len(c.tools) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	real, err := workspace.CheckMount(dir, true)
	if err != nil {
		return refused(fmt.Errorf("the folder with the programs of your tools: %w", err))
	}
	for _, m := range spec.Mounts {
		if !m.ReadOnly && isBelow(real, m.Source) {
			return refusedf("the folder %s with the programs of your tools lies in %s, where what runs in the sandbox could change it; put it elsewhere", real, m.Source)
		}
	}
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: real, Target: toolsPoint, ReadOnly: true})
	if err := spec.CheckMounts(); err != nil {
		return &usageError{err: err}
	}
	return nil
}
