package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/sandbox"
)

// Bounds on a registry's silence. Its first answer to a pull that was asked for
// may take a while; after that, a pull that moves sends progress all the time.
const (
	firstAnswer = time.Minute
	stalledPull = 2 * time.Minute
)

// errNoAnswer is the cause of a pull that was given up.
var errNoAnswer = errors.New("the registry does not answer")

// Image looks an image up on the engine and reports whether it is there. It asks
// no registry. Ref is a name or an id.
func (e *Engine) Image(ctx context.Context, ref string) (sandbox.Image, bool, error) {
	found, ok, err := e.inspectImage(ctx, ref)
	if err != nil || !ok {
		return sandbox.Image{}, false, err
	}
	return describeImage(ref, found), true, nil
}

// EnsureImage returns an image that containers can be made from, and fetches it
// when the engine does not have it: the default image is built, any other is
// pulled. An image that is there is taken as it is, without a question to any
// registry. What goes on is written to progress, redrawn in place when that is a
// terminal; nil discards. An image for a platform that the engine cannot run is
// an error; one that runs under emulation is a line of progress.
func (e *Engine) EnsureImage(ctx context.Context, ref string, progress io.Writer) (sandbox.Image, error) {
	found, ok, err := e.inspectImage(ctx, ref)
	if err != nil {
		return sandbox.Image{}, err
	}
	report := newProgress(progress)
	defer report.close()
	if !ok {
		found, err = e.fetchImage(ctx, ref, report)
		if err != nil {
			return sandbox.Image{}, err
		}
	}
	if err := e.checkPlatform(ref, found, report); err != nil {
		return sandbox.Image{}, err
	}
	return describeImage(ref, found), nil
}

// fetchImage brings an image that is missing onto the engine.
func (e *Engine) fetchImage(ctx context.Context, ref string, report *progress) (image.InspectResponse, error) {
	if isImageID(ref) {
		return image.InspectResponse{}, fmt.Errorf("the engine has no image with the id %s; give a name that can be pulled", ref)
	}
	named, err := reference.ParseDockerRef(ref)
	if err != nil {
		return image.InspectResponse{}, fmt.Errorf("%q is no image name: %w", ref, err)
	}
	if reference.FamiliarName(named) == images.Repository {
		if reference.FamiliarString(named) != images.Tag() {
			// Nobody publishes these images, so a registry that has one under
			// this name got it from a stranger.
			return image.InspectResponse{}, fmt.Errorf("the engine has no image %s, and this belljar's own is %s; leave out --image to use it",
				ref, images.Tag())
		}
		if _, err := e.buildDefault(ctx, report); err != nil {
			return image.InspectResponse{}, err
		}
	} else {
		report.say("pulling %s", ref)
		if err := e.pull(ctx, ref, firstAnswer, report); err != nil {
			return image.InspectResponse{}, fmt.Errorf("pulling %s: %w; check the name and the engine's way to the registry", ref, err)
		}
	}
	found, ok, err := e.inspectImage(ctx, ref)
	if err != nil {
		return image.InspectResponse{}, err
	}
	if !ok {
		return image.InspectResponse{}, fmt.Errorf("the engine has no image %s although fetching it went well; another program may have removed it: try again", ref)
	}
	return found, nil
}

// pull fetches an image from its registry. First bounds the time until the
// registry's first answer.
func (e *Engine) pull(ctx context.Context, ref string, first time.Duration, report *progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(first, func() {
		cancel(fmt.Errorf("%w (waited %s)", errNoAnswer, first))
	})
	defer silence.Stop()
	stream, err := e.api.ImagePull(ctx, ref, image.PullOptions{})
	if err != nil {
		return pullError(ctx, err)
	}
	defer stream.Close()
	err = readMessages(stream, func(m message) {
		// Engines may announce a pull before they have asked; a message about
		// a part of the image cannot come before the registry's answer.
		if m.ID == "" {
			return
		}
		silence.Reset(stalledPull)
		report.update("", strings.TrimSpace(m.ID+" "+m.Status+" "+m.Progress))
	})
	return pullError(ctx, err)
}

// pullError is err or what had the pull stopped.
func pullError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	text := strings.TrimPrefix(oneLine(err.Error()), "Error response from daemon: ")
	return &pullFailure{text: text, err: err}
}

// pullFailure is an engine's report, put into one line.
type pullFailure struct {
	text string
	err  error
}

func (f *pullFailure) Error() string { return f.text }
func (f *pullFailure) Unwrap() error { return f.err }

// inspectImage looks an image up; a missing one is no error.
func (e *Engine) inspectImage(ctx context.Context, ref string) (image.InspectResponse, bool, error) {
	found, err := e.api.ImageInspect(ctx, ref)
	switch {
	case errdefs.IsNotFound(err):
		return image.InspectResponse{}, false, nil
	case err != nil:
		return image.InspectResponse{}, false, fmt.Errorf("looking for the image %s: %s", ref, oneLine(err.Error()))
	}
	return found, true, nil
}

// describeImage names an image for records. The digest is that of the registry
// that ref names: an image may have come from several.
func describeImage(ref string, found image.InspectResponse) sandbox.Image {
	described := sandbox.Image{Ref: ref, ID: found.ID}
	if len(found.RepoDigests) == 0 {
		return described
	}
	_, described.Digest, _ = strings.Cut(found.RepoDigests[0], "@")
	named, err := reference.ParseDockerRef(ref)
	if err != nil {
		return described
	}
	for _, known := range found.RepoDigests {
		name, digest, _ := strings.Cut(known, "@")
		if name == reference.FamiliarName(named) || name == named.Name() {
			described.Digest = digest
		}
	}
	return described
}

// isImageID tells an id from a name, which never has this form.
func isImageID(ref string) bool {
	hex, ok := strings.CutPrefix(ref, "sha256:")
	if !ok {
		hex = ref
	}
	return (ok || len(hex) == 64) && hex != "" && strings.Trim(hex, "0123456789abcdef") == ""
}
