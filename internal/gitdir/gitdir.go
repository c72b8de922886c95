// Package gitdir knows what of a repository's own folder git obeys, by the
// names that gitrepository-layout(5) and githooks(5) give it, and how one
// folder leads git to another.
package gitdir

import (
	"bytes"
	"path"
	"strings"
)

// Name is where git looks for a repository: a folder, or a file that leads to
// one.
const Name = ".git"

// Names in a repository's folder. Common and the file Name lead git to another
// folder.
const (
	Hooks  = "hooks"
	Common = "commondir"
	// Worktree is obeyed where the configuration has extensions.worktreeConfig.
	Worktree = "config.worktree"
	// Head is a file that every repository has.
	Head = "HEAD"
)

// Configuration are the files from which git takes its configuration, or where
// that is.
func Configuration() []string { return []string{"config", Worktree, Common} }

// Files are all files that make git run programs by themselves or with a
// configuration that was there before: attributes choose filters, and an
// unfinished rebase holds commands.
func Files() []string {
	return append(Configuration(), "info/attributes", "rebase-merge/git-rebase-todo")
}

// Folders are those of further repositories, of submodules and worktrees.
func Folders() []string { return []string{"modules", "worktrees"} }

// HookNames are the names under which git looks for hooks.
func HookNames() []string {
	return strings.Fields("applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg " +
		"post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update " +
		"reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman " +
		"p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change")
}

// Obeyed tells whether a path in a repository's folder is one of [Files] or of
// the hooks, of this repository or of one in [Folders], be it there or not.
// Case does not count, since there are file systems that do not tell it.
func Obeyed(name string) bool {
	parts := strings.Split(name, "/")
	for _, folder := range Folders() {
		if strings.EqualFold(parts[0], folder) {
			// Names of submodules have one part or more.
			for i := 2; i < len(parts); i++ {
				if own(parts[i:]) {
					return true
				}
			}
		}
	}
	return own(parts)
}

func own(parts []string) bool {
	for _, name := range Files() {
		if strings.EqualFold(path.Join(parts...), name) {
			return true
		}
	}
	return strings.EqualFold(parts[0], Hooks)
}

// Target is the path that a file [Name] leads to, from the folder that it is
// in; false for one that git does not take.
func Target(content []byte) (name string, ok bool) {
	rest, ok := bytes.CutPrefix(content, []byte("gitdir: "))
	name = line(rest)
	return name, ok && name != ""
}

// CommonTarget is the path that a file [Common] leads to, from the folder that
// it is in.
func CommonTarget(content []byte) (name string, ok bool) {
	name = line(content)
	return name, name != ""
}

// line takes off what git does not count of a path in a file.
func line(content []byte) string {
	return string(bytes.TrimRight(content, "\r\n"))
}
