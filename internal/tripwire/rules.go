package tripwire

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/belljar/belljar/internal/gitdir"
)

// fileRules name the files that are watched in every folder, by what obeys
// them.
func fileRules() map[string]string {
	rules := map[string]string{}
	for what, names := range map[string]string{
		"git": ".gitmodules .gitattributes .gitconfig",
		hooksWord: ".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml lefthook-local.yml .lefthook-local.yml .overcommit.yml " +
			".lintstagedrc .lintstagedrc.json .lintstagedrc.yml .lintstagedrc.yaml .lintstagedrc.js .lintstagedrc.cjs .lintstagedrc.mjs lint-staged.config.js lint-staged.config.cjs lint-staged.config.mjs",
		"shells":                 ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .login .logout .cshrc .tcshrc .kshrc config.fish",
		"environment managers":   ".envrc .env .autoenv .autoenv.zsh .tool-versions .mise.toml mise.toml .mise.local.toml mise.local.toml flake.nix shell.nix devenv.nix devbox.json",
		"editors":                ".vimrc .gvimrc .exrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .dir-locals-2.el .emacs",
		"debuggers and shells":   ".gdbinit .lldbinit .pdbrc .irbrc .pryrc .byebugrc .rdbgrc .Rprofile .Renviron .octaverc .perldb .ghci .ocamlinit .iex.exs jupyter_config.py jupyter_server_config.py jupyter_notebook_config.py",
		"continuous integration": ".gitlab-ci.yml .travis.yml .drone.yml .woodpecker.yml Jenkinsfile azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml appveyor.yml .appveyor.yml .cirrus.yml .cirrus.star .build.yml buildspec.yml cloudbuild.yaml",
		"development containers": ".devcontainer.json .gitpod.yml",
		"package managers":       ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs rust-toolchain rust-toolchain.toml",
		"agents":                 "AGENTS.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md opencode.json .goosehints .mcp.json .cursorrules .windsurfrules .clinerules .aider.conf.yml",
	} {
		for _, name := range strings.Fields(names) {
			rules[name] = what
		}
	}
	return rules
}

// folderRules name the folders that are watched with all they hold.
func folderRules() map[string]string {
	rules := map[string]string{}
	for what, names := range map[string]string{
		hooksWord:                ".husky .githooks",
		"editors":                ".vscode .idea .zed .fleet .helix .theia .vim .nvim .emacs.d",
		"continuous integration": ".github .gitlab .circleci .buildkite .woodpecker .gitea .forgejo .semaphore .teamcity .builds",
		"development containers": ".devcontainer",
		"package managers":       ".cargo .bundle .mvn",
		"agents":                 ".claude .cursor .codex .gemini .continue .roo .kiro .opencode .windsurf .amazonq .junie .agents",
		"environment managers":   ".mise",
		"programs at login":      ".config .ssh",
	} {
		for _, name := range strings.Fields(names) {
			rules[name] = what
		}
	}
	return rules
}

// partRules name, for folders that are not watched as a whole, what of them is,
// with what obeys it: files, and folders with a slash at the end.
func partRules() map[string]map[string]string {
	return map[string]map[string]string{
		".hg":   {"hgrc": "mercurial", "hgrc-not-shared": "mercurial", "sharedpath": "mercurial"},
		".jj":   {"repo": "jujutsu", "repo/config.toml": "jujutsu", "workspace-config.toml": "jujutsu"},
		".yarn": {"releases/": "package managers", "plugins/": "package managers"},
	}
}

// environmentMark is a file that every environment of Python has, and
// environmentFiles are what editors and shells run of one by themselves.
const environmentMark = "pyvenv.cfg"

func environmentFiles() []string {
	return []string{"bin/activate", "bin/activate.fish", "bin/activate.csh", "bin/python", "bin/python3"}
}

// editorProject is the extension of files that editors open as a folder, with
// its tasks.
const editorProject = ".code-workspace"

// dependencies is the folder of thousands of other projects, each with files of
// these names that nobody opens. Only repositories are watched in it.
const dependencies = "node_modules"

// isRepository tells whether a folder with these names in it is a repository of
// git: also a bare one, which git finds under any name, and that of a worktree.
func isRepository(dir string, entries []fs.DirEntry) bool {
	return path.Base(dir) == gitdir.Name || looksLikeRepository(func(name string) bool {
		return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == name })
	})
}

// looksLikeRepository tells the same of a folder of another name by what it has.
func looksLikeRepository(has func(name string) bool) bool {
	return has(gitdir.Head) && (has("objects") && has("refs") || has(gitdir.Common))
}

// What the files of a repository are reported as.
const (
	gitWord      = "git"
	hooksWord    = "git hooks"
	commonWord   = "git, which takes its configuration and hooks from where this leads: run no git here before"
	worktreeWord = "git, where extensions.worktreeConfig is set: run no git here before"
	pythonWord   = "Python environments"
)

// usesDrivers tells whether attributes name programs of git's configuration;
// others only say which files are text.
func usesDrivers(attributes []byte) bool {
	return regexp.MustCompile(`\b(filter|diff|merge)=`).Match(attributes)
}

// IsGits tells whether it is git that obeys the file.
func (c Change) IsGits() bool { return strings.HasPrefix(c.What, gitWord) }

// rank puts what counts most first, since a report shows only so many: what git
// obeys in the repository at the root, be it in .git or the root itself, then in
// others, then the rest.
func (c Change) rank() int {
	switch {
	case c.IsGits() && (strings.HasPrefix(c.Path, gitdir.Name) || gitdir.Obeyed(c.Path)):
		return 0
	case c.IsGits():
		return 1
	default:
		return 2
	}
}

// elsewhere finds what a repository's configuration takes from somewhere else,
// as written there: folders of hooks, files that are included, and programs that
// are run, of which only the first word is looked at.
func elsewhere(config []byte) (hooks, includes, programs []string) {
	form := regexp.MustCompile(`(?im)^[ \t]*(?:\[[^]]*\][ \t]*)?([a-z]+)[ \t]*=[ \t]*"?([^"#;\r\n]+)`)
	for _, match := range form.FindAllSubmatch(config, -1) {
		value := strings.TrimSpace(string(match[2]))
		switch strings.ToLower(string(match[1])) {
		case "hookspath":
			hooks = append(hooks, value)
		case "path", "attributesfile":
			includes = append(includes, value)
		case "askpass", "clean", "cmd", "command", "driver", "editor", "fsmonitor", "helper", "pager", "process",
			"program", "smudge", "sshcommand", "textconv":
			if words := strings.Fields(strings.TrimPrefix(value, "!")); len(words) > 0 {
				programs = append(programs, words[0])
			}
		}
	}
	return hooks, includes, programs
}
