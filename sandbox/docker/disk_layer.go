package docker

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
)

// layerFolder is the folder of a container's writable layer on this machine, ""
// where it is unknown or may not be looked into. An engine that keeps images in
// containerd does not tell it, but the kernel knows what the container's root is
// mounted from.
func layerFolder(found container.InspectResponse) string {
	if found.ContainerJSONBase == nil || found.State == nil {
		return ""
	}
	folder := found.GraphDriver.Data["UpperDir"]
	if folder == "" && found.State.Pid > 0 {
		process := "/proc/" + strconv.Itoa(found.State.Pid)
		// The number may be one of another machine, or another process's now.
		groups, _ := os.ReadFile(process + "/cgroup")
		if !strings.Contains(string(groups), found.ID) {
			return ""
		}
		mounts, _ := os.ReadFile(process + "/mountinfo")
		folder = upperOfRoot(string(mounts))
	}
	dir, err := os.Open(folder)
	if err != nil {
		return ""
	}
	dir.Close()
	return folder
}

// upperOfRoot finds the upper folder of the overlay that is mounted at the root
// of a mountinfo (proc(5)), "" where another file system is.
func upperOfRoot(mountinfo string) string {
	upper := ""
	for line := range strings.Lines(mountinfo) {
		mount, source, ok := strings.Cut(strings.TrimSpace(line), " - ")
		place, kind := strings.Fields(mount), strings.Fields(source)
		if !ok || len(place) < 5 || place[4] != "/" || len(kind) < 3 {
			continue
		}
		upper = "" // what is mounted later covers it
		if kind[0] != "overlay" {
			continue
		}
		for option := range strings.SplitSeq(kind[2], ",") {
			if value, ok := strings.CutPrefix(option, "upperdir="); ok && filepath.IsAbs(value) {
				upper = value
			}
		}
	}
	return upper
}
