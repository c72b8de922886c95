package docker

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/belljar/belljar/internal/diskusage"
)

// heldFiles are those of a place that have no name any more and that something
// inside has open or mapped, so that they take as much as before.
type heldFiles struct {
	amount  diskAmount
	largest diskusage.Entry // relative to the place
}

// among adds the largest to the largest that have a name.
func (h heldFiles) among(named []diskusage.Entry) []diskusage.Entry {
	if h.largest.Bytes == 0 {
		return named
	}
	list := append(slices.Clone(named), diskusage.Entry{Path: h.largest.Path + " (deleted)", Bytes: h.largest.Bytes})
	slices.SortStableFunc(list, func(a, b diskusage.Entry) int { return int(min(max(b.Bytes-a.Bytes, -1), 1)) })
	return list
}

// addHeld adds what is held of each place to what was found there.
func (w *diskWatch) addHeld(ctx context.Context) {
	if len(w.parts) == 0 {
		return
	}
	list := make([]heldFiles, len(w.parts))
	w.held(ctx, func(file string, bytes int64) {
		i := w.placeOf(file)
		list[i].amount = list[i].amount.plus(diskAmount{bytes, 1})
		if bytes > list[i].largest.Bytes {
			list[i].largest = diskusage.Entry{Path: strings.TrimPrefix(file, path.Join("/", w.parts[i].shown)), Bytes: bytes}
		}
	})
	for i := range w.parts {
		if p := &w.parts[i]; p.known && list[i].amount.files > 0 {
			p.grown = p.grown.most(p.there.plus(list[i].amount).since(p.base))
			p.largest = list[i].among(p.largest)
		}
	}
}

// placeOf is the place that a path inside is in: that with the longest path, and
// the first one for what is in none.
func (w *diskWatch) placeOf(file string) int {
	found, length := 0, -1
	for i, p := range w.parts {
		if top := path.Join("/", p.shown); below(file, top) && len(top) > length {
			found, length = i, len(top)
		}
	}
	return found
}

// below tells whether a path is that of a folder, or of something in it.
func below(file, folder string) bool {
	return folder == "/" || file == folder || strings.HasPrefix(file, folder+"/")
}

// heldOpen looks at what the processes of the container hold, where they are
// this machine's. What is below a mount that is not watched is left out.
func (b *box) heldOpen(plan *plan) func(context.Context, func(string, int64)) {
	if !b.engine.Local() || b.engine.gvisor(b.info.Runtime) {
		return nil
	}
	return func(ctx context.Context, tell func(string, int64)) {
		diskusage.Deleted(ctx, processesOf(b.id), func(file string, bytes int64) {
			for _, m := range plan.spec.Mounts {
				if below(file, m.Target) {
					return
				}
			}
			tell(file, bytes)
		})
	}
}
