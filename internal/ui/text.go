package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
)

const tabWidth = 8

// widths measures characters without looking at the locale, so that what is
// shown does not change from machine to machine.
func widths() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Clip shortens a line to at most width columns, with … where something was
// cut; wide characters count as two and are never cut in half. A width of 0 or
// less leaves the line as it is.
func Clip(line string, width int) string {
	if width <= 0 {
		return line
	}
	return widths().Truncate(line, width, "…")
}

// expandTabs replaces tabs by the spaces that reach the next tab stop.
func expandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var out strings.Builder
	column, measure := 0, widths()
	for _, field := range strings.SplitAfter(line, "\t") {
		text, tab := strings.CutSuffix(field, "\t")
		out.WriteString(text)
		column += measure.StringWidth(text)
		if tab {
			spaces := tabWidth - column%tabWidth
			out.WriteString(strings.Repeat(" ", spaces))
			column += spaces
		}
	}
	return out.String()
}

// pad fills a text with spaces up to width columns.
func pad(text string, width int) string { return widths().FillRight(text, width) }

// Duration writes a time span as a person says it: 45 ms, 12.3 s, 2m 03s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 59950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	seconds := int64(d.Round(time.Second).Seconds())
	if seconds < 3600 {
		return fmt.Sprintf("%dm %02ds", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%dh %02dm", seconds/3600, seconds%3600/60)
}

// Size writes a number of bytes in powers of 1024: 2 GiB, 1.5 MiB, 300 B.
func Size(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(bytes), 0
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	text := strconv.FormatFloat(value, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " " + units[unit]
}

// Number writes a count with commas between thousands.
func Number(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, groups...), ",")
}

// Plural writes a count and its noun, with an s unless the count is one:
// 1 turn, 2 turns. Nouns with another plural are written as "process|processes".
func Plural(n int, noun string) string {
	one, many, given := strings.Cut(noun, "|")
	if !given {
		many = one + "s"
	}
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Cost says an amount of US dollars, with so many digits that something is
// never shown as nothing; nil is unknown.
func Cost(usd *float64, estimated bool) string {
	switch {
	case usd == nil:
		return "unknown"
	case *usd == 0:
		return "$0"
	}
	text := "$" + strconv.FormatFloat(*usd, 'f', 2, 64)
	switch {
	case *usd < 0.0001:
		return "<$0.0001"
	case *usd < 0.1:
		text = "$" + strconv.FormatFloat(*usd, 'f', 4, 64)
	}
	if estimated {
		text = "~" + text
	}
	return text
}
