// Package prices knows what model servers take for tokens, from lists in JSON.
// belljar carries one, which is only as good as its date, and a user's own
// list goes before it. What no list names has no known price, which is not the
// same as none: see [Table.Find].
package prices

import (
	"bytes"
	_ "embed" // the list is part of the binary
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// builtIn is the list that belljar carries. Prices depend on who sells, so
// each entry names its server.
//
//go:embed prices.json
var builtIn []byte

// maxSize bounds a list in bytes.
const maxSize = 4 << 20

// A Table is a list of prices.
type Table struct {
	// AsOf says when the list was drawn up; it may be empty.
	AsOf string `json:"as_of"`
	// Source says where its figures are from; it may be empty.
	Source string `json:"source"`
	// Prices are the entries. The first one that fits counts.
	Prices []Entry `json:"prices"`
}

// An Entry is the price of some models of one server.
type Entry struct {
	// Host is the server's name as in its address, without the port; empty is
	// any server. The brackets around an IPv6 address may be left away.
	Host string `json:"host,omitempty"`
	// Models are the names that the server knows the models by; * stands for
	// any letters but a slash.
	Models []string `json:"models"`
	model.Price
}

// BuiltIn returns the list that belljar carries.
func BuiltIn() (Table, error) { return Parse(builtIn) }

// Load reads the list in a file.
func Load(file string) (Table, error) {
	f, err := os.Open(file)
	if err != nil {
		return Table{}, fmt.Errorf("opening the list of prices: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return Table{}, fmt.Errorf("reading the list of prices: %w", err)
	}
	if len(data) > maxSize {
		return Table{}, fmt.Errorf("the list of prices %s is larger than %d bytes", file, maxSize)
	}
	table, err := Parse(data)
	if err != nil {
		return Table{}, fmt.Errorf("the list of prices %s: %w", file, err)
	}
	return table, nil
}

// Parse reads a list. A field that is not known, a rate that is missing or
// below nought, and a pattern that is none are errors, for a price that is
// wrong is worse than none.
func Parse(data []byte) (Table, error) {
	var table Table
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&table); err != nil {
		return Table{}, fmt.Errorf("reading it as JSON: %w; it is {\"prices\": [{\"models\": [...], \"input\": 1.5, \"output\": 6}]}", err)
	}
	if dec.More() {
		return Table{}, errors.New("something follows the object that it is; remove it")
	}
	given, err := givenRates(data)
	if err != nil {
		return Table{}, err
	}
	for i, entry := range table.Prices {
		if err := entry.check(given[i]); err != nil {
			return Table{}, fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return table, nil
}

// Given are the rates that must be written down: one that was forgotten would
// be taken for nought.
type given struct {
	Input, Output *float64
	Long          *struct{ Input, Output *float64 }
}

// givenRates tells for each entry which rates are there.
func givenRates(data []byte) ([]given, error) {
	var list struct{ Prices []given }
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading it as JSON: %w", err)
	}
	return list.Prices, nil
}

// check refuses an entry that cannot be right.
func (e Entry) check(given given) error {
	if len(e.Models) == 0 {
		return errors.New(`it names no "models"`)
	}
	for _, pattern := range e.Models {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%q is no pattern of names: %w", pattern, err)
		}
	}
	if given.Input == nil || given.Output == nil || given.Long != nil && (given.Long.Input == nil || given.Long.Output == nil) {
		return errors.New(`"input" or "output" is missing, in dollars for a million tokens; write 0 for what is free`)
	}
	rates := []model.Rates{e.Rates}
	if e.Long != nil {
		if e.Long.Above <= 0 {
			return errors.New(`"long" needs "above", the tokens of input above which it holds`)
		}
		rates = append(rates, e.Long.Rates)
	}
	for _, r := range rates {
		for _, rate := range []*float64{&r.Input, &r.Output, r.Cached, r.Reasoning} {
			if rate != nil && *rate < 0 {
				return fmt.Errorf("a rate is below 0: %g", *rate)
			}
		}
	}
	return nil
}

// Find returns the first entry for a model of a server, and whether there is
// one. The host has no port, and no brackets around an IPv6 address.
func (t Table) Find(host, name string) (Entry, bool) {
	for _, entry := range t.Prices {
		if entry.Host != "" && !strings.EqualFold(strings.Trim(entry.Host, "[]"), host) {
			continue
		}
		for _, pattern := range entry.Models {
			if ok, _ := path.Match(pattern, name); ok { // checked when it was read
				return entry, true
			}
		}
	}
	return Entry{}, false
}
