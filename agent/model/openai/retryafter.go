package openai

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait bounds what a server may ask for, so that no sum overflows. Who
// waits has a bound of his own.
const longestWait = 365 * 24 * time.Hour

// retryAfter is how long the server wants to be left alone, by its header or
// body, or by what a router tells of the one behind it.
func (d detail) retryAfter(header http.Header, body []byte) time.Duration {
	now := time.Now()
	if wait := retryAfter(header, body, now); wait > 0 {
		return wait
	}
	return retryAfter(d.headers, []byte(d.source), now)
}

// retryAfter is how long the server wants to be left alone, by its header or,
// where that says nothing, by the words of its refusal. It is 0 when the server
// does not say so.
func retryAfter(header http.Header, body []byte, now time.Time) time.Duration {
	// The server's own clock is what its dates are told by.
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	if n, ok := amount(header.Get("Retry-After-Ms")); ok {
		return atMost(n * float64(time.Millisecond))
	}
	asked := header.Get("Retry-After")
	if n, ok := amount(asked); ok {
		return seconds(n, now)
	}
	if at, err := http.ParseTime(asked); err == nil {
		return atMost(float64(at.Sub(now)))
	}
	if wait := retryHint(body); wait > 0 {
		return wait
	}
	// Of the many forms of this header only a time is told from others; it is
	// on every answer, and means a wait where nothing is left.
	if n, ok := amount(header.Get("X-Ratelimit-Reset")); ok && n >= aTime && header.Get("X-Ratelimit-Remaining") == "0" {
		return seconds(n, now)
	}
	return 0
}

// aTime and aTimeInMillis are the least numbers that are taken for a time since
// 1970.
const aTime, aTimeInMillis = 1e9, 1e12

// seconds reads a number that should be one of seconds. Some servers give the
// time, in seconds or milliseconds since 1970: taken as a span those would be
// decades.
func seconds(n float64, now time.Time) time.Duration {
	switch {
	case n >= aTimeInMillis:
		n = n/1000 - float64(now.Unix())
	case n >= aTime:
		n -= float64(now.Unix())
	}
	return atMost(n * float64(time.Second))
}

// amount reads a number that is not negative.
func amount(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && !math.IsNaN(n) && n >= 0
}

// atMost is a span of so many nanoseconds within bounds.
func atMost(nanoseconds float64) time.Duration {
	return time.Duration(min(max(nanoseconds, 0), float64(longestWait)))
}
