// Package trajectory is the record of a run: one stream of events, one JSON
// object a line, written before the next step starts. docs/record.md describes
// it and schema.json holds its JSON Schema.
package trajectory

import "time"

// Version is the version of the event format, the "v" of every event.
const Version = 1

// An Event is one line of the record: the envelope and exactly one body, whose
// type is the envelope's type; that of a sub-agent is Nested. Readers skip types
// and fields they do not know.
type Event struct {
	V    int       `json:"v"`
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	Seq  int       `json:"seq"`
	Body Body      `json:"-"` // flattened into the envelope
}

// A Body is what an event says. The types below implement it.
type Body interface{ eventType() string }

// Start opens the record of a run.
type Start struct {
	Session string `json:"session"`
	Task    string `json:"task"`
	Model   string `json:"model"`
	Image   Image  `json:"image"`
	Engine  string `json:"engine"`
	Limits  Limits `json:"limits"`
}

// Image identifies what the sandbox was made from.
type Image struct {
	Ref    string `json:"ref"`
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// Limits are the sandbox's resource limits; sizes are bytes.
type Limits struct {
	Memory int64   `json:"memory"`
	CPUs   float64 `json:"cpus"`
	// CPUSet is the list of processors, such as "0-2,5"; empty for any.
	CPUSet string `json:"cpuset,omitempty"`
	// Pids is 0 where a runtime cannot limit processes.
	Pids   int64 `json:"pids"`
	NoFile int64 `json:"nofile"`
	Disk   int64 `json:"disk"` // -1 is no limit; 0 in records of before there was one
	// Tmp, Home and Shm are the sizes of /tmp, the home folder and /dev/shm; 0
	// is a folder of the writable layer, or one whose size is not on record.
	Tmp  int64 `json:"tmp,omitempty"`
	Home int64 `json:"home,omitempty"`
	Shm  int64 `json:"shm,omitempty"`
}

// Message is something the user or the model said.
type Message struct {
	Role      string `json:"role"`
	Text      string `json:"text"`
	Reasoning string `json:"reasoning,omitempty"`
}

// ToolCall is one call that the model asked for, arguments as it sent them.
type ToolCall struct {
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Extra is a JSON object, as a text, of further fields that the model's
	// server sent with the call, or with the message that it is the first call
	// of, and wants back; Origin is that server. A conversation that goes on
	// from the record needs both.
	Extra  string `json:"extra,omitempty"`
	Origin string `json:"origin,omitempty"`
}

// ToolResult is the answer to one call.
type ToolResult struct {
	CallID     string `json:"call_id"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	ExitCode   *int   `json:"exit_code"`
	DurationMS int64  `json:"duration_ms"`
	IsError    bool   `json:"is_error"`
	Content    []Part `json:"content"`
	// Output is the path, below the session's folder, of the full output.
	Output string `json:"output,omitempty"`
	// Lasting stands for the texts of the content, where values in them are other
	// ones each time though nothing has changed: it is the same if the rest is.
	Lasting string `json:"lasting,omitempty"`
	// Files are the files that the call read or changed, as it left them.
	Files []FileSum `json:"files,omitempty"`
}

// A FileSum is one content of a file, by its path relative to the workspace or,
// in another folder, in the sandbox. SHA256 is in hexadecimal, and empty for a
// file that is gone.
type FileSum struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// A Part is a piece of content: a text, or an image with base64 data.
type Part struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
}

// Usage counts the tokens of one model answer, or of several. A request that
// failed in the middle of its answer has one as well.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	// Cached is a part of Input, and Reasoning of Output.
	Cached    int  `json:"cached"`
	Reasoning int  `json:"reasoning,omitempty"`
	Estimated bool `json:"estimated"`
	// CostUSD is what they cost in US dollars; nil where the price is unknown.
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// Add returns the sum of two usages. A sum with an estimate is an estimate, and
// one with an unknown cost has an unknown cost.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached,
		Reasoning: u.Reasoning + v.Reasoning, Estimated: u.Estimated || v.Estimated,
	}
	if u.CostUSD != nil && v.CostUSD != nil {
		sum.CostUSD = new(*u.CostUSD + *v.CostUSD)
	}
	return sum
}

// The kinds of notices. There may be others.
const (
	// NoticeError is the reason why a run that failed did so.
	NoticeError = "error"
	// NoticeRetry: the model's server is asked again after a wait.
	NoticeRetry = "retry"
	// NoticeAdapted: the model's server refused how a request was written, and a
	// part of it is written otherwise from then on.
	NoticeAdapted = "adapted"
	// NoticeHostRisk is about files that programs on the host run or obey and
	// that changed during the run; it stands before the end.
	NoticeHostRisk = "host_risk"
	// NoticeRenewed: the sandbox was lost, and a new one stands over the same
	// workspace. The call that met the loss tells its model, and the next bash
	// call of each other agent tells that one.
	NoticeRenewed = "sandbox_renewed"
	// NoticeEmpty, NoticeCut, NoticeRepeat and NoticeWritten are about an answer
	// of the model, which is told the same text as a user message.
	NoticeEmpty   = "empty_answer"
	NoticeCut     = "cut_answer"
	NoticeRepeat  = "repeated_call"
	NoticeWritten = "written_call"
	// NoticeStuck says what a run that ends as stuck went on doing.
	NoticeStuck = "stuck"
	// NoticeBadCall: the model's server could not read a call of the model, which
	// is told the same text as a user message.
	NoticeBadCall = "bad_call"
	// NoticeCompacted: the conversation was made shorter, with its size before
	// and after, and which results were. The record keeps the whole.
	NoticeCompacted = "compacted"
	// NoticeSummary holds what stands for the messages after the task from here
	// on, and for how many; the model is told the same text as a user message.
	NoticeSummary = "summary"
	// NoticePromptCut: the model's server seems to leave out a part of what it
	// is sent.
	NoticePromptCut = "prompt_cut"
	// NoticeWindow: the model's server says that it takes too little.
	NoticeWindow = "window"
	// NoticeNetwork: there are more decisions about the network than the
	// record holds, or a host that was allowed could not be reached.
	NoticeNetwork = "network"
	// NoticeProxy: the sandbox's way to the network broke; the text says what
	// came of it. The model is told with the next command's result.
	NoticeProxy = "proxy_lost"
	// NoticeReplay: the model's answers are those of a recorded run, and a request
	// is another one than there.
	NoticeReplay = "replay_differs"
	// NoticeJobs: background jobs still ran at the end of the run.
	NoticeJobs = "jobs"
)

// Notice is a word from belljar itself about the run.
type Notice struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Messages is, for NoticeSummary, how many messages of the conversation as
	// the model saw it, the ones right after the task, the text stands for. An
	// earlier summary is one of them.
	Messages int `json:"messages,omitempty"`
	// Shortened are, for NoticeCompacted, the results that are shorter from here
	// on. Those of messages that a summary stands for are not among them.
	Shortened []Shortened `json:"shortened,omitempty"`
}

// Shortened are results of which the model sees the beginning and the end.
type Shortened struct {
	// Calls are the ids of their calls.
	Calls []string `json:"calls"`
	// Kept is how much there is of each text at most, in bytes, without the word
	// on what is left out. A text that is hardly longer is whole.
	Kept int `json:"kept"`
	// Images tells that their images are left out.
	Images bool `json:"images,omitempty"`
}

// Network is a decision about a connection out of the sandbox. Rule says what
// allowed it, Reason why it was denied.
type Network struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Allowed bool   `json:"allowed"`
	Rule    string `json:"rule"`
	Reason  string `json:"reason,omitempty"`
}

// Who decided about a call.
const (
	ByUser     = "user"     // a person who was asked
	ByAlways   = "always"   // a person who allowed all calls of the kind before
	ByGuard    = "guard"    // the guard against slips; what it allows it could not look at
	BySettings = "settings" // the guard is off, and nobody was to be asked
	ByNobody   = "nobody"   // somebody was to be asked, and nobody could be
)

// Approval is what was decided about a call before it ran, where somebody was
// asked, it was denied, or it is risky and ran all the same. It comes between the call and its result.
type Approval struct {
	CallID string `json:"call_id"`
	// Decision is "allowed", "allowed_always" or "denied".
	Decision string `json:"decision"`
	// Reason is why it was denied, as the model is told; "" when it was allowed.
	Reason string `json:"reason"`
	By     string `json:"by"`
	// Risk is what was out of the ordinary about the call.
	Risk string `json:"risk,omitempty"`
}

// End closes the record of a run.
type End struct {
	Stop  string `json:"stop"`
	Final string `json:"final"`
	Turns int    `json:"turns"`
	// Requests counts what was sent to the model, those that failed included;
	// Waits the waits before another try, and WaitedMS how long they were.
	Requests int   `json:"requests,omitempty"`
	Waits    int   `json:"waits,omitempty"`
	WaitedMS int64 `json:"waited_ms,omitempty"`
	// Usage is the sum of the run; nil in records of before there was one.
	Usage *Usage `json:"usage,omitempty"`
}

func (Start) eventType() string      { return "start" }
func (Message) eventType() string    { return "message" }
func (ToolCall) eventType() string   { return "tool_call" }
func (ToolResult) eventType() string { return "tool_result" }
func (Usage) eventType() string      { return "usage" }
func (Notice) eventType() string     { return "notice" }
func (Network) eventType() string    { return "network" }
func (Approval) eventType() string   { return "approval" }
func (End) eventType() string        { return "end" }

// A Recorder takes the events of a run in order. Record returns when the event
// is in the kernel's hands (or, for a recorder that only shows, on its way to
// the screen); an error stops the run. Safe for concurrent use.
type Recorder interface {
	Record(body Body) error
}
