package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// defaultContext is the name that stands for no context at all: DOCKER_HOST or
// the default socket.
const defaultContext = "default"

// maxConfigSize bounds a file of the Docker configuration, in bytes. Real ones
// have a few thousand.
const maxConfigSize = 4 << 20

// homeDir is the user's home folder, "" when it is not known.
func homeDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

// configDir is the folder of the Docker configuration, "" when there is none.
func configDir(getenv func(string) string) string {
	if dir := getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	if home := homeDir(getenv); home != "" {
		return filepath.Join(home, ".docker")
	}
	return ""
}

// currentContext is the context that the Docker configuration selects, "" when
// it selects none.
func currentContext(getenv func(string) string) (string, error) {
	dir := configDir(getenv)
	if dir == "" {
		return "", nil
	}
	path := filepath.Join(dir, "config.json")
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	err := readJSON(path, &config)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case errors.Is(err, fs.ErrPermission):
		// A configuration that "sudo docker login" made belongs to root. The
		// Docker command line goes on without it, and so must we.
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the Docker configuration: %w; correct the file, or give --host", err)
	}
	return config.CurrentContext, nil
}

// contextEndpoint looks a Docker context up in the store of the Docker command
// line.
func contextEndpoint(name, source string, getenv func(string) string) (Endpoint, error) {
	if name == defaultContext {
		if host := getenv("DOCKER_HOST"); host != "" {
			return hostEndpoint(host, "DOCKER_HOST", getenv)
		}
		return hostEndpoint("unix://", `context "default"`, getenv)
	}
	source = fmt.Sprintf("%s %q", source, name)
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	store := filepath.Join(configDir(getenv), "contexts")
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	err := readJSON(filepath.Join(store, "meta", id, "meta.json"), &meta)
	if errors.Is(err, fs.ErrNotExist) {
		return Endpoint{}, fmt.Errorf(`%s does not exist; "docker context ls" lists those that do`, source)
	}
	if err != nil {
		return Endpoint{}, fmt.Errorf("%s: reading it: %w", source, err)
	}
	docker, ok := meta.Endpoints["docker"]
	if !ok || docker.Host == "" {
		return Endpoint{}, fmt.Errorf("%s names no Docker engine; give --host", source)
	}
	tls := tlsFiles(filepath.Join(store, "tls", id, "docker"))
	tls.SkipVerify = docker.SkipTLSVerify
	secure := tls.CA != "" || tls.Cert != "" || tls.SkipVerify
	address, err := parseHost(docker.Host, secure)
	if err != nil {
		return Endpoint{}, fmt.Errorf("%s: %w", source, err)
	}
	endpoint := Endpoint{Host: address, Source: source}
	if secure && !endpoint.Local() {
		endpoint.TLS = tls
	}
	return endpoint, nil
}

// readJSON reads one bounded file. Unknown fields are none of our business.
func readJSON(path string, into any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxConfigSize+1))
	if err != nil {
		return err
	}
	if len(data) > maxConfigSize {
		return fmt.Errorf("%s has more than %d bytes", path, maxConfigSize)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}
