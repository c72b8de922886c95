package ui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

const (
	// detailWidth is the columns that the value of a detail may have.
	detailWidth = 40
	// namedFiles is how many files of a call are named.
	namedFiles = 6
)

// shownByResult are the names of arguments that a result with a diff shows
// better, however short they are.
var shownByResult = [...]string{"content", "old_text", "new_text"}

// filesOf names the files that a call with edits of several, or with a patch,
// is about, "" where it is none of them.
func filesOf(list []argument) (files string, others []argument) {
	for i, arg := range list {
		var names []string
		switch {
		case arg.name == "files" && !arg.text:
			names = editedFiles(arg.value)
		case arg.name == "patch" && arg.text:
			names = patchedFiles(arg.value)
		}
		if len(names) == 0 {
			continue
		}
		text := strings.Join(names[:min(len(names), namedFiles)], ", ")
		if len(names) > 1 {
			text = Plural(len(names), "file") + ": " + text
		}
		if len(names) > namedFiles {
			text += ", …"
		}
		return text, append(list[:i:i], list[i+1:]...)
	}
	return "", list
}

// editedFiles are the paths in a list of objects that have one each.
func editedFiles(list string) []string {
	var files []struct {
		Path string `json:"path"`
	}
	if json.Unmarshal([]byte(list), &files) != nil {
		return nil
	}
	var names []string
	for _, file := range files {
		if name := Line(file.Path); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// patchedFiles are the files that a patch names.
func patchedFiles(patch string) []string {
	var names []string
	for line := range strings.Lines(patch) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(line, mark); ok && Line(name) != "" {
				names = append(names, Line(name))
			}
		}
	}
	return names
}

// detailsOf says the short ones among a call's arguments, such as an offset. A
// setting that is off is not told.
func detailsOf(list []argument) string {
	var details []string
	for _, arg := range list {
		if text := detail(arg); text != "" {
			details = append(details, text)
		}
	}
	return strings.Join(details, " · ")
}

// detail says one argument, "" where it is too long for that.
func detail(arg argument) string {
	name, value := Line(arg.name), Line(arg.value)
	switch {
	case slices.Contains(shownByResult[:], arg.name):
		return ""
	case arg.text && value == "":
		return name + ` ""`
	case arg.text && strings.Contains(arg.value, "\n"), widths().StringWidth(value) > detailWidth && !isList(arg):
		return ""
	case arg.text:
		return name + " " + value
	case value == "true":
		return name
	case value == "false", value == "null":
		return ""
	case isList(arg):
		return listDetail(name, value)
	default:
		return name + " " + value
	}
}

// isList tells a list of objects, which say nothing in short.
func isList(arg argument) bool {
	return !arg.text && strings.HasPrefix(arg.value, "[") && strings.Contains(arg.value, "{")
}

// listDetail counts the objects of a list that has more than one.
func listDetail(name, value string) string {
	var list []json.RawMessage
	if json.Unmarshal([]byte(value), &list) != nil || len(list) < 2 {
		return ""
	}
	return strconv.Itoa(len(list)) + " " + name
}

// joinDetails puts details behind a text.
func joinDetails(text, details string) string {
	switch {
	case details == "":
		return text
	case text == "":
		return "· " + details
	default:
		return text + " · " + details
	}
}
