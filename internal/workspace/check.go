package workspace

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Check resolves the folder that path names, "" being the current one, to an
// absolute host path without links. The folder must exist.
//
// Unless force is set it refuses folders that would hand the sandbox more than
// a task's files: the root and system folders, a home folder or what is above
// it, a folder with credentials directly in it, one that holds the socket of a
// container engine or of a key agent. sockets are host paths of further
// sockets to keep out, such as that of the engine in use.
func Check(path string, force bool, sockets ...string) (string, error) {
	if path == "" {
		path = "."
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding workspace %q: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if os.IsNotExist(err) {
		return "", fmt.Errorf("workspace %s does not exist: make it first, or name another folder with --workspace", abs)
	}
	if err != nil {
		return "", fmt.Errorf("finding workspace %q: %w", path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("finding workspace %q: %w", path, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("workspace %s is not a folder: name one with --workspace", real)
	}
	if force {
		return real, nil
	}
	if why := exposes(real, info, false, sockets); why != "" {
		return "", fmt.Errorf("workspace %s is refused: it %s, and the sandbox could read and change all of it; "+
			"make a folder for the task and name it with --workspace, or insist with --force-workspace", real, why)
	}
	return real, nil
}

// CheckEngineData refuses a folder that is, holds or lies in the folder where a
// container engine keeps its images and containers, "" where that is not known:
// all other containers could be changed through it.
func CheckEngineData(dir, root string) error {
	if root = resolved(root); !touches(dir, root) {
		return nil
	}
	return fmt.Errorf("workspace %s is refused: the engine keeps its containers and images in %s; "+
		"make a folder for the task elsewhere and name it with --workspace, or insist with --force-workspace", dir, root)
}

// exposes says what a folder would hand over, or "". readOnly says that nothing
// in it could be changed.
func exposes(dir string, info os.FileInfo, readOnly bool, sockets []string) string {
	if filepath.Dir(dir) == dir {
		return "is the root of the file system"
	}
	for _, home := range homes(info) {
		if within(home, dir) {
			if home == dir {
				return "is a home folder"
			}
			return "is above the home folder " + home
		}
	}
	if system(dir) && !(readOnly && systemData(dir)) {
		return "is a system folder"
	}
	for _, name := range credentials() {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "has " + name + " directly in it"
		}
	}
	for _, socket := range append(knownSockets(info), sockets...) {
		if socket = resolved(socket); socket != "" && within(socket, dir) {
			return "holds the socket " + socket
		}
	}
	return ""
}

// touches tells whether a folder is, holds or lies in another, "" being none.
// Both are clean and absolute.
func touches(dir, other string) bool {
	return other != "" && (within(dir, other) || within(other, dir))
}

// within tells whether path is dir or below it. Both are clean and absolute.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved gives an existing path without links, or "".
func resolved(path string) string {
	if path == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(real) {
		return ""
	}
	return real
}

// homes are the home folders at stake: the invoking user's, as the environment
// and as the user database have it, and the folder's owner's.
func homes(info os.FileInfo) []string {
	var found []string
	add := func(home string) {
		if home = resolved(home); home != "" {
			found = append(found, home)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		add(home)
	}
	if me, err := user.Current(); err == nil {
		add(me.HomeDir)
	}
	if uid, _, ok := uidGid(info); ok {
		if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
			add(u.HomeDir)
		}
	}
	return found
}

// credentials are what people's keys are kept in.
func credentials() []string {
	return []string{
		".ssh", ".aws", ".gnupg", ".docker", ".kube", ".azure", ".gcloud",
		".password-store", ".netrc", ".git-credentials", ".pgpass",
	}
}

// system tells whether dir is one of the system's own folders, or lies in one
// that holds nothing but the system. A folder for temporary files is one that
// all programs share; a folder in it is somebody's own.
func system(dir string) bool {
	if runtime.GOOS == "windows" {
		return within(resolved(os.Getenv("SystemRoot")), dir)
	}
	for _, top := range []string{
		"/proc", "/sys", "/dev", "/etc", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/share", "/usr/include",
		"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/run/containerd", "/run/docker",
		"/System", "/Library", "/private/etc",
	} {
		if isBelow(dir, top) && !isBelow(dir, "/dev/shm") {
			return true
		}
	}
	for _, name := range []string{
		"/dev/shm", "/home", "/media", "/opt", "/root", "/run", "/run/user", "/tmp",
		"/usr", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/local/share", "/usr/src",
		"/var", "/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool", "/var/tmp",
		"/Applications", "/Users", "/Volumes", "/private", "/private/tmp", "/private/var", "/private/var/folders",
	} {
		if dir == name || dir == resolved(name) {
			return true
		}
	}
	return false
}

// systemData tells whether dir is one of the system's folders that hold what
// every program may read, and no state and no keys: what is below /usr, and the
// certificates of authorities.
func systemData(dir string) bool {
	isStrictlyBelow := func(top string) bool { return dir != top && within(dir, top) }
	return isStrictlyBelow("/usr") || isStrictlyBelow("/etc/ssl") && !within(dir, "/etc/ssl/private")
}

// isBelow tells whether dir is top or below it, also where top is a link.
func isBelow(dir, top string) bool {
	real := resolved(top)
	return within(dir, top) || real != "" && within(dir, real)
}

// knownSockets are where engines, key agents and what starts programs on demand
// listen. Whoever can talk to one of them is as mighty as the user.
func knownSockets(info os.FileInfo) []string {
	sockets := []string{
		"/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
		"/run/dbus/system_bus_socket", "/run/systemd/private",
		strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://"),
		os.Getenv("SSH_AUTH_SOCK"),
	}
	for _, dir := range runtimeFolders(info) {
		for _, name := range []string{"docker.sock", "podman/podman.sock", "bus", "systemd/private", "keyring/control", "keyring/ssh"} {
			sockets = append(sockets, filepath.Join(dir, name))
		}
		for _, pattern := range []string{"gnupg/S.*", "gnupg/d.*/S.*"} {
			found, _ := filepath.Glob(filepath.Join(dir, pattern)) // a name with marks of patterns finds none
			sockets = append(sockets, found...)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		sockets = append(sockets, filepath.Join(home, ".docker", "run", "docker.sock"))
	}
	return sockets
}

// runtimeFolders are where the programs of the users at stake listen: the
// invoking user, also where the environment does not say where, and the
// folder's owner.
func runtimeFolders(info os.FileInfo) []string {
	var folders []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		folders = append(folders, dir)
	}
	uids := []int{os.Getuid()}
	if uid, _, ok := uidGid(info); ok {
		uids = append(uids, uid)
	}
	for _, uid := range uids {
		folders = append(folders, filepath.Join("/run/user", strconv.Itoa(uid)))
	}
	return folders
}
