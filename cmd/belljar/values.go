package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// A sizeValue is a flag for a number of bytes.
type sizeValue struct {
	bytes *int64
	least int64
}

func (v sizeValue) String() string {
	if v.bytes == nil || *v.bytes == 0 {
		return ""
	}
	return strconv.FormatInt(*v.bytes, 10)
}

func (v sizeValue) Type() string { return "SIZE" }

func (v sizeValue) Set(text string) error {
	bytes, err := parseSize(text)
	if err != nil {
		return err
	}
	if bytes < v.least {
		return fmt.Errorf("the least is %s", output.Size(v.least))
	}
	*v.bytes = bytes
	return nil
}

// A diskValue is a flag for a number of bytes that may be without limit.
type diskValue struct{ bytes *int64 }

// noDiskLimit is the word for it.
const noDiskLimit = "none"

func (v diskValue) String() string {
	if v.bytes != nil && *v.bytes == sandbox.NoLimit {
		return noDiskLimit
	}
	return sizeValue{bytes: v.bytes}.String()
}

func (v diskValue) Type() string { return "SIZE" }

func (v diskValue) Set(text string) error {
	if strings.TrimSpace(text) == noDiskLimit {
		*v.bytes = sandbox.NoLimit
		return nil
	}
	return sizeValue{v.bytes, sandbox.MinDisk}.Set(text)
}

// parseSize reads a number of bytes: plain, or with a unit. Units are powers
// of 1024 however they are spelled, as with the engines' own command lines.
func parseSize(text string) (int64, error) {
	errForm := errors.New("a size is a number of bytes, or one with a unit: 512m, 2g, 1.5GiB")
	lower := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(lower, "bikmgt ")
	unit := strings.TrimSpace(lower[len(digits):])
	shift, ok := map[string]uint{
		"": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "m": 20, "mb": 20, "mib": 20,
		"g": 30, "gb": 30, "gib": 30, "t": 40, "tb": 40, "tib": 40,
	}[unit]
	if !ok || strings.Trim(digits, "0123456789.") != "" {
		return 0, errForm
	}
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, errForm
	}
	bytes := number * float64(uint64(1)<<shift)
	if bytes < 1 || bytes >= math.MaxInt64 {
		return 0, errForm
	}
	return int64(bytes), nil
}

// A durationValue is a flag for a time span above zero.
type durationValue struct{ span *time.Duration }

func (v durationValue) String() string {
	if v.span == nil || *v.span == 0 {
		return ""
	}
	return v.span.String()
}

func (v durationValue) Type() string { return "DURATION" }

// Set reads a time span; a plain number is seconds.
func (v durationValue) Set(text string) error {
	span, err := time.ParseDuration(text)
	// Ten years in seconds: more would overflow, and nobody means it.
	const most = 10 * 365 * 24 * 3600
	if seconds, plain := strconv.ParseFloat(text, 64); plain == nil && seconds > 0 && seconds <= most {
		span, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || span <= 0 {
		return errors.New("a duration is above zero and has units, or is in seconds: 2s, 1m30s, 90")
	}
	*v.span = span
	return nil
}

// A numberValue is a flag for a count, or for an amount where whole is not set.
type numberValue struct {
	number *float64
	whole  bool
	least  float64 // the value must be at least this; an amount above 0
}

func (v numberValue) String() string {
	if v.number == nil || *v.number == 0 {
		return ""
	}
	return strconv.FormatFloat(*v.number, 'f', -1, 64)
}

func (v numberValue) Type() string { return "N" }

func (v numberValue) Set(text string) error {
	number, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil, math.IsNaN(number), math.IsInf(number, 0), number > 1<<40:
		return errors.New("it must be a number")
	case v.whole && number != math.Trunc(number):
		return errors.New("it must be a whole number")
	case number < v.least:
		return fmt.Errorf("the least is %s", strconv.FormatFloat(v.least, 'f', -1, 64))
	}
	*v.number = number
	return nil
}

// A cpusetValue is a flag for a list of processors.
type cpusetValue struct{ list *string }

func (v cpusetValue) String() string {
	if v.list == nil {
		return ""
	}
	return *v.list
}

func (v cpusetValue) Type() string { return "LIST" }

func (v cpusetValue) Set(text string) error {
	if _, err := sandbox.CountCPUs(text); err != nil {
		return err
	}
	*v.list = text
	return nil
}

// A textValue is a flag for a text that is not empty: one that was given empty
// is mostly a variable of a shell that is not set, and not the default.
type textValue struct{ text *string }

// addText adds a flag for a text, with what it is where it is not given.
func addText(flags *pflag.FlagSet, text *string, name, short, usual, usage string) {
	*text = usual
	flags.VarP(textValue{text}, name, short, usage)
}

func (v textValue) String() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

func (v textValue) Type() string { return "string" }

func (v textValue) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty; name something, or leave the flag out for the default")
	}
	*v.text = text
	return nil
}
