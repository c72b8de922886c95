package workspace

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"

	"github.com/belljar/belljar/sandbox"
)

// OwnerOf tells whom files in the workspace at the host path abs must belong
// to: the invoking user or, when root invokes, the owner of the folder. The
// umask is the process's. On systems without numbered users it is a plain
// user, 1000:1000 with umask 022.
func OwnerOf(abs string) (sandbox.Owner, error) {
	info, err := os.Stat(abs)
	if err != nil {
		return sandbox.Owner{}, fmt.Errorf("reading the owner of the workspace: %w", err)
	}
	uid, gid, ok := uidGid(info)
	if !ok {
		return sandbox.Owner{UID: 1000, GID: 1000, Umask: 0o022}, nil
	}
	umask, err := umask()
	if err != nil {
		return sandbox.Owner{}, fmt.Errorf("reading the umask: %w", err)
	}
	if me := os.Geteuid(); me != 0 || uid == 0 {
		groups, err := os.Getgroups()
		if err != nil {
			return sandbox.Owner{}, fmt.Errorf("reading the user's groups: %w", err)
		}
		return owner(me, os.Getegid(), groups, umask), nil
	}
	return owner(uid, gid, groupsOf(uid), umask), nil
}

// groupsOf gives the groups of a user as far as the host knows the user, which
// it need not: a folder can belong to a bare number.
func groupsOf(uid int) []int {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil
	}
	var groups []int
	for _, id := range ids {
		if gid, err := strconv.Atoi(id); err == nil {
			groups = append(groups, gid)
		}
	}
	return groups
}

// owner puts the groups in order, without the main one.
func owner(uid, gid int, groups []int, umask int) sandbox.Owner {
	slices.Sort(groups)
	groups = slices.DeleteFunc(slices.Compact(groups), func(g int) bool { return g == gid })
	return sandbox.Owner{UID: uid, GID: gid, Groups: groups, Umask: umask}
}
