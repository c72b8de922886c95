package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/belljar/belljar/sandbox"
)

// readOnlyScript tries to write where only the image may be, unless the mount
// itself says that it can be done.
const readOnlyScript = `options=$(awk '$2 == "/" { o = $4 } END { print o }' /proc/mounts)
echo "options $options"
case "$options" in ro|ro,*) for d in / /usr /etc /var /opt; do
	if (: > "$d/belljar-probe") 2>/dev/null; then echo "writable $d"; rm -f "$d/belljar-probe"; fi
done;; esac`

// checkReadOnly proves that the image's file system cannot be changed.
func (e *examination) checkReadOnly(ctx context.Context) (string, error) {
	facts, err := e.facts(ctx, readOnlyScript)
	if err != nil {
		return "", err
	}
	if e.opts.Spec.RootFS == sandbox.RootWritable {
		return "", fmt.Errorf("%w: the system can be changed; what is changed is thrown away with the sandbox", errWeak)
	}
	if options := facts["options"]; options != "ro" && !strings.HasPrefix(options, "ro,") {
		return "", fmt.Errorf("the root file system is mounted %q, not read-only", options)
	}
	if dir, ok := facts["writable"]; ok {
		return "", fmt.Errorf("%s can be written to", dir)
	}
	return "the image cannot be changed", nil
}

// checkPrivileges proves that a command has no way to more rights.
func (e *examination) checkPrivileges(ctx context.Context) (string, error) {
	facts, err := e.facts(ctx, `awk '/^(Cap|NoNewPrivs|Seccomp)/ { sub(":", "", $1); print $1, $2 }' /proc/self/status`)
	if err != nil {
		return "", err
	}
	allowed, root := uint64(0), e.opts.Spec.User == sandbox.UserRoot
	if root {
		allowed = rootCapabilities
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		value, ok := facts[set]
		if set == "CapAmb" && !ok {
			continue // a kernel of the sandbox's own may have no ambient set
		}
		if bits, err := strconv.ParseUint(value, 16, 64); err != nil || bits&^allowed != 0 {
			return "", fmt.Errorf("the capability set %s is %q, more than is given (%x)", set, value, allowed)
		}
	}
	has := "no capabilities"
	if root {
		has = "root with " + strings.Join(sandbox.RootCapabilities(), ", ")
	}
	if !e.sandbox.Info().Capabilities.Seccomp {
		return e.privileges(has + "; system calls go to a kernel of the sandbox's own")
	}
	if facts["NoNewPrivs"] != "1" {
		return "", errors.New("a set-uid program could gain rights: no_new_privs is not set")
	}
	if facts["Seccomp"] != "2" {
		return "", errors.New("no seccomp filter is in force; start the engine with its default profile")
	}
	return e.privileges(has + ", no_new_privs, seccomp")
}

// rootCapabilities are the bits of sandbox.RootCapabilities, by the numbers of
// capabilities(7): CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, KILL 5, SETGID 6, SETUID 7.
const rootCapabilities = 1<<0 | 1<<1 | 1<<3 | 1<<5 | 1<<6 | 1<<7

// privileges is the end of a check that holds, with what commands may do.
func (e *examination) privileges(has string) (string, error) {
	if e.opts.Spec.User == sandbox.UserRoot {
		return "", fmt.Errorf("%w: %s", errWeak, has)
	}
	return has, nil
}

// networkScript writes every interface but the loopback one, and every route
// that does not stay on it.
const networkScript = `awk -F: 'NR > 2 { gsub(" ", "", $1); if ($1 != "lo") print "interface " $1 }' /proc/net/dev
awk 'NR > 1 && $1 != "lo" { print "route " $1 }' /proc/net/route
if [ -r /proc/net/ipv6_route ]; then awk '$10 != "lo" { print "route " $10 }' /proc/net/ipv6_route; fi`

// checkNetwork proves that there is no way out by network.
func (e *examination) checkNetwork(ctx context.Context) (string, error) {
	if e.sandbox.Info().Network != sandbox.NetworkNone {
		return "", fmt.Errorf("the network in force is %q", e.sandbox.Info().Network)
	}
	out, err := e.probe(ctx, networkScript)
	if err != nil {
		return "", err
	}
	if seen := strings.Join(strings.Fields(out), " "); seen != "" {
		return "", fmt.Errorf("there is a way out: %s", seen)
	}
	return "only loopback, no route", nil
}

// checkHostFiles proves that a file outside the workspace cannot be read, by
// its path nor by the detours through /proc, and that the engine's socket is
// not inside.
func (e *examination) checkHostFiles(ctx context.Context) (string, error) {
	outside := filepath.Join(e.dir, "outside")
	canary := rand.Text()
	if err := os.WriteFile(outside, []byte(canary), 0o644); err != nil {
		return "", fmt.Errorf("making a file that must not be seen: %w", err)
	}
	path := quote(outside)
	out, err := e.probe(ctx, `for f in `+path+` /proc/1/root`+path+` /proc/1/cwd/../`+path+` ../outside; do
	cat "$f" 2>/dev/null
done
for s in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock; do
	if [ -e "$s" ]; then echo "socket $s"; fi
done`)
	if err != nil {
		return "", err
	}
	if strings.Contains(out, canary) {
		return "", fmt.Errorf("a file outside the workspace was read from inside (%s)", outside)
	}
	for line := range strings.Lines(out) {
		if socket, ok := strings.CutPrefix(line, "socket "); ok {
			return "", fmt.Errorf("the engine's socket is inside, at %s", strings.TrimSpace(socket))
		}
	}
	return "nothing outside the workspace was found", nil
}

// checkHostProcesses proves that the host's processes are out of sight. Where
// the engine runs in a machine of its own, this host has no such process and
// the check still holds.
func (e *examination) checkHostProcesses(ctx context.Context) (string, error) {
	facts, err := e.facts(ctx, `for n in pid net mnt ipc uts; do echo "$n $(readlink /proc/self/ns/$n)"; done
for p in /proc/[0-9]*; do echo "${p##*/} process"; done`)
	if err != nil {
		return "", err
	}
	processes := 0
	for _, value := range facts {
		if value == "process" {
			processes++
		}
	}
	for _, name := range []string{"pid", "net", "mnt", "ipc", "uts"} {
		host, err := os.Readlink("/proc/self/ns/" + name)
		if err == nil && facts[name] == host {
			return "", fmt.Errorf("the sandbox shares the %s namespace with this process", name)
		}
		// A kernel of the sandbox's own need not show what it does not share.
		if facts[name] == "" && e.sandbox.Info().Capabilities.Seccomp {
			return "", fmt.Errorf("the %s namespace cannot be read inside", name)
		}
	}
	return fmt.Sprintf("%d of its own, none of the host's", processes), nil
}

// seesInside tells whether a file of this machine is seen inside: an image may
// have another one of the same name.
func (e *examination) seesInside(ctx context.Context, file string) (bool, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return false, nil // it went meanwhile
	}
	out, err := e.probe(ctx, sizeAndTime(file))
	whole, _, _ := strings.Cut(strings.TrimSpace(out), ".")
	return whole == fmt.Sprint(info.Size(), info.ModTime().Unix()), err
}

// sizeAndTime is a script that tells the size of a file and when it was changed,
// perhaps in parts of a second. Not every kernel has the call that a recent stat
// makes.
func sizeAndTime(file string) string {
	file = quote(file)
	return "stat -c '%s %Y' " + file + " 2>/dev/null || find " + file + " -maxdepth 0 -printf '%s %T@\n' 2>/dev/null; true"
}

// checkSecrets proves that this process's environment is not inside. The
// values are looked for out here: handing them over would give them away.
func (e *examination) checkSecrets(ctx context.Context) (string, error) {
	out, err := e.probe(ctx, `env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'`)
	if err != nil {
		return "", err
	}
	for _, secret := range e.opts.Secrets {
		if secret != "" && strings.Contains(out, secret) {
			return "", errors.New("a secret of this process's environment is visible inside")
		}
	}
	if out, err = e.probe(ctx, sizeAndTime("/")); err != nil {
		return "", err
	}
	if strings.TrimSpace(out) == "" {
		return "", fmt.Errorf("%w: neither stat nor find works in the image, without which keys cannot be looked for; no secret of this process was seen", errSkip)
	}
	for _, file := range e.opts.KeyFiles {
		seen, err := e.seesInside(ctx, file)
		if err != nil {
			return "", err
		}
		if seen {
			return "", fmt.Errorf("%s, where keys are kept, is there inside as well", file)
		}
	}
	seen := fmt.Sprintf("none of the %d secrets of this process", len(e.opts.Secrets))
	if len(e.opts.Secrets) == 1 {
		seen = "the one secret of this process"
	}
	return fmt.Sprintf("not inside: %s; nor where this user keeps keys, looked for: %d", seen, len(e.opts.KeyFiles)), nil
}
