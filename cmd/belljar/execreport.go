package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/tripwire"
	"github.com/belljar/belljar/sandbox"
)

// jsonStreamLimit is how many bytes of each stream exec --json keeps.
const jsonStreamLimit = 1 << 20

// An execReport gathers what exec --json prints.
type execReport struct {
	jar            *jar
	gate           *gate
	log            *networkLog
	stdout, stderr *output.Raw
	risks          tripwire.Report
}

func newExecReport(j *jar, out *gate, log *networkLog) *execReport {
	return &execReport{jar: j, gate: out, log: log, stdout: output.NewRaw(jsonStreamLimit), stderr: output.NewRaw(jsonStreamLimit)}
}

// An execJSON is the object that exec --json prints. It is written in three
// parts: the text of the streams, which may grow to six times its size, is never
// in memory as JSON.
type execJSON struct {
	execBegin
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	execRest
}

// An execBegin is what stands before the streams.
type execBegin struct {
	Status   sandbox.Status `json:"status"`
	ExitCode *int           `json:"exit_code"` // the command's own, else null
	Signal   string         `json:"signal,omitempty"`
	// DurationMS is from the hand-over of the command to its end.
	DurationMS int64 `json:"duration_ms"`
}

// An execRest is what stands after the streams.
type execRest struct {
	Truncated *truncatedJSON `json:"truncated"` // null when nothing was dropped
	// Encoding is "lossy" when bytes were not UTF-8 and became U+FFFD.
	Encoding     string            `json:"encoding,omitempty"`
	Dir          string            `json:"dir"`
	OOMKills     int               `json:"oom_kills"`
	ForkFailures int               `json:"fork_failures"`
	Left         []sandbox.Process `json:"left"`
	LeftCount    int               `json:"left_count"`
	Killed       []sandbox.Process `json:"killed"`
	KilledCount  int               `json:"killed_count"`
	Reason       string            `json:"reason,omitempty"`
	Image        sandbox.Image     `json:"image"`
	Engine       string            `json:"engine"`
	Runtime      string            `json:"runtime"`
	Profile      sandbox.Profile   `json:"profile"`
	User         string            `json:"user"`
	Limits       sandbox.Limits    `json:"limits"`
	Network      sandbox.Network   `json:"network"`
	Mounts       []sandbox.Mount   `json:"mounts"`
	// AllowHosts and InjectHeaders are what the network mode allow let through,
	// and NetworkDecisions what was decided; NetworkDropped counts those that
	// the list had no room for.
	AllowHosts       []string       `json:"allow_hosts"`
	InjectHeaders    []string       `json:"inject_headers"`
	NetworkDecisions []networkEntry `json:"network_decisions"`
	NetworkDropped   int            `json:"network_dropped"`
	// Protected are the paths of the workspace that commands could not change.
	Protected []string `json:"protected"`
	Loosened  []string `json:"loosened"`
	// Variables are the names that --env and --pass-env handed to the command.
	Variables []string `json:"variables"`
	// HostRisks are the files that programs on the host run or obey and that
	// changed.
	HostRisks risksJSON `json:"host_risks"`
	// Readings are the limits as they were read back.
	Readings []sandbox.Reading `json:"readings"`
	// Capabilities are what this sandbox can do and prove.
	Capabilities sandbox.Capabilities `json:"capabilities"`
}

// A truncatedJSON holds the bytes that were dropped from each stream.
type truncatedJSON struct {
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
}

// write prints the object.
func (r *execReport) write(w io.Writer, result sandbox.Result) error {
	info, stdout, stderr := r.jar.Info(), r.stdout.Kept(), r.stderr.Kept()
	begin := execBegin{Status: result.Status, ExitCode: result.ExitCode, Signal: result.Signal, DurationMS: result.Duration.Milliseconds()}
	rest := execRest{
		Dir: result.Dir, OOMKills: result.OOMKills, ForkFailures: result.ForkFailures,
		Left: orEmpty(result.Left), LeftCount: result.LeftCount,
		Killed: orEmpty(result.Killed), KilledCount: result.KilledCount, Reason: result.Reason,
		Image: info.Image, Engine: info.Engine, Runtime: info.Runtime, Profile: info.Profile, User: info.User,
		Limits: info.Limits, Network: info.Network, Mounts: orEmpty(info.Mounts), Protected: orEmpty(info.Protected.ReadOnly), Loosened: orEmpty(info.Loosened),
		Variables: orEmpty(r.jar.variables),
		HostRisks: risksOf(r.risks),
		Readings:  orEmpty(info.Readings), Capabilities: info.Capabilities,
	}
	hosts, injections := r.gate.rules()
	rest.AllowHosts, rest.InjectHeaders = orEmpty(hosts), orEmpty(injections)
	rest.NetworkDecisions, rest.NetworkDropped = r.log.list()
	if stdout.Dropped > 0 || stderr.Dropped > 0 {
		rest.Truncated = &truncatedJSON{Stdout: stdout.Dropped, Stderr: stderr.Dropped}
	}
	if stdout.Lossy || stderr.Lossy {
		rest.Encoding = "lossy"
	}
	object := execJSON{execBegin: begin, Stdout: stdout.String(), Stderr: stderr.String(), execRest: rest}
	if err := object.write(w); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// write prints the object on one line.
func (o execJSON) write(to io.Writer) error {
	w := bufio.NewWriterSize(to, jsonPiece)
	begin, err := json.Marshal(o.execBegin)
	if err != nil {
		return err
	}
	rest, err := json.Marshal(o.execRest)
	if err != nil {
		return err
	}
	_, _ = w.Write(begin[:len(begin)-1]) // a failure is kept for Flush
	for _, stream := range []struct{ name, text string }{{"stdout", o.Stdout}, {"stderr", o.Stderr}} {
		_, _ = fmt.Fprintf(w, `,"%s":`, stream.name)
		if err := writeJSONString(w, stream.text); err != nil {
			return err
		}
	}
	_ = w.WriteByte(',')
	_, _ = w.Write(rest[1:])
	_ = w.WriteByte('\n')
	return w.Flush()
}

// jsonPiece is how many bytes of a long text are turned into JSON at a time.
const jsonPiece = 32 << 10

// writeJSONString prints a string, which is valid UTF-8, in pieces.
func writeJSONString(w *bufio.Writer, text string) error {
	_ = w.WriteByte('"')
	var piece bytes.Buffer
	encoder := json.NewEncoder(&piece)
	encoder.SetEscapeHTML(false)
	for len(text) > 0 {
		n := min(len(text), jsonPiece)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n-- // it is the rest of a character
		}
		piece.Reset()
		if err := encoder.Encode(text[:n]); err != nil {
			return err
		}
		_, _ = w.Write(piece.Bytes()[1 : piece.Len()-2]) // without quotes and line end
		text = text[n:]
	}
	return w.WriteByte('"')
}

// orEmpty makes an empty list of none, which is not null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// writeJSON prints one object on one line, with its characters as they are.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// writeErrorJSON prints the object that stands for an answer where belljar
// itself failed.
func writeErrorJSON(w io.Writer, err error) error {
	if errors.Is(err, errReaderGone) {
		return nil
	}
	return writeJSON(w, struct {
		Error string `json:"error"`
	}{err.Error()})
}
