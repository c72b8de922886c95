package tripwire

import (
	"path"

	"github.com/belljar/belljar/internal/gitdir"
)

// first looks at what stands under fixed names: what is watched at the root, and
// in the repositories that are known what git obeys. It comes before the bounds
// count, so that no number of other names hides it.
func (k *walk) first(known map[string]bool) {
	for name, what := range fileRules() {
		k.file(name, what)
	}
	k.leading(gitdir.Name)
	k.expected(gitdir.Name)
	for dir := range known {
		k.expected(dir)
	}
}

// expected looks at where a repository is, or may have come to be: without a
// valid one in .git git takes the folder around it for one, if it looks so.
func (k *walk) expected(dir string) {
	k.perhaps(dir)
	around := path.Dir(dir)
	if path.Base(dir) == gitdir.Name && looksLikeRepository(func(name string) bool {
		_, err := k.root.Lstat(path.Join(around, name))
		return err == nil
	}) {
		k.repository(around)
	}
}

// perhaps looks at a repository if there is a folder, or a link to one here.
func (k *walk) perhaps(dir string) {
	if info, err := k.root.Stat(dir); err == nil && info.IsDir() {
		k.repository(dir)
	}
}

// leading looks at a file or a link .git and at the repository that it leads to.
func (k *walk) leading(name string) {
	k.file(name, gitWord)
	s, there := k.files[name]
	if !there {
		return
	}
	k.tops[path.Dir(name)] = true
	k.perhaps(name)
	if to, ok := gitdir.Target(s.kept); ok {
		k.leads(path.Dir(name), to)
	}
}

// leads looks at the repository that another folder, or a file .git in it,
// leads git to.
func (k *walk) leads(from, to string) {
	if at, ok := k.below(from, to); ok {
		k.perhaps(at)
	}
}

// repository looks at a repository of git, and at what it takes from elsewhere
// in the workspace.
func (k *walk) repository(dir string) {
	if k.repositories[dir] {
		return
	}
	k.repositories[dir] = true
	mark := ""
	if path.Base(dir) == gitdir.Name {
		k.tops[path.Dir(dir)] = true
	} else {
		k.tops[dir] = true
		mark = path.Join(dir, gitdir.Head)
	}
	for _, name := range gitdir.Files() {
		what := gitWord
		switch {
		case name == gitdir.Worktree:
			what = worktreeWord
		case name == gitdir.Common && path.Base(dir) == gitdir.Name:
			what = commonWord // a worktree's has one by right
		}
		k.name(path.Join(dir, name), what, mark)
	}
	hooks := path.Join(dir, gitdir.Hooks)
	k.name(hooks, gitWord, mark) // a folder is not a file; a link in its place is
	k.hooks(hooks, mark)
	for _, name := range gitdir.Folders() {
		k.queue = append(k.queue, folder{path: path.Join(dir, name)})
	}
	for _, name := range []string{"config", gitdir.Worktree} {
		k.configuration(path.Join(dir, name), path.Dir(dir), maxIncludes)
	}
	if to, ok := gitdir.CommonTarget(k.files[path.Join(dir, gitdir.Common)].kept); ok {
		k.leads(dir, to)
	}
}

// hooks looks at the hooks in a folder that something names, and has the rest
// of it looked at later.
func (k *walk) hooks(dir, via string) {
	for _, name := range gitdir.HookNames() {
		k.led(path.Join(dir, name), hooksWord, via)
	}
	k.queue = append(k.queue, folder{path: dir, all: hooksWord, perhaps: true, via: via})
}

// repositoryOf is the nearest folder above a path that git has a repository for.
func (k *walk) repositoryOf(name string) string {
	for name != "." {
		name = path.Dir(name)
		if k.tops[name] {
			return name
		}
	}
	return ""
}
