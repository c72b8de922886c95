package docker

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/belljar/belljar/images"
)

// debianRelease is the release that the image is built from, that of the
// Dockerfile's base.
const debianRelease = "bookworm"

// debianSources is what apt in the image reads from, wherever its packages came
// from: a mirror of this machine may not be visible elsewhere, and its address
// may hold a password.
const debianSources = `deb http://deb.debian.org/debian bookworm main
deb http://deb.debian.org/debian bookworm-updates main
deb http://security.debian.org/debian-security bookworm-security main
`

// packageName is what a Debian package may be called. Names are put into a
// shell's text below.
var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)

// mmdebstrapArgs are the arguments that make mmdebstrap write the root file
// system of the default image to its standard output. Mode is one of
// mmdebstrap's. Sources for apt are read from standard input when fromStdin.
func mmdebstrapArgs(mode string, fromStdin bool) ([]string, error) {
	packages := images.Packages()
	for _, name := range packages {
		if !packageName.MatchString(name) {
			return nil, fmt.Errorf("%q in the image's list is no package name", name)
		}
	}
	args := []string{
		"--mode=" + mode, "--variant=apt", "--format=tar",
		"--include=" + strings.Join(packages, ","),
		`--aptopt=APT::Install-Recommends "false"`,
		`--aptopt=Acquire::Languages "none"`,
		"--customize-hook=" + cleanHook(packages),
		debianRelease, "-",
	}
	if fromStdin {
		args = append(args, "-")
	}
	return args, nil
}

// cleanHook is run on the finished root file system, which is its first
// argument. It removes what belongs to this machine or to the moment of the
// build, and what the base image of the Dockerfile leaves out as well. Leaving
// that out while unpacking would start a filter for every single package.
func cleanHook(packages []string) string {
	return strings.Join([]string{
		`set -eu`,
		`cd "$1"`,
		`rm -rf etc/apt/sources.list.d/*`,
		`printf '%s' '` + debianSources + `' > etc/apt/sources.list`,
		`rm -f etc/resolv.conf etc/hostname`,
		`rm -rf var/log/* var/cache/debconf/*-old var/lib/dpkg/*-old`,
		`rm -rf usr/share/groff/* usr/share/info/* usr/share/lintian/* usr/share/linda/* usr/share/locale/* usr/share/man/*`,
		`find usr/share/doc -depth ! -type d ! -name copyright -delete`,
		`find usr/share/doc -mindepth 1 -depth -type d -empty -delete`,
		`printf '%s\n' ` + excludedPaths + ` > etc/dpkg/dpkg.cfg.d/belljar`,
		`mkdir -p usr/share/belljar`,
		`printf '%s\n' ` + strings.Join(packages, " ") + ` > usr/share/belljar/` + images.PackagesFile,
	}, "\n")
}

// excludedPaths keep packages that are installed later as small, as words of a
// shell.
const excludedPaths = `'path-exclude=/usr/share/doc/*' 'path-include=/usr/share/doc/*/copyright' ` +
	`'path-exclude=/usr/share/groff/*' 'path-exclude=/usr/share/info/*' 'path-exclude=/usr/share/lintian/*' ` +
	`'path-exclude=/usr/share/linda/*' 'path-exclude=/usr/share/locale/*' 'path-exclude=/usr/share/man/*'`

// hostSources returns apt's sources of this machine that serve the release, one
// a line, or "" when the machine runs another distribution or none of its
// sources will do: then mmdebstrap's own are used. Root is the machine's root.
func hostSources(root fs.FS) string {
	release, err := fs.ReadFile(root, "etc/os-release")
	if err != nil {
		return ""
	}
	fields := keyValues(string(release), "=")
	if fields["id"] != "debian" || fields["version_codename"] != debianRelease {
		return ""
	}
	names := []string{"etc/apt/sources.list"}
	if more, err := fs.Glob(root, "etc/apt/sources.list.d/*"); err == nil {
		names = append(names, more...)
	}
	var lines []string
	for _, name := range names {
		data, err := fs.ReadFile(root, name)
		if err != nil {
			continue
		}
		switch path.Ext(name) {
		case ".list":
			lines = append(lines, oneLineSources(string(data))...)
		case ".sources":
			lines = append(lines, stanzaSources(string(data))...)
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	// Updates alone are no distribution.
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, " "+debianRelease+" main") }) {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// oneLineSources reads the form "deb [options] uri suite component...".
func oneLineSources(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb ")
		if !ok {
			continue
		}
		options := ""
		rest = strings.TrimSpace(rest)
		if after, ok := strings.CutPrefix(rest, "["); ok {
			options, rest, _ = strings.Cut(after, "]")
		}
		fields := strings.Fields(rest)
		if len(fields) < 3 {
			continue
		}
		signedBy := ""
		for _, option := range strings.Fields(options) {
			if value, ok := strings.CutPrefix(option, "signed-by="); ok {
				signedBy = value
			}
		}
		lines = append(lines, usableSources(fields[:1], fields[1:2], fields[2:], signedBy)...)
	}
	return lines
}

// stanzaSources reads the form of paragraphs of fields.
func stanzaSources(text string) []string {
	var lines []string
	for _, stanza := range regexp.MustCompile(`\n\s*\n`).Split(text, -1) {
		fields := keyValues(stanza, ":")
		if !slices.Contains(strings.Fields(fields["types"]), "deb") || strings.EqualFold(fields["enabled"], "no") {
			continue
		}
		signedBy, ok := fields["signed-by"]
		if ok && signedBy == "" {
			signedBy = "a key in the lines that follow"
		}
		lines = append(lines, usableSources(strings.Fields(fields["uris"]), strings.Fields(fields["suites"]),
			strings.Fields(fields["components"]), signedBy)...)
	}
	return lines
}

// usableSources keeps what comes from Debian itself: other publishers call their
// suites after Debian's releases too, but sign with keys of their own.
func usableSources(uris, suites, components []string, signedBy string) []string {
	if !slices.Contains(components, "main") {
		return nil
	}
	if signedBy != "" && !strings.HasPrefix(path.Base(signedBy), "debian-archive-") {
		return nil
	}
	var lines []string
	for _, uri := range uris {
		scheme, rest, _ := strings.Cut(uri, "://")
		if scheme != "http" && scheme != "https" || !strings.Contains(rest, "/debian") {
			continue
		}
		for _, suite := range suites {
			switch suite {
			case debianRelease, debianRelease + "-updates", debianRelease + "-security":
				lines = append(lines, fmt.Sprintf("deb %s %s main", uri, suite))
			}
		}
	}
	return lines
}

// keyValues reads lines of a key, a separator and a value. Keys are returned in
// lower case.
func keyValues(text, separator string) map[string]string {
	values := make(map[string]string)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, " ") {
			continue
		}
		if key, value, ok := strings.Cut(line, separator); ok {
			values[strings.ToLower(key)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return values
}
