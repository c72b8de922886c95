package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
)

// TestExecJSONWrite writes the object in parts and reads it as a whole.
func TestExecJSONWrite(t *testing.T) {
	code := 7
	for name, text := range map[string]string{
		"empty":                   "",
		"short":                   "a \"b\"\n<c>&\u2028",
		"characters over an edge": strings.Repeat("x", jsonPiece-1) + strings.Repeat("€", jsonPiece),
		"control bytes":           strings.Repeat("\x00\x1b", jsonPiece),
	} {
		t.Run(name, func(t *testing.T) {
			want := execJSON{
				execBegin: execBegin{Status: sandbox.Exited, ExitCode: &code, DurationMS: 12},
				Stdout:    text, Stderr: text + "!",
				execRest: execRest{Dir: `/workspace/"stdout":""`, Truncated: &truncatedJSON{Stdout: 3}},
			}
			var got, whole bytes.Buffer
			if err := want.write(&got); err != nil {
				t.Fatal(err)
			}
			if err := writeJSON(&whole, want); err != nil {
				t.Fatal(err)
			}
			if got.String() != whole.String() {
				t.Errorf("written in parts it differs from the whole: %.300q and %.300q", got.String(), whole.String())
			}
			var read execJSON
			if err := json.Unmarshal(got.Bytes(), &read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, read, cmp.AllowUnexported(execJSON{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestExecJSONWriteFails(t *testing.T) {
	if err := (execJSON{Stdout: strings.Repeat("x", 3*jsonPiece)}).write(full{}); err == nil {
		t.Error("a failure to write is not told")
	}
}
