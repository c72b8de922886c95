package tools

import (
	"regexp"
	"strings"
)

// WithoutNews is the text of a result of bash without the lines at its end that
// tell that a background job has ended: in which result they stand is an
// accident of the moment. had tells whether there were any. A line like that
// further up is one of the command.
func WithoutNews(text string) (rest string, had bool) {
	if !strings.Contains(text, "["+jobPrefix) {
		return text, false
	}
	news := regexp.MustCompile(`^\[` + jobPrefix + `\d+ \(.*\) has ended: .*\]$`)
	for {
		cut := strings.LastIndexByte(text, '\n')
		if !news.MatchString(text[cut+1:]) {
			return text, had
		}
		text, had = text[:max(cut, 0)], true
	}
}
