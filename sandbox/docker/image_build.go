package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/sandbox"
)

// firstAnswerForBase bounds the wait for a registry when there is another way to
// the image.
const firstAnswerForBase = 15 * time.Second

// BuildDefault builds the default image, also when it is there already, and
// returns it. It is built from its Dockerfile where a registry gives the base
// image, else from Debian's packages. What goes on is written to progress,
// redrawn in place when that is a terminal; nil discards. Builds of several
// processes of one user wait for each other, and one that waited takes what the
// other built. When ctx is done nothing is left behind.
func (e *Engine) BuildDefault(ctx context.Context, progress io.Writer) (sandbox.Image, error) {
	report := newProgress(progress)
	defer report.close()
	return e.buildDefault(ctx, report)
}

func (e *Engine) buildDefault(ctx context.Context, report *progress) (sandbox.Image, error) {
	tag := images.Tag()
	before, _, err := e.inspectImage(ctx, tag)
	if err != nil {
		return sandbox.Image{}, err
	}
	unlock, err := e.lockBuilds(ctx, report)
	if err != nil {
		return sandbox.Image{}, err
	}
	defer unlock()
	now, ok, err := e.inspectImage(ctx, tag)
	if err != nil {
		return sandbox.Image{}, err
	}
	if ok && now.ID != before.ID {
		return describeImage(tag, now), nil // Built while we waited.
	}
	start := time.Now()
	if err := e.buildEitherWay(ctx, report); err != nil {
		if ctx.Err() != nil {
			return sandbox.Image{}, fmt.Errorf("building the default image: %w", context.Cause(ctx))
		}
		return sandbox.Image{}, fmt.Errorf("building the default image: %w", err)
	}
	built, ok, err := e.inspectImage(ctx, tag)
	if err != nil {
		return sandbox.Image{}, err
	}
	if !ok {
		return sandbox.Image{}, fmt.Errorf("the default image %s is missing although building it went well; another program may have removed it: try again", tag)
	}
	if before.ID != "" && before.ID != built.ID {
		// The one that lost its name is of no use to anyone. One that
		// containers still use stays, and "image ls" shows it.
		_, _ = e.api.ImageRemove(ctx, before.ID, image.RemoveOptions{PruneChildren: true})
	}
	report.say("built %s (%d MB) in %s", tag, built.Size/1e6, time.Since(start).Round(time.Second))
	return describeImage(tag, built), nil
}

// buildEitherWay tries the Dockerfile and then Debian's packages.
func (e *Engine) buildEitherWay(ctx context.Context, report *progress) error {
	err := e.ensureBase(ctx, report)
	why := fmt.Sprintf("the base image %s cannot be pulled (%v)", images.Base(), err)
	if err == nil {
		if err = e.buildDockerfile(ctx, report); err == nil {
			return nil
		}
		why = fmt.Sprintf("the build from %s failed (%v)", images.Base(), err)
	} else if noRegistry(err) {
		why = "no registry answers"
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e.log.Debug("no image from the Dockerfile", "error", err)
	if debianErr := e.checkDebianWay(); debianErr != nil {
		return fmt.Errorf("%s, and it cannot be built from Debian's packages: %w", why, debianErr)
	}
	report.say("%s; building the default image from Debian's packages (one to three minutes)", why)
	if debianErr := e.buildFromDebian(ctx, report); debianErr != nil {
		return fmt.Errorf("%s, and building it from Debian's packages: %w", why, debianErr)
	}
	return nil
}

// noRegistry tells a registry that is out of reach from one that said no. It
// decides only on the words that a person reads: engines report either as an
// internal error of their own, some of them as text in the middle of an answer.
func noRegistry(err error) bool {
	if errors.Is(err, errNoAnswer) {
		return true
	}
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc([]string{
		"dial tcp", "lookup ", "no such host", "refused", "unreachable", "reset by peer", "timeout", "timed out",
		"deadline exceeded", "handshake", "server misbehaving", "unexpected eof", "proxyconnect",
		"500 internal", "502 bad", "503 service", "504 gateway", "status code 50", "status: 50",
	}, func(words string) bool { return strings.Contains(text, words) })
}

// ensureBase has the base image on the engine.
func (e *Engine) ensureBase(ctx context.Context, report *progress) error {
	base := images.Base()
	_, ok, err := e.inspectImage(ctx, base)
	if err != nil || ok {
		return err
	}
	report.update("looking for a registry that has "+base, "")
	return e.pull(ctx, base, firstAnswerForBase, report)
}

// buildDockerfile has the engine build the default image from its Dockerfile.
// The classic builder is asked for because every engine has it and it needs no
// session beside the request.
func (e *Engine) buildDockerfile(ctx context.Context, report *progress) error {
	content, err := tarContext(images.Default())
	if err != nil {
		return err
	}
	report.say("building the default image from %s", images.Base())
	response, err := e.api.ImageBuild(ctx, bytes.NewReader(content), build.ImageBuildOptions{
		Version:     build.BuilderV1,
		Tags:        []string{images.Tag()},
		Remove:      true,
		ForceRemove: true,
	})
	if err != nil {
		return pullError(ctx, err)
	}
	defer response.Body.Close()
	var step string
	err = readMessages(response.Body, func(m message) {
		for line := range strings.Lines(m.Stream) {
			if strings.HasPrefix(strings.ToLower(line), "step ") {
				step = line
			}
			report.update(step, line)
		}
	})
	return pullError(ctx, err)
}

// tarContext packs a build context. It holds the files of the context and
// nothing else, so no ignore file is needed.
func tarContext(content fs.FS) ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	err := fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(content, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: name, Mode: int64(images.Mode(info)), Size: int64(len(data)), Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("packing the image's build context: %w", err)
	}
	return buffer.Bytes(), nil
}

// importImage makes an untagged image of a root file system and returns its id.
func (e *Engine) importImage(ctx context.Context, rootfs io.Reader) (string, error) {
	stream, err := e.api.ImageImport(ctx, image.ImportSource{Source: rootfs, SourceName: "-"}, "", image.ImportOptions{
		Message: "built from Debian's packages",
		Changes: []string{
			"ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"ENV LANG=C.UTF-8",
			"LABEL " + imageLabel + "=default",
			`CMD ["bash"]`,
		},
	})
	if err != nil {
		return "", pullError(ctx, err)
	}
	defer stream.Close()
	var id string
	if err := readMessages(stream, func(m message) {
		// The last line is the id alone.
		if status := strings.TrimSpace(m.Status); isImageID(status) {
			id = status
		}
	}); err != nil {
		return "", pullError(ctx, err)
	}
	if id == "" {
		return "", errors.New("the engine gave the imported image no id")
	}
	return id, nil
}
