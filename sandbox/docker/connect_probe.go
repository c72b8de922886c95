package docker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

// engineVersion is what an engine says of itself before an API version is
// agreed on.
type engineVersion struct {
	Version       string
	APIVersion    string `json:"ApiVersion"`
	MinAPIVersion string
	Components    []struct{ Name string }
}

func (v engineVersion) podman() bool {
	for _, component := range v.Components {
		if component.Name == "Podman Engine" {
			return true
		}
	}
	return false
}

// maxProbeSize bounds an engine's answer to a question about itself, in bytes.
const maxProbeSize = 1 << 20

// probe asks whether an engine answers at all, within connectTimeout, and then
// for its versions and for what it has at once: engines run programs of their
// own for either answer. The version may be known where the rest failed.
func probe(ctx context.Context, endpoint Endpoint, api *client.Client) (version engineVersion, info system.Info, err error) {
	if err := ask(ctx, connectTimeout, endpoint, api, "/_ping", nil); err != nil {
		return version, info, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := make(chan error, 1) // one answer, so the sender never waits
	go func() { asked <- ask(ctx, infoTimeout, endpoint, api, "/info", &info) }()
	err = ask(ctx, infoTimeout, endpoint, api, "/version", &version)
	if err == nil && version.APIVersion == "" {
		err = errNoContainerEngine
	}
	if err != nil {
		cancel()
		<-asked // it writes to info
		return version, info, err
	}
	return version, info, <-asked
}

// errNoContainerEngine says what an answer of another kind means.
var errNoContainerEngine = errors.New("what answers there is no container engine")

// ask gets a JSON object within a bound from a path that needs no agreed
// version; without a place for one it only looks that there is an answer. The
// client's own calls are of no use here: an engine too new for them answers
// every versioned path with an error, and their errors do not tell a socket that
// refuses from one that is missing.
func ask(ctx context.Context, bound time.Duration, endpoint Endpoint, api *client.Client, path string, answer any) error {
	late := fmt.Errorf("no answer to %s within %s", path, bound)
	ctx, cancel := context.WithTimeoutCause(ctx, bound, late)
	defer cancel()
	target := url.URL{Scheme: "http", Host: client.DummyHost, Path: path}
	if address, err := url.Parse(endpoint.Host); err == nil && address.Scheme == "tcp" {
		target.Host, target.Path = address.Host, address.Path+path
	}
	if endpoint.TLS != nil {
		target.Scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	response, err := api.HTTPClient().Do(request)
	if err != nil {
		if context.Cause(ctx) == late {
			return late
		}
		// The address is said by the caller.
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxProbeSize))
	switch {
	case err != nil:
		return fmt.Errorf("reading its answer to %s: %w", path, err)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("it answers %q to %s", response.Status, path)
	case answer != nil && json.Unmarshal(body, answer) != nil:
		return errNoContainerEngine
	}
	return nil
}

// checkVersions compares the API versions that the engine takes with those that
// belljar speaks. Fixed is the version that the user asked for, or "".
func checkVersions(engine engineVersion, fixed, newest string) error {
	oldest := engine.MinAPIVersion
	if oldest == "" {
		oldest = engine.APIVersion
	}
	if fixed != "" {
		switch {
		case versions.LessThan(fixed, MinAPIVersion):
			return fmt.Errorf("DOCKER_API_VERSION is %s, but belljar needs %s or newer: unset it", fixed, MinAPIVersion)
		case versions.LessThan(fixed, oldest) || versions.LessThan(engine.APIVersion, fixed):
			return fmt.Errorf("DOCKER_API_VERSION is %s, but this engine speaks API versions %s to %s: unset it",
				fixed, oldest, engine.APIVersion)
		}
		return nil
	}
	switch {
	case versions.LessThan(engine.APIVersion, MinAPIVersion):
		return fmt.Errorf("version %s speaks API versions up to %s, but belljar needs %s: update it to Docker Engine 20.10 or newer",
			engine.Version, engine.APIVersion, MinAPIVersion)
	case versions.GreaterThan(oldest, newest):
		return fmt.Errorf("version %s speaks API versions from %s up, but this belljar speaks %s at most: update belljar",
			engine.Version, oldest, newest)
	}
	return nil
}

// config loads the files.
func (f TLSFiles) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: f.SkipVerify}
	if f.CA != "" && !f.SkipVerify {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the engine's CA certificate: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no PEM certificate", f.CA)
		}
	}
	if f.Cert != "" || f.Key != "" {
		if f.Cert == "" || f.Key == "" {
			return nil, fmt.Errorf("the client's certificate and key go together, but only %s%s is there", f.Cert, f.Key)
		}
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, fmt.Errorf("loading the client's certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
