package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"github.com/belljar/belljar/images"
)

// imageLabel marks the images that belljar built; its value is their kind.
const imageLabel = "belljar.image"

// ErrForeignImage is wrapped when an image is not removed because belljar did
// not make it and it was not named exactly.
var ErrForeignImage = errors.New("not an image of belljar")

// A LocalImage is an image on the engine that belljar built.
type LocalImage struct {
	// Ref is the image's name, "" when a newer build took it over.
	Ref string `json:"ref"`
	ID  string `json:"id"`
	// Size is in bytes.
	Size    int64     `json:"size"`
	Created time.Time `json:"created"`
	// Default marks the image that this version of belljar uses.
	Default bool `json:"default"`
}

// ListImages returns the images that belljar built, the newest first.
func (e *Engine) ListImages(ctx context.Context) ([]LocalImage, error) {
	found, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", imageLabel))})
	if err != nil {
		return nil, fmt.Errorf("listing the images: %s", oneLine(err.Error()))
	}
	list := []LocalImage{}
	for _, one := range found {
		local := LocalImage{ID: one.ID, Size: one.Size, Created: time.Unix(one.Created, 0).UTC()}
		refs := realTags(one.RepoTags)
		if len(refs) == 0 {
			list = append(list, local)
		}
		for _, ref := range refs {
			local.Ref, local.Default = ref, sameRef(ref, images.Tag())
			list = append(list, local)
		}
	}
	slices.SortFunc(list, func(a, b LocalImage) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// realTags leaves out what engines write for "no tag".
func realTags(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return tag == "<none>:<none>" })
}

// RemoveImage removes an image from the engine. One that belljar built may be
// named in any way; any other only by one of its names, with the tag, else the
// error wraps ErrForeignImage. An image that containers use stays.
func (e *Engine) RemoveImage(ctx context.Context, ref string) error {
	found, ok, err := e.inspectImage(ctx, ref)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf(`the engine has no image %s; "belljar image ls" lists those of belljar`, ref)
	}
	ours := found.Config != nil && found.Config.Labels[imageLabel] != ""
	if !ours && !slices.Contains(found.RepoTags, ref) {
		return fmt.Errorf("%s is %w: name it exactly, with its tag, to remove it", ref, ErrForeignImage)
	}
	_, err = e.api.ImageRemove(ctx, ref, image.RemoveOptions{PruneChildren: true})
	switch {
	case errdefs.IsConflict(err):
		return fmt.Errorf("the image %s is still used, so it stays: %s", ref, oneLine(err.Error()))
	case err != nil && !errdefs.IsNotFound(err):
		return fmt.Errorf("removing the image %s: %s", ref, oneLine(err.Error()))
	}
	return nil
}

// sameRef compares two names whatever way they are written: Podman puts the
// registry "localhost" before the names of local images.
func sameRef(a, b string) bool {
	left, err := reference.ParseDockerRef(a)
	if err != nil {
		return false
	}
	right, err := reference.ParseDockerRef(b)
	if err != nil {
		return false
	}
	if left.String() == right.String() {
		return true
	}
	return reference.Domain(left) == "localhost" && reference.Domain(right) == "docker.io" &&
		reference.Path(left) == reference.Path(right) && tagOf(left) == tagOf(right)
}

func tagOf(ref reference.Named) string {
	if tagged, ok := ref.(reference.Tagged); ok {
		return tagged.Tag()
	}
	return ""
}
