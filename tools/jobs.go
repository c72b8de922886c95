package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

const (
	// MaxJobs is how many background jobs may run at once.
	MaxJobs = 8
	// keptJobs is how many jobs are known, those that have ended included.
	keptJobs = 32
	// maxJobTime is the longest timeout of a job. It stands for any that is
	// longer, and fits a Duration.
	maxJobTime = 365 * 24 * time.Hour
)

// JobsOptions are the settings of Jobs. The zero value is the default.
type JobsOptions struct {
	// Keep makes the place for all that one job writes, which is closed when
	// the job has ended; nil keeps only what was not yet read.
	Keep func() Keeper
	// Mask hides secrets in the text that names a job; nil hides none.
	Mask func(string) string
}

func (o JobsOptions) mask(text string) string {
	if o.Mask == nil {
		return text
	}
	return o.Mask(text)
}

// Jobs are the background jobs of one agent: commands that run on after the
// call that started them. What a job writes and nobody has read is kept as a
// head and a tail, within the bound of a result. Safe for concurrent use.
type Jobs struct {
	sandbox sandbox.Sandbox
	opts    JobsOptions
	running sync.WaitGroup // the jobs' goroutines

	mu     sync.Mutex
	closed bool
	count  int
	list   []*job // by the order of their start
}

// NewJobs makes an empty set of jobs in a sandbox, which the caller closes.
func NewJobs(sb sandbox.Sandbox, opts JobsOptions) *Jobs { return &Jobs{sandbox: sb, opts: opts} }

// Close ends every job and returns when all have ended. It takes as long as
// ending a command in the sandbox takes, and no time once that is closed. No
// job can be started afterwards. It may be called more than once.
func (j *Jobs) Close() error {
	j.mu.Lock()
	j.closed = true
	for _, job := range j.list {
		job.cancel()
	}
	j.mu.Unlock()
	j.running.Wait()
	return nil
}

// Running names the jobs that have not ended, with what they run.
func (j *Jobs) Running() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var names []string
	for _, job := range j.list {
		if !job.ended() {
			names = append(names, job.name().text)
		}
	}
	return names
}

// start runs a command as a job, which outlives the call's context. The error
// is for the model.
func (j *Jobs) start(ctx context.Context, cmd sandbox.Command) (*job, error) {
	if err := cmd.Check(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, errors.New("no job can be started any more: the run has ended")
	}
	if list := j.unended(); len(list) >= MaxJobs {
		return nil, fmt.Errorf("%d jobs run already, the most at once (%s): end one with bash_kill first", len(list), jobNames(list))
	}
	j.forget()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j.count++
	started := &job{
		id: jobName(j.count), command: cmd.Script, dir: cmd.Dir, timeout: cmd.Timeout, limits: j.sandbox.Info().Limits,
		shown: j.opts.mask(cmd.Script), begin: time.Now(), cancel: cancel, done: make(chan struct{}), log: newJobLog(j.opts.Keep),
	}
	j.list = append(j.list, started)
	cmd.Stdout, cmd.Stderr, cmd.OutputLimit = started.log, started.log, MaxOutput
	j.running.Go(func() { started.run(ctx, j.sandbox, cmd) })
	return started, nil
}

// unended are the jobs that run. The caller holds mu.
func (j *Jobs) unended() []*job {
	return slices.DeleteFunc(slices.Clone(j.list), (*job).ended)
}

// forget makes room for one more job. The caller holds mu.
func (j *Jobs) forget() {
	for len(j.list) >= keptJobs {
		oldest := slices.IndexFunc(j.list, func(job *job) bool { return job.ended() && job.told })
		if oldest < 0 {
			return // each still has something to tell
		}
		j.list = slices.Delete(j.list, oldest, oldest+1)
	}
}

// jobPrefix begins the id of a job.
const jobPrefix = "job"

func jobName(number int) string { return jobPrefix + strconv.Itoa(number) }

// find looks a job up. The error is for the model.
func (j *Jobs) find(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, job := range j.list {
		if job.id == id {
			return job, nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(id, jobPrefix)); err == nil && 0 < n && n <= j.count && id == jobName(n) {
		return nil, fmt.Errorf("%s ended long ago, and what it wrote is forgotten: of all that have ended the last %d are known", id, keptJobs)
	}
	if len(j.list) == 0 {
		return nil, fmt.Errorf("there is no job %.100q: no job was started; bash with background starts one", id)
	}
	return nil, fmt.Errorf("there is no job %.100q; the jobs are: %s", id, jobNames(j.list))
}

// news tells which jobs have ended since the last time, a line each. Those
// whose end a call has answered are told by that. A nil Jobs has none.
func (j *Jobs) news() []note {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var lines []note
	for _, job := range j.list {
		if job.ended() && !job.told {
			job.told = true
			lines = append(lines, notef("%s has ended: %s; bash_output shows what it wrote", job.name(), job.ending()))
			if job.renewed() {
				lines = append(lines, fixed(goneText))
			}
		}
	}
	return lines
}

// tell notes that the end of a job is being told.
func (j *Jobs) tell(job *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job.told = true
}

// jobNames lists jobs with what they run.
func jobNames(list []*job) string {
	all := make([]string, len(list))
	for i, job := range list {
		all[i] = job.name().text
	}
	return strings.Join(all, ", ")
}

// A job is one command in the background.
type job struct {
	id      string
	command string
	shown   string // the command without secrets
	dir     string // where it was to run
	timeout time.Duration
	limits  sandbox.Limits
	begin   time.Time
	cancel  context.CancelFunc
	log     *jobLog
	told    bool // guarded by Jobs.mu

	// done is closed when the job has ended; the fields below are set then.
	done   chan struct{}
	result sandbox.Result
	took   time.Duration
	err    error // the sandbox broke, or the output could not be kept
}

// run runs the job to its end.
func (j *job) run(ctx context.Context, sb sandbox.Sandbox, cmd sandbox.Command) {
	defer j.cancel()
	defer close(j.done)
	j.result, j.err = sb.Exec(ctx, cmd)
	j.took = time.Since(j.begin)
	if err := j.log.end(); j.err == nil {
		j.err = err
	}
}

// ended tells whether the job has ended.
func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// name is the job's id with the beginning of its command.
func (j *job) name() note {
	const shown = 60
	line, _, more := strings.Cut(strings.TrimSpace(j.shown), "\n")
	line, used, _ := visibleUpTo(line, shown)
	if more || used < len(strings.TrimSpace(j.shown)) {
		line += "…"
	}
	return notef("%s (%s)", passing(j.id), line)
}

// ending says in one line how a job ended.
func (j *job) ending() note {
	if j.err != nil {
		return notef("it is lost: %s", visibleName(j.err.Error()))
	}
	return j.report().ending()
}

// renewed tells whether the sandbox was lost under the job and another one
// stands now. A job may be all that met the loss.
func (j *job) renewed() bool {
	var renewed *sandbox.RenewedError
	return errors.As(j.err, &renewed)
}

// report words the end of a job. Its directory is its own, so nothing is said
// of the next.
func (j *job) report() report {
	return report{
		result: j.result, limits: j.limits, timeout: j.timeout, from: j.dir, next: j.dir, canceled: "ended by bash_kill",
	}
}

// running says for how long a job has run. That it still does is news after
// longWait and not before: who asks for it without a pause learns nothing.
func (j *job) running() note {
	const longWait = 30 * time.Second
	took := time.Since(j.begin)
	return note{
		text:    fmt.Sprintf("%s runs, for %s s until now", j.id, tenths(took)),
		lasting: fmt.Sprintf("%s runs, for %s s until now", j.id, seconds(took.Truncate(longWait))),
	}
}

// lines say how a job that has ended did so.
func (j *job) lines() []note {
	lines := []note{notef("%s has ended after %s s: %s", j.id, tenths(j.took), j.ending())}
	if j.renewed() {
		lines = append(lines, fixed(goneText))
	}
	if j.err == nil {
		lines = append(lines, j.report().notices()...)
	}
	return lines
}

// tenths shows a duration as seconds with one decimal.
func tenths(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }

// A jobLog takes what a job writes. Safe for concurrent use.
type jobLog struct {
	mu      sync.Mutex
	capture *output.Capture
	keeper  Keeper // nil where nothing is kept
	limited *output.Limited
	ended   bool
}

func newJobLog(keep func() Keeper) *jobLog {
	l := &jobLog{capture: output.NewCapture(ShownOutput)}
	if keep != nil {
		l.keeper = keep()
		l.limited = output.NewLimited(l.keeper, KeptOutput)
	}
	return l
}

// Write takes the next bytes.
func (l *jobLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keeper != nil {
		if _, err := l.limited.Write(p); err != nil {
			return 0, err
		}
	}
	return l.capture.Write(p)
}

// end closes what keeps the output.
func (l *jobLog) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.keeper == nil {
		return nil
	}
	return l.keeper.Close()
}

// take gives what nobody has read yet and, where a part of that is missing, a
// line that says where it can be found.
func (l *jobLog) take() (text string, lines []note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.capture.Text()
	if rest := l.capture.Take(); !l.ended {
		taken = rest
	}
	if l.keeper != nil && taken.DroppedBytes > 0 {
		lines = l.keeper.Kept().lines(l.limited.Dropped > 0)
	}
	return taken.Text, lines
}
