package docker

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/image"
)

// normalArch turns what kernels and engines call an architecture into the name
// that images carry.
func normalArch(name string) string {
	switch name {
	case "x86_64", "x86-64":
		return "amd64"
	case "aarch64", "arm64v8":
		return "arm64"
	case "armv7l", "armv6l", "armhf":
		return "arm"
	case "i386", "i686", "x86":
		return "386"
	default:
		return name
	}
}

// runsNatively reports whether an engine's processors run an image's programs.
func runsNatively(engine, image string) bool {
	return engine == image || engine == "amd64" && image == "386" || engine == "arm64" && image == "arm"
}

// checkPlatform tells before anything starts that an image is for other
// machines; the engine itself says "exec format error" at the first command.
func (e *Engine) checkPlatform(ref string, found image.InspectResponse, report *progress) error {
	return e.checkPlatformWith(binfmtFolder, ref, found, report)
}

func (e *Engine) checkPlatformWith(binfmt, ref string, found image.InspectResponse, report *progress) error {
	imageOS, imageArch := found.Os, normalArch(found.Architecture)
	engineOS, engineArch := e.info.OSType, normalArch(e.info.Architecture)
	if imageOS == "" || imageArch == "" || engineOS == "" || engineArch == "" {
		return nil // Old images carry no platform; only trying can tell.
	}
	platforms := fmt.Sprintf("the image %s is for %s/%s, the engine runs %s/%s", ref, imageOS, imageArch, engineOS, engineArch)
	if imageOS != engineOS {
		return fmt.Errorf("%s; choose an image for %s", platforms, engineOS)
	}
	if runsNatively(engineArch, imageArch) {
		return nil
	}
	if e.lacksEmulation(binfmt, imageArch) {
		return fmt.Errorf("%s, and there is no emulation for it; choose an image for %s/%s, or install qemu-user-static",
			platforms, engineOS, engineArch)
	}
	report.say("%s; its programs run under emulation, if at all, and much slower", platforms)
	return nil
}

// binfmtFolder is where the kernel lists interpreters for foreign programs.
const binfmtFolder = "/proc/sys/fs/binfmt_misc"

// lacksEmulation reports whether it is certain that programs for arch cannot
// run. That can be known only where the engine shares this machine's kernel.
func (e *Engine) lacksEmulation(binfmt, arch string) bool {
	if runtime.GOOS != "linux" || !e.Local() || strings.Contains(e.info.OperatingSystem, "Docker Desktop") {
		return false
	}
	entries, err := os.ReadDir(binfmt)
	if err != nil || !slices.ContainsFunc(entries, func(entry os.DirEntry) bool { return entry.Name() == "status" }) {
		return false // Not mounted here; the list may still be filled.
	}
	names := map[string][]string{
		"amd64": {"x86_64", "rosetta"}, "arm64": {"aarch64"}, "arm": {"arm"}, "386": {"i386"},
	}[arch]
	if names == nil {
		names = []string{arch}
	}
	for _, entry := range entries {
		for _, name := range names {
			if entry.Name() == name || strings.HasSuffix(entry.Name(), "-"+name) {
				return false
			}
		}
	}
	return true
}
