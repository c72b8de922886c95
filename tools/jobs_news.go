package tools

import (
	"regexp"
	"strings"
)

// WithoutNews is the text of a result without the lines that tell that a
// background job has ended: in which result they stand is an accident of the
// moment. had tells whether there were any.
func WithoutNews(text string) (rest string, had bool) {
	if !strings.Contains(text, "["+jobPrefix) {
		return text, false
	}
	news := regexp.MustCompile(`^\[` + jobPrefix + `\d+ \(.*\) has ended: .*\]\n?$`)
	var out strings.Builder
	for line := range strings.Lines(text) {
		if news.MatchString(line) {
			had = true
			continue
		}
		out.WriteString(line)
	}
	if !had {
		return text, false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

// AboutJob tells whether a result is about a background job itself: that it was
// started, what it wrote so far, whether it goes on, or that it was ended.
func AboutJob(text string) bool {
	return regexp.MustCompile(`(?m)^\[` + jobPrefix + `\d+ (?:runs|has ended after)\b`).MatchString(text)
}
