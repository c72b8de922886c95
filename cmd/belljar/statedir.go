package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/sandbox"
)

// stateDirFor is the folder for the record of a run on a workspace, with
// further folders mounted. None may lie in the other: what runs in the sandbox
// could change its own record, or read those of other runs.
func stateDirFor(folder string, mounts []sandbox.Mount) (string, error) {
	dir, err := trajectory.StateDir()
	if err != nil {
		return "", err
	}
	if err := keepRecordsOut(dir, mounts); err != nil {
		return "", err
	}
	existing, whole, err := resolveExisting(dir)
	if err != nil {
		return "", fmt.Errorf("finding the state folder: %w; set BELLJAR_STATE_DIR to a folder that can be written", err)
	}
	const advice = "so the sandbox could change its own record; set BELLJAR_STATE_DIR to a folder elsewhere"
	if isBelow(existing, folder) {
		return "", refusedf("the state folder %s lies inside the workspace %s, %s", dir, folder, advice)
	}
	if whole && isBelow(folder, existing) {
		return "", refusedf("the workspace %s lies inside the state folder %s, %s, or choose another workspace", folder, dir, advice)
	}
	return dir, nil
}

// keepRecordsOut refuses mounts through which what runs in the sandbox could
// come to the records in a state folder.
func keepRecordsOut(dir string, mounts []sandbox.Mount) error {
	for _, m := range mounts {
		existing, whole, err := resolveExisting(dir)
		if err == nil && (isBelow(existing, m.Source) || whole && isBelow(m.Source, existing)) {
			return refusedf("the mounted folder %s and the state folder %s lie in each other, so the sandbox could come to "+
				"the records of runs; set BELLJAR_STATE_DIR to a folder elsewhere, or mount another", m.Source, dir)
		}
	}
	return nil
}

// resolveExisting gives the deepest part of a path that exists, without links,
// and whether that is all of it.
func resolveExisting(path string) (existing string, whole bool, err error) {
	for whole = true; ; whole = false {
		existing, err = filepath.EvalSymlinks(path)
		parent := filepath.Dir(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || parent == path {
			return existing, whole, err
		}
		path = parent
	}
}

// isBelow tells whether a folder is dir or lies in it. Folders are compared by
// what they are, not by name: a file system may not tell the case of letters.
// path holds no links.
func isBelow(path, dir string) bool {
	target, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, target) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// nameFor is the shortest name that show takes for a session.
func nameFor(dir, id string) string {
	sessions, err := trajectory.List(dir)
	if err != nil {
		return id
	}
	var ids []string
	for _, session := range sessions {
		ids = append(ids, session.ID)
	}
	return shortestName(id, ids)
}
