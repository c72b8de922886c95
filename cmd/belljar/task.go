package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxTask bounds a task that is read from a file or from stdin.
const maxTask = 1 << 20

// readTask gives the task of a run: the one argument, or what -f names, where
// "-" is stdin for both.
func (a *app) readTask(args []string, file string) (string, error) {
	switch {
	case len(args) > 1:
		return "", usagef("the task is one argument, but %d were given; put it in quotes", len(args))
	case len(args) == 1 && file != "":
		return "", usagef("the task was given twice, as an argument and by -f; give one of them")
	case len(args) == 1 && args[0] != "-":
		return checkTask(args[0])
	case len(args) == 0 && file == "":
		return "", usagef("there is no task; give it as an argument, or by -f FILE, where - is stdin")
	}
	var in io.Reader = a.stdin
	if file != "" && file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return "", refused(fmt.Errorf("reading the task: %w", err))
		}
		defer opened.Close()
		in = opened
	}
	text, err := io.ReadAll(io.LimitReader(in, maxTask+1))
	if err != nil {
		return "", fmt.Errorf("reading the task: %w", err)
	}
	return checkTask(string(text))
}

// checkTask refuses a text that cannot be a task.
func checkTask(text string) (string, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return "", usagef("the task is empty; say what is to be done")
	case len(text) > maxTask:
		return "", usagef("the task is longer than 1 MiB; put the bulk of it in a file of the workspace")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", usagef("the task is not text in UTF-8")
	}
	return text, nil
}
