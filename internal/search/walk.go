// Package search finds files by their names and lines by their text in a
// workspace that untrusted code changes meanwhile.
//
// A walk goes from one start folder down, on several processors, and opens each
// folder once, by its name in the one above. It follows no link, opens nothing
// but folders and regular files, leaves out .git and what ignore files name,
// and is bounded in time, in depth and in the names of a folder. Hidden files
// are seen like others. What comes back has a fixed order, which does not
// depend on how fast a processor was.
package search

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/belljar/belljar/internal/workspace"
)

// Bounds of one walk.
const (
	// MaxDepth is how many folders deep it goes.
	MaxDepth = 256
	// MaxNames is how many names of one folder it sees.
	MaxNames = 200_000
	// maxWorkers bounds the goroutines of one walk: beyond a few of them it is
	// the kernel's locks that are waited for.
	maxWorkers = 8
	// batch is how many files of one folder are visited at a stretch, so that
	// several workers share a large one.
	batch = 64
)

// Walked says what a walk has left out.
type Walked struct {
	// Ignored counts files and folders that ignore files leave out.
	Ignored int64
	// Unreadable counts folders and files that could not be opened.
	Unreadable int64
	// Starved counts those that could not be opened because the process, or
	// the system, has as many files open as it may.
	Starved int64
	// Deep counts folders below MaxDepth, Large those with more than MaxNames
	// names.
	Deep, Large int64
	// RulesCut counts the ignore files of which rules were passed over, because
	// they are too long or too many.
	RulesCut int64
	// Stopped is set when the context was done before the end.
	Stopped bool
}

// A visitor is told of what a walk finds. Each worker has its own.
type visitor interface {
	// skip tells that nothing below a folder can matter. The path is relative
	// to the start.
	skip(path string) bool
	// visit takes an entry that is not left out.
	visit(at *node, path string, e workspace.Entry)
}

// A node is a folder that is open while something below it is to be visited.
type node struct {
	folder *workspace.Folder
	uses   atomic.Int64
	rules  *level
	mount  string // its path from the mounted folder, ending in a slash, or ""
	rel    string // its path from the start, likewise
	depth  int
}

// release gives back one use of a node.
func (n *node) release() {
	if n.uses.Add(-1) == 0 {
		n.folder.Close()
	}
}

// A task is a folder to go into, or files to visit.
type task struct {
	at    *node
	into  string
	files []workspace.Entry
}

// A walk is under way.
type walk struct {
	options
	stop    atomic.Bool
	stopped func() bool // tells stop
	// panicked is what a worker has panicked with first.
	panicked atomic.Pointer[any]

	mu      sync.Mutex
	ready   sync.Cond
	tasks   []task // the last is taken first, which keeps few folders open
	pending int    // tasks that are not done

	ignored, unreadable, starved, deep, large atomic.Int64

	held atomic.Int64 // bytes of memory that rules have taken
	cut  atomic.Int64 // files of rules of which some were passed over
}

type options struct {
	ignored bool // what ignore files leave out is seen as well
	ordered bool // go by the order of names, as far as several workers do
	folders bool // folders are visited, too
}

// run walks from the folder, which it closes, and tells the visitors, one for
// each worker.
func run(ctx context.Context, w *workspace.Workspace, from *workspace.Folder, opts options, visitors []visitor) Walked {
	k := &walk{options: opts}
	k.ready.L = &k.mu
	k.stopped = k.stop.Load
	defer context.AfterFunc(ctx, func() { k.stop.Store(true) })()
	top := &node{folder: from, mount: below(from)}
	if !opts.ignored {
		top.rules = k.above(w, from)
	}
	top.uses.Store(1)
	k.pending = 1
	k.enter(top, visitors[0])
	top.release()
	k.done()
	var running sync.WaitGroup
	for _, v := range visitors {
		running.Go(func() { k.work(v) })
	}
	running.Wait()
	if value := k.panicked.Load(); value != nil {
		panic(*value)
	}
	return Walked{
		Ignored: k.ignored.Load(), Unreadable: k.unreadable.Load(), Starved: k.starved.Load(),
		Deep: k.deep.Load(), Large: k.large.Load(), RulesCut: k.cut.Load(), Stopped: ctx.Err() != nil,
	}
}

// workers is how many goroutines a walk has.
func workers() int { return min(runtime.GOMAXPROCS(0), maxWorkers) }

// work takes tasks until there are none and none can come.
func (k *walk) work(v visitor) {
	for {
		k.mu.Lock()
		for len(k.tasks) == 0 && k.pending > 0 {
			k.ready.Wait()
		}
		if len(k.tasks) == 0 {
			k.mu.Unlock()
			return
		}
		last := len(k.tasks) - 1
		t := k.tasks[last]
		k.tasks[last] = task{}
		k.tasks = k.tasks[:last]
		k.mu.Unlock()
		k.perform(t, v)
	}
}

// perform does a task to its end. A panic ends the walk, and is left to the
// caller's goroutine, where what is around a call can hold it.
func (k *walk) perform(t task, v visitor) {
	defer k.done()
	defer t.at.release()
	defer func() {
		if value := recover(); value != nil {
			k.stop.Store(true)
			k.panicked.CompareAndSwap(nil, &value)
		}
	}()
	k.do(t, v)
}

// done takes a task off those that are pending.
func (k *walk) done() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending--; k.pending == 0 {
		k.ready.Broadcast()
	}
}

func (k *walk) do(t task, v visitor) {
	switch {
	case k.stop.Load():
	case t.into == "":
		k.visit(t.at, t.files, v)
	case t.at.depth+1 > MaxDepth:
		k.deep.Add(1)
	case !v.skip(t.at.rel + t.into):
		folder, err := t.at.folder.Folder(t.into)
		if err != nil {
			k.failed(err)
			return
		}
		n := &node{
			folder: folder, rules: t.at.rules, depth: t.at.depth + 1,
			mount: t.at.mount + t.into + "/", rel: t.at.rel + t.into + "/",
		}
		n.uses.Store(1)
		k.enter(n, v)
		n.release()
	}
}

// failed counts what could not be opened.
func (k *walk) failed(err error) {
	switch {
	case changed(err):
	case starved(err):
		k.starved.Add(1)
	default:
		k.unreadable.Add(1)
	}
}

// starved tells that too many files are open.
func starved(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// changed tells whether something could not be opened because it is gone, or
// became something else, since its folder was read. That is nothing to tell.
func changed(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENXIO) || errors.Is(err, workspace.ErrFileType) || errors.Is(err, workspace.ErrChanged)
}

// enter reads a folder, visits its first files and leaves the rest as tasks.
func (k *walk) enter(n *node, v visitor) {
	entries, all, err := n.folder.Entries(MaxNames)
	if err != nil {
		k.failed(err)
	}
	if !all && err == nil {
		k.large.Add(1)
	}
	if !k.options.ignored {
		n.rules = k.with(n.rules, n, entries)
	}
	files, folders := k.sort(n, entries)
	if k.folders {
		for _, e := range folders {
			v.visit(n, n.rel+e.Name, e)
		}
	}
	first := files[:min(len(files), batch)]
	k.leave(n, files[len(first):], folders)
	k.visit(n, first, v)
}

// sort splits what is not left out into folders and all else. When the walk is
// stopped there is nothing.
func (k *walk) sort(n *node, entries []workspace.Entry) (files, folders []workspace.Entry) {
	if k.ordered {
		slices.SortFunc(entries, func(a, b workspace.Entry) int { return cmp.Compare(a.Name, b.Name) })
	}
	files = entries[:0]
	for _, e := range entries {
		isDir := e.Kind == workspace.KindFolder
		if k.stop.Load() {
			return nil, nil
		}
		if e.Name == ".git" || e.Kind == workspace.KindSpecial {
			continue
		}
		if n.rules != nil && n.rules.ignored(n.mount+e.Name, isDir, k.stopped) {
			k.ignored.Add(1)
			continue
		}
		if isDir {
			folders = append(folders, e)
		} else {
			files = append(files, e)
		}
	}
	return files, folders
}

// leave makes tasks, the first to be done last.
func (k *walk) leave(n *node, files, folders []workspace.Entry) {
	count := len(folders) + (len(files)+batch-1)/batch
	if count == 0 {
		return
	}
	n.uses.Add(int64(count))
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range slices.Backward(folders) {
		k.tasks = append(k.tasks, task{at: n, into: e.Name})
	}
	for end := len(files); end > 0; {
		begin := (end - 1) / batch * batch
		k.tasks = append(k.tasks, task{at: n, files: files[begin:end]})
		end = begin
	}
	k.pending += count
	k.ready.Broadcast()
}

func (k *walk) visit(n *node, files []workspace.Entry, v visitor) {
	for _, e := range files {
		if k.stop.Load() {
			return
		}
		v.visit(n, n.rel+e.Name, e)
	}
}
