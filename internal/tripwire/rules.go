package tripwire

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fileRules name the files that are watched in every folder, by what obeys
// them.
func fileRules() map[string]string {
	rules := map[string]string{}
	for what, names := range map[string]string{
		"git":                    ".gitmodules .gitattributes .gitconfig",
		hooksWord:                ".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml .lefthook.yml lefthook.yaml .overcommit.yml",
		"shells":                 ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .login .logout .cshrc .tcshrc .kshrc config.fish",
		"environment managers":   ".envrc .env .tool-versions .mise.toml mise.toml",
		"editors":                ".vimrc .gvimrc .exrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .dir-locals-2.el .emacs",
		"debuggers and shells":   ".gdbinit .lldbinit .pdbrc .irbrc .pryrc .Rprofile .octaverc .perldb",
		"continuous integration": ".gitlab-ci.yml .travis.yml .drone.yml .woodpecker.yml Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml",
		"development containers": ".devcontainer.json",
		"package managers":       ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs",
		"agents":                 "AGENTS.md CLAUDE.md GEMINI.md .mcp.json .cursorrules .windsurfrules .clinerules .aider.conf.yml",
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
		"editors":                ".vscode .idea .zed .fleet .vim .nvim .emacs.d",
		"continuous integration": ".github .gitlab .circleci .buildkite .woodpecker .gitea .forgejo",
		"development containers": ".devcontainer",
		"package managers":       ".cargo .bundle .mvn",
		"agents":                 ".claude .cursor .codex .gemini .continue .roo .kiro",
		"environment managers":   ".mise",
		"programs at login":      ".config .ssh",
	} {
		for _, name := range strings.Fields(names) {
			rules[name] = what
		}
	}
	return rules
}

// dependencies is the folder of thousands of other projects, each with files of
// these names that nobody opens. Only repositories are watched in it.
const dependencies = "node_modules"

// isRepository tells whether a folder with these names in it is a repository of
// git: also a bare one, which git finds under any name, and that of a worktree.
func isRepository(dir string, entries []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == name })
	}
	return path.Base(dir) == ".git" || has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// What the files of a repository are reported as.
const (
	gitWord   = "git"
	hooksWord = "git hooks"
)

// repositoryFiles are the files of a repository that git obeys, and
// repositoryFolders what of it is walked; the rest holds only data.
func repositoryFiles() []string {
	return []string{"config", "config.worktree", "commondir", "info/attributes", "rebase-merge/git-rebase-todo"}
}

func repositoryFolders() []string { return []string{"modules", "worktrees"} }

// usesDrivers tells whether attributes name programs of git's configuration;
// others only say which files are text.
func usesDrivers(attributes []byte) bool {
	return regexp.MustCompile(`\b(filter|diff|merge)=`).Match(attributes)
}

// elsewhere finds the folder of hooks and the files that a repository's
// configuration takes from somewhere else, as written there.
func elsewhere(config []byte) (hooks, includes []string) {
	form := regexp.MustCompile(`(?im)^[ \t]*(hookspath|path)[ \t]*=[ \t]*"?([^"#;\r\n]+)`)
	for _, match := range form.FindAllSubmatch(config, -1) {
		value := strings.TrimSpace(string(match[2]))
		if strings.EqualFold(string(match[1]), "path") {
			includes = append(includes, value)
		} else {
			hooks = append(hooks, value)
		}
	}
	return hooks, includes
}
