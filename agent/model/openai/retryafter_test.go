package openai

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for name, test := range map[string]struct {
		header map[string]string
		body   string
		want   time.Duration
	}{
		"nothing":               {},
		"seconds":               {header: map[string]string{"Retry-After": "7"}, want: 7 * time.Second},
		"a fraction":            {header: map[string]string{"Retry-After": " 0.25 "}, want: 250 * time.Millisecond},
		"milliseconds first":    {header: map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, want: 1500 * time.Millisecond},
		"a date":                {header: map[string]string{"Retry-After": at(time.Hour)}, want: time.Hour},
		"by the server's clock": {header: map[string]string{"Retry-After": at(time.Hour), "Date": at(50 * time.Minute)}, want: 10 * time.Minute},
		"a date that is over":   {header: map[string]string{"Retry-After": at(-time.Hour)}},
		"a date far away":       {header: map[string]string{"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, want: longestWait},
		"nought":                {header: map[string]string{"Retry-After": "0"}},
		"below nought":          {header: map[string]string{"Retry-After": "-5"}},
		"no number":             {header: map[string]string{"Retry-After": "NaN"}},
		"without end":           {header: map[string]string{"Retry-After": "Inf"}, want: longestWait},
		"more than a number":    {header: map[string]string{"Retry-After": "1e300"}, want: longestWait},
		"words":                 {header: map[string]string{"Retry-After": "soon"}},
		"a time since 1970":     {header: map[string]string{"Retry-After": "1772366430"}, want: 30 * time.Second},
		"and in milliseconds":   {header: map[string]string{"Retry-After": "1772366430500"}, want: 30500 * time.Millisecond},
		"a time that is over":   {header: map[string]string{"Retry-After": "1500000000"}},
		"Google's field":        {body: `[{"error":{"code":429,"details":[{"@type":"RetryInfo","retryDelay": "34.5s"}]}}]`, want: 34500 * time.Millisecond},
		"Groq's words":          {body: `{"error":{"message":"Rate limit reached. Please try again in 7m12.5s. Visit"}}`, want: 7*time.Minute + 12500*time.Millisecond},
		"OpenAI's words":        {body: `{"error":{"message":"Please try again in 316ms."}}`, want: 316 * time.Millisecond},
		"Azure's words":         {body: `{"error":{"message":"Please retry after 26 seconds."}}`, want: 26 * time.Second},
		"the header first":      {header: map[string]string{"Retry-After": "2"}, body: "try again in 9s", want: 2 * time.Second},
		"milliseconds in words": {body: "Please try again in 500 milliseconds", want: 500 * time.Millisecond},
		"and in short":          {body: "retry after 500 ms.", want: 500 * time.Millisecond},
		"minutes in words":      {body: "try again in 20 minutes", want: 20 * time.Minute},
		"hours in words":        {body: "Retry in 2 Hours", want: 2 * time.Hour},
		"days":                  {body: "try again in 1d2h", want: 26 * time.Hour},
		"several in words":      {body: "try again in 1 hour, 2 minutes and 3 seconds", want: time.Hour + 2*time.Minute + 3*time.Second},
		"without a unit":        {body: `{"message":"retry after 26"}`, want: 26 * time.Second},
		"without one, a stop":   {body: "retry after 26. Limit 100 per day", want: 26 * time.Second},
		"then another number":   {body: "try again in 6s, 3 requests were made", want: 6 * time.Second},
		"words, then a field":   {body: `{"message":"retry after a while","retryDelay":"34s"}`, want: 34 * time.Second},
		"an unknown unit":       {body: "try again in 2 weeks"},
		"no unit at all":        {body: "retry after 2 of the others are done"},
		"more than a float":     {body: "retry after " + strings.Repeat("9", 90) + "h", want: longestWait},
		"words without a time":  {body: "try again in a moment, or in 3 days"},
		"garbled words":         {body: "try again in 1.2.3s4"},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			for k, v := range test.header {
				header.Set(k, v)
			}
			got := retryAfter(header, []byte(test.body), now)
			// A time since 1970 in floating point is good to a millisecond.
			if diff := got - test.want; diff < -time.Millisecond || diff > time.Millisecond {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
