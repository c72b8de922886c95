package openai

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// retryHint finds in a refusal how long to wait: Google's retryDelay field, or
// words such as "try again in 7m12.5s" and "retry after 26 seconds". It is 0
// where none is found or its unit is not known: a wait that is guessed wrongly
// may be hours too long.
func retryHint(body []byte) time.Duration {
	leads := regexp.MustCompile(`(?i)(?:"retryDelay"\s*:\s*"|try again in |retry after |retry in )`)
	for _, at := range leads.FindAllIndex(body, -1) {
		if wait := span(strings.ToLower(string(body[at[1]:min(len(body), at[1]+100)]))); wait > 0 {
			return wait
		}
	}
	return 0
}

// span reads the time that a text in small letters begins with. It has one
// amount or several in a row; one alone may be without a unit, for seconds.
func span(text string) time.Duration {
	one := regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(\s*([a-zµ]+))?`)
	between := regexp.MustCompile(`^(?:,\s*|\s+)(?:and\s+)?`)
	total := 0.0
	for first := true; ; first = false {
		found := one.FindStringSubmatch(text)
		if found == nil {
			return atMost(total)
		}
		text = text[len(found[0]):]
		n, err := strconv.ParseFloat(found[1], 64)
		unit, known := unitOf(found[3])
		switch {
		case err != nil || first && !known, strings.HasPrefix(text, ".") && len(text) > 1 && text[1] >= '0' && text[1] <= '9':
			return 0
		case !first && (found[3] == "" || !known):
			return atMost(total) // a number of something else
		}
		total += n * float64(unit)
		text = text[len(between.FindString(text)):]
	}
}

// unitOf is the unit of a word; "" is seconds.
func unitOf(word string) (unit time.Duration, known bool) {
	switch word {
	case "us", "µs", "microsecond", "microseconds":
		return time.Microsecond, true
	case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds":
		return time.Millisecond, true
	case "", "s", "sec", "secs", "second", "seconds":
		return time.Second, true
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute, true
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour, true
	case "d", "day", "days":
		return 24 * time.Hour, true
	default:
		return 0, false
	}
}
