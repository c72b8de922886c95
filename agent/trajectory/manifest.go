package trajectory

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Manifest describes a session: what ran, on what, within which limits. It
// is the session's manifest.json.
type Manifest struct {
	// V is the version of the format; it is filled in.
	V int `json:"v"`
	// Session is the session's id and Started its start; both are filled in.
	Session string    `json:"session"`
	Started time.Time `json:"started"`
	// Task is what was asked for, and Workspace the absolute host path of the
	// folder that was worked on.
	Task      string `json:"task"`
	Workspace string `json:"workspace"`
	// Model is the model's name; empty where no model took part.
	Model string `json:"model"`
	// Provider is the profile that the model was asked by; empty for a script.
	Provider string `json:"provider,omitempty"`
	// Image, Engine, Runtime, Profile, Network, User and Limits describe the sandbox as
	// it was really made.
	Image   Image  `json:"image"`
	Engine  string `json:"engine"`
	Runtime string `json:"runtime"`
	Profile string `json:"profile"`
	Network string `json:"network"`
	User    string `json:"user"`
	Limits  Limits `json:"limits"`
	// AllowHosts are the rules for hosts that could be reached, and
	// InjectHeaders the headers that were added, as HOST=NAME.
	AllowHosts    []string `json:"allow_hosts,omitempty"`
	InjectHeaders []string `json:"inject_headers,omitempty"`
	// Protected are the paths of the workspace that commands could not change.
	Protected []string `json:"protected"`
	// Mounts are the further folders that the user let the sandbox see.
	Mounts []Mount `json:"mounts,omitempty"`
	// Loosened names every setting that is weaker than the strict profile's.
	Loosened []string `json:"loosened"`
	// Variables are the names of the environment's variables that the user
	// handed to commands.
	Variables []string `json:"variables,omitempty"`
	// Readings are the limits as they were read back.
	Readings []Reading `json:"readings,omitempty"`
	// Images tells that the model was given the images that tools returned.
	Images bool `json:"images,omitempty"`
	// Budget is what the run may use.
	Budget Budget `json:"budget,omitzero"`
	// Price is the entry of a list of prices that costs are reckoned by, and
	// PriceFrom that list: a file, or "built-in" and its date. They are missing
	// where the price is unknown.
	Price     json.RawMessage `json:"price,omitempty"`
	PriceFrom string          `json:"price_from,omitempty"`
	// ContextWindow is how many tokens the model was taken to take, prompt and
	// answer together, and ContextWindowFrom says whence: "flag", "built-in", or
	// "server" for what the model's server said. They are missing where it is
	// unknown.
	ContextWindow     int    `json:"context_window,omitempty"`
	ContextWindowFrom string `json:"context_window_from,omitempty"`
	// IdleTimeoutMS is how long the model's server might be silent in an answer,
	// in milliseconds; missing where nobody said.
	IdleTimeoutMS int64 `json:"idle_timeout_ms,omitempty"`
	// TimeoutMS ends a command that names no timeout, and MaxTimeoutMS is the
	// longest that it may name, in milliseconds; missing where nobody said.
	TimeoutMS    int64 `json:"timeout_ms,omitempty"`
	MaxTimeoutMS int64 `json:"max_timeout_ms,omitempty"`
	// OnLost is what is done when the sandbox is lost: "recreate" or "stop".
	OnLost string `json:"on_lost,omitempty"`
	// Approval says which calls a person was to be asked about, by what they do.
	Approval Approvals `json:"approval,omitzero"`
	// Unguarded tells that what is hardly ever meant was run as well.
	Unguarded bool `json:"unguarded,omitempty"`
	// Config is the user's config file; empty where there was none.
	Config string `json:"config,omitempty"`
	// Tools are what the model was offered, in that order.
	Tools    []Tool   `json:"tools,omitempty"`
	Versions Versions `json:"versions"`
}

// A Tool is one that the model was offered.
type Tool struct {
	Name string `json:"name"`
	// Effect is what a call may do: "read", "write" or "execute".
	Effect string `json:"effect"`
	// SHA256 is that, in hexadecimal, of what the model was told of it: the name,
	// the description and the schema, in JSON.
	SHA256 string `json:"sha256"`
	// Definition is a tool of the user's own as the config has it; nil for one of
	// belljar's.
	Definition json.RawMessage `json:"definition,omitempty"`
}

// Approvals are the calls that a person is asked about: "never", "risky" or
// "always", for each kind of call.
type Approvals struct {
	Read    string `json:"read"`
	Write   string `json:"write"`
	Execute string `json:"execute"`
}

// A Reading is a limit as it was found in force.
type Reading struct {
	// Limit names it, Asked is what was asked for and Found what is in force;
	// sizes are bytes, -1 is none.
	Limit string  `json:"limit"`
	Asked float64 `json:"asked"`
	Found float64 `json:"found"`
	// Source says where it was read: "inside", "host" or "engine". It is empty
	// where it could not be read, and Found says nothing then.
	Source string `json:"source"`
}

// A Mount is a host folder where the sandbox saw it.
type Mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only"`
}

// A Budget is what a run may use before it stops; 0 is no limit.
type Budget struct {
	Turns    int     `json:"turns,omitempty"`
	Requests int     `json:"requests,omitempty"` // to the model, those that failed included
	Tokens   int     `json:"tokens,omitempty"`   // in and out together
	CostUSD  float64 `json:"cost_usd,omitempty"` // US dollars
	TimeMS   int64   `json:"time_ms,omitempty"`
	WaitMS   int64   `json:"wait_ms,omitempty"` // waits for one answer, together
}

// Versions say what made a record.
type Versions struct {
	Belljar string `json:"belljar"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	// Platform is the host's, such as "linux/amd64".
	Platform string `json:"platform"`
}

const manifestName = "manifest.json"

// writeManifest puts the manifest in dir whole or not at all.
func writeManifest(dir string, m Manifest) error {
	if m.Protected == nil {
		m.Protected = []string{}
	}
	if m.Loosened == nil {
		m.Loosened = []string{}
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the session's manifest: %w", err)
	}
	temp, err := os.CreateTemp(dir, ".manifest-*")
	if err != nil {
		return fmt.Errorf("writing the session's manifest: %w", err)
	}
	_, err = temp.Write(append(data, '\n'))
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, manifestName))
	}
	if err != nil {
		os.Remove(temp.Name()) // the failure above is what the user must hear of
		return fmt.Errorf("writing the session's manifest: %w", err)
	}
	return nil
}

// readManifest reads the manifest in dir.
func readManifest(dir string) (Manifest, error) {
	var m Manifest
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the session's manifest: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("reading %s: %w", filepath.Join(dir, manifestName), err)
	}
	return m, nil
}
