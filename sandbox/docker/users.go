package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/strslice"

	"github.com/belljar/belljar/internal/oneline"
)

// maxUserFile bounds what is taken of an image's passwd or group file, bytes.
const maxUserFile = 1 << 20

// settleUser decides on the home folder and on the files that name users. Root
// has those of the image, which installers of packages change.
func (p *plan) settleUser(ctx context.Context) (err error) {
	p.home = homeInside
	if !p.root() {
		p.passwd, err = p.engine.userFiles(ctx, p)
		return err
	}
	if p.spec.Limits.Home == 0 {
		p.home, err = p.rootHome(ctx)
	}
	return err
}

// rootHome is root's home folder in the image.
func (p *plan) rootHome(ctx context.Context) (string, error) {
	for _, kv := range p.imageEnv {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok && filepath.IsAbs(home) {
			return home, nil
		}
	}
	passwd, _, _, err := p.engine.usersOf(ctx, p.image.ID)
	if err != nil {
		return "", err
	}
	for entry := range strings.Lines(string(passwd)) {
		fields := strings.Split(strings.TrimSpace(entry), ":")
		if len(fields) > 5 && fields[2] == "0" && strings.HasPrefix(fields[5], "/") {
			return fields[5], nil
		}
	}
	return "/root", nil
}

// usersOf returns the files that name users in an image, and the name of the
// folder in the cache for what is made of them.
func (e *Engine) usersOf(ctx context.Context, imageID string) (passwd, group []byte, name string, err error) {
	sum := sha256.Sum256([]byte(imageID))
	name = hex.EncodeToString(sum[:8])
	dir, err := e.cacheDir("users", name)
	if err != nil {
		return nil, nil, "", err
	}
	passwd, group, err = e.imageUsers(ctx, imageID, dir)
	return passwd, group, name, err
}

// userFiles returns a folder with a passwd and a group file for the container:
// the image's, plus a line for the commands' user where it has none, so that
// whoami, ssh and others work with any number.
func (e *Engine) userFiles(ctx context.Context, p *plan) (string, error) {
	passwd, group, name, err := e.usersOf(ctx, p.image.ID)
	if err != nil {
		return "", err
	}
	dir, err := e.cacheDir("users", name, strconv.Itoa(p.uid)+"-"+strconv.Itoa(p.gid))
	if err != nil {
		return "", err
	}
	home := homeInside
	passwd = addLine(passwd, 2, p.uid, func(name string) string {
		return fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh", name, p.uid, p.gid, home)
	})
	group = addLine(group, 2, p.gid, func(name string) string { return fmt.Sprintf("%s:x:%d:", name, p.gid) })
	for name, content := range map[string][]byte{"passwd": passwd, "group": group} {
		path := filepath.Join(dir, name)
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, content) {
			used(path)
			continue
		}
		if err := writeFile(path, 0o644, bytes.NewReader(content)); err != nil {
			return "", fmt.Errorf("writing the container's %s: %w", name, err)
		}
	}
	return dir, nil
}

// addLine adds a line for a number unless the file has one; field says which
// of the fields, separated by colons, holds the number.
func addLine(file []byte, field, number int, line func(name string) string) []byte {
	name := "belljar"
	for entry := range strings.Lines(string(file)) {
		fields := strings.Split(strings.TrimSpace(entry), ":")
		if len(fields) > field && fields[field] == strconv.Itoa(number) {
			return file
		}
		if fields[0] == name {
			name += "_"
		}
	}
	if len(file) > 0 && !bytes.HasSuffix(file, []byte("\n")) {
		file = append(file, '\n')
	}
	return append(file, line(name)+"\n"...)
}

// imageUsers returns an image's own files, read once per image from a
// container that is never started.
func (e *Engine) imageUsers(ctx context.Context, imageID, dir string) (passwd, group []byte, err error) {
	passwd, err1 := os.ReadFile(filepath.Join(dir, "passwd"))
	group, err2 := os.ReadFile(filepath.Join(dir, "group"))
	if err1 == nil && err2 == nil {
		return passwd, group, nil
	}
	labels, err := ownerLabels("")
	if err != nil {
		return nil, nil, err
	}
	created, err := e.create(ctx, &container.Config{
		Image: imageID, Entrypoint: strslice.StrSlice{"/never"}, Labels: labels,
	}, &container.HostConfig{NetworkMode: "none"}, newName())
	if err != nil {
		return nil, nil, fmt.Errorf("reading the image's users: %w", err)
	}
	defer func() { err = oneline.Join(err, e.remove(created.ID)) }()
	if passwd, err = e.fileOf(ctx, created.ID, "/etc/passwd"); err != nil {
		return nil, nil, err
	}
	if group, err = e.fileOf(ctx, created.ID, "/etc/group"); err != nil {
		return nil, nil, err
	}
	if err := writeFile(filepath.Join(dir, "passwd"), 0o644, bytes.NewReader(passwd)); err != nil {
		return nil, nil, err
	}
	return passwd, group, writeFile(filepath.Join(dir, "group"), 0o644, bytes.NewReader(group))
}

// fileOf reads a small regular file of a container; one that is missing is
// empty.
func (e *Engine) fileOf(ctx context.Context, id, path string) ([]byte, error) {
	stream, _, err := e.api.CopyFromContainer(ctx, id, path)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the image's %s: %w", path, err)
	}
	defer stream.Close()
	in := tar.NewReader(stream)
	head, err := in.Next()
	if err != nil {
		return nil, fmt.Errorf("reading the image's %s: %w", path, err)
	}
	if head.Typeflag != tar.TypeReg || head.Size > maxUserFile {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(in, maxUserFile))
}
