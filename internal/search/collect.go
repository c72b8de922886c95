package search

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A collector keeps the first files in the order of their paths, whatever order
// they come in, and as many as the limits let pass: the same each time.
type collector struct {
	opts GrepOptions

	mu    sync.Mutex
	files []FileMatch
	total int64 // matches
	count int64 // files

	// cut is the last path that is of interest: what comes after it cannot be
	// among the first. It is nil until the limits are reached.
	cut atomic.Pointer[string]
}

func newCollector(opts GrepOptions) *collector { return &collector{opts: opts} }

// beyond tells that nothing of a file, or of all in a folder, can be among the
// first. Where all is counted nothing is beyond.
func (c *collector) beyond(path string) bool {
	if c.opts.Mode == Counts {
		return false
	}
	cut := c.cut.Load()
	return cut != nil && comparePaths(path, *cut) > 0
}

// take adds a file.
func (c *collector) take(found FileMatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += found.Total
	c.count++
	at, _ := slices.BinarySearchFunc(c.files, found.Path, func(f FileMatch, path string) int { return comparePaths(f.Path, path) })
	c.files = slices.Insert(c.files, at, found)
	shown, bytes := 0, 0
	for i, f := range c.files {
		// The file that goes over a limit is kept, as the proof that there is
		// more, and cut at the end.
		if c.full(shown, bytes) {
			clear(c.files[i+1:])
			c.files = c.files[:i+1]
			cut := f.Path
			c.cut.Store(&cut)
			return
		}
		shown += c.weight(f)
		bytes += f.bytes
	}
}

// full tells that nothing more fits.
func (c *collector) full(shown, bytes int) bool {
	return shown >= c.opts.Limit || c.opts.Mode == Content && bytes >= c.opts.Bytes
}

// weight is what a file takes of the limit.
func (c *collector) weight(f FileMatch) int {
	if c.opts.Mode == Content {
		return int(f.Shown)
	}
	return 1
}

// finish hands over what was collected, cut at the limits.
func (c *collector) finish(m *Matches) {
	m.Total, m.TotalFiles = c.total, c.count
	shown, bytes := 0, 0
	for _, f := range c.files {
		if c.full(shown, bytes) {
			m.More, m.Full = true, shown < c.opts.Limit
			return
		}
		if c.opts.Mode == Content {
			f.trim(c.opts.Limit-shown, c.opts.Bytes-bytes, c.opts.Context)
		}
		shown += c.weight(f)
		bytes += f.bytes
		m.Files = append(m.Files, f)
	}
}

// trim keeps the first matches, with the context after them. One stays in any
// case.
func (f *FileMatch) trim(matches, bytes, context int) {
	kept, size, end := 0, 0, 0
	for _, next := range f.ends[:min(len(f.ends), matches)] {
		for _, line := range f.Lines[end:next] {
			size += len(line.Text)
		}
		if kept > 0 && size > bytes {
			break
		}
		kept, end = kept+1, next
	}
	if f.Shown = int64(kept); kept == len(f.ends) {
		return
	}
	for range context {
		if end == len(f.Lines) || f.Lines[end].Match || f.Lines[end].Number > f.Lines[end-1].Number+1 {
			break
		}
		end++
	}
	f.Lines = f.Lines[:end]
}
