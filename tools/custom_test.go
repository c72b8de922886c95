package tools_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// parseCustom reads one custom tool.
func parseCustom(t *testing.T, definition string) tools.Custom {
	t.Helper()
	list, err := tools.ParseCustom([]byte("[" + definition + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// callCustom registers a custom tool and calls it.
func callCustom(t *testing.T, c tools.Custom, args string, out io.Writer, exec func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error)) (tools.Result, error) {
	t.Helper()
	tool, err := tools.NewCustom(box{exec}, c, tools.CustomOptions{Timeout: 90 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var r tools.Registry
	if err := r.Register(tool); err != nil {
		t.Fatal(err)
	}
	return r.ExecuteTo(t.Context(), c.Name, json.RawMessage(args), out)
}

const greet = `{"name": "greet", "description": "Greets.", "command": ["greet", "--json"], "effect": "read", "timeout": "5s",
  "parameters": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}}`

func TestCustomCommand(t *testing.T) {
	for _, tt := range []struct {
		name, definition, args string
		want                   sandbox.Command
		stdin                  string
	}{
		{
			"words", greet, `{"who":"<you>"}`,
			sandbox.Command{Args: []string{"greet", "--json"}, Dir: "/workspace", Timeout: 5 * time.Second, OutputLimit: 256 << 20}, `{"who":"<you>"}`,
		},
		{
			"line", `{"name": "x", "description": "X.", "command": "wc -l | tail"}`, " ",
			sandbox.Command{Script: "wc -l | tail", Dir: "/workspace", Timeout: 90 * time.Second, OutputLimit: 256 << 20}, `{}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := callCustom(t, parseCustom(t, tt.definition), tt.args, nil, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				stdin, err := io.ReadAll(cmd.Stdin)
				if string(stdin) != tt.stdin || err != nil {
					t.Errorf("stdin %q, %v, want %q", stdin, err, tt.stdin)
				}
				if cmd.Stdout == nil || cmd.Stderr == nil || cmd.Stdout == cmd.Stderr {
					t.Error("stdout and stderr are not two writers")
				}
				cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, nil
				if diff := cmp.Diff(tt.want, cmd); diff != "" {
					t.Errorf("command (-want +got):\n%s", diff)
				}
				return exited(0), nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestCustomWrongArguments: a call that does not fit is answered, and not run.
func TestCustomWrongArguments(t *testing.T) {
	res, err := callCustom(t, parseCustom(t, greet), `{"whom":"you"}`, nil, func(context.Context, sandbox.Command) (sandbox.Result, error) {
		t.Error("the command was run")
		return exited(0), nil
	})
	if got := text(t, res); err != nil || !res.IsError || !strings.Contains(got, `"who" is missing`) {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestCustomDefinition(t *testing.T) {
	tool, err := tools.NewCustom(box{}, parseCustom(t, greet), tools.CustomOptions{})
	if err != nil {
		t.Fatal(err)
	}
	def := tool.Definition()
	if def.Name != "greet" || def.Effect != tools.Read || def.Once {
		t.Errorf("definition %+v", def)
	}
	for _, want := range []string{"Greets.\n", "in /workspace", "after 5 seconds", "30,000 characters"} {
		if !strings.Contains(def.Description, want) {
			t.Errorf("the description %q lacks %q", def.Description, want)
		}
	}
}

// picture is a PNG of a size, in base64.
func picture(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestCustomResults(t *testing.T) {
	small, wide := picture(t, 2, 3), picture(t, 8001, 1)
	imagePart := func(data, mimeType string) string {
		return fmt.Sprintf(`{"type":"image","data":%q,"mimeType":%q}`, data, mimeType)
	}
	for _, tt := range []struct {
		name           string
		rich           bool
		stdout, stderr string
		result         sandbox.Result
		want           string // parts in a row, images as <TYPE>
		isError        bool
	}{
		{name: "text", stdout: "hello\n", stderr: "a log", result: exited(0), want: "hello\n"},
		{name: "nothing", result: exited(0), want: "(no output)"},
		{name: "cleaned", stdout: "\x1b[31mred\x00\r\n", result: exited(0), want: "red\n"},
		{name: "failed", stdout: "half", stderr: "no such file\n", result: exited(3), want: "half\n[on stderr:]\nno such file\n[exit code 3]", isError: true},
		{name: "failed without a word", result: exited(1), want: "(no output)\n[exit code 1]", isError: true},
		{name: "failed on stderr alone", stderr: "no", result: exited(1), want: "no\n[exit code 1]", isError: true},
		{name: "timeout", stdout: "half\n", result: sandbox.Result{Status: sandbox.TimedOut}, want: "half\n[timed out after 90 s; its processes were ended]", isError: true},
		{name: "canceled", result: sandbox.Result{Status: sandbox.Canceled}, want: "(no output)\n[canceled; its processes were ended]", isError: true},
		{name: "flood", stdout: "y\n", result: sandbox.Result{Status: sandbox.OutputLimit}, want: "y\n[it wrote more than 256 MiB; its processes were ended]", isError: true},
		{name: "signaled", result: sandbox.Result{Status: sandbox.Signaled, Signal: "SIGSEGV"}, want: "(no output)\n[its shell was killed by SIGSEGV, which belljar did not send]", isError: true},
		{
			name: "left behind", stdout: "ok\n", result: sandbox.Result{Status: sandbox.Exited, ExitCode: new(0), Left: []sandbox.Process{{PID: 12, Name: "x"}}, LeftCount: 1},
			want: "ok\n[1 process still runs in the background: x (pid 12)]",
		},

		{name: "rich text", rich: true, stdout: `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\u001b[1m"}]}`, result: exited(0), want: "a|b"},
		{name: "image", rich: true, stdout: `{"content":[` + imagePart(small, "image/png") + `]}`, result: exited(0), want: "[image, image/png, 74 bytes, 2 × 3 pixels]|<image/png>"},
		{
			name: "image that is too large", rich: true, stdout: `{"content":[` + imagePart(wide, "image/png") + `]}`, result: exited(0),
			want: "[image, image/png, 91 bytes, 8001 × 1 pixels; it is too large to be shown (at most 3 MiB and 8000 pixels a side)]",
		},
		{name: "structured", rich: true, stdout: ` {"structuredContent": {"n": 1}}`, result: exited(0), want: `{"n": 1}`},
		{name: "structured and text", rich: true, stdout: `{"structuredContent":{"n":1},"content":[{"type":"text","text":"one"}]}`, result: exited(0), want: "one"},
		{name: "structured and image", rich: true, stdout: `{"structuredContent":{"n":1},"content":[` + imagePart(small, "image/png") + `]}`, result: exited(0), want: `[image, image/png, 74 bytes, 2 × 3 pixels]|<image/png>|{"n":1}`},
		{name: "says that it failed", rich: true, stdout: `{"content":[{"type":"text","text":"no"}],"isError":true}`, stderr: "why", result: exited(0), want: "no|[on stderr:]\nwhy", isError: true},
		{name: "no content", rich: true, stdout: `{"content":[]}`, result: exited(0), want: "(no output)"},
		{name: "fields of the protocol", rich: true, stdout: `{"_meta":{},"content":[{"type":"text","text":"a","annotations":{}}]}`, result: exited(0), want: "a"},
		{name: "sound answer and failure", rich: true, stdout: `{"content":[{"type":"text","text":"a"}]}`, stderr: "e", result: exited(2), want: "a|[on stderr:]\ne\n[exit code 2]", isError: true},
		{name: "sound answer and failure without a word", rich: true, stdout: `{"content":[{"type":"text","text":"half"}]}`, result: exited(2), want: "half|[exit code 2]", isError: true},
		{name: "image and failure", rich: true, stdout: `{"content":[` + imagePart(small, "image/png") + `]}`, result: exited(2), want: "[image, image/png, 74 bytes, 2 × 3 pixels]|<image/png>|[exit code 2]", isError: true},
		{
			name: "rich and left behind", rich: true, stdout: `{"content":[{"type":"text","text":"ok"}]}`,
			result: sandbox.Result{Status: sandbox.Exited, ExitCode: new(0), Left: []sandbox.Process{{PID: 12, Name: "x"}}, LeftCount: 1},
			want:   "ok|[1 process still runs in the background: x (pid 12)]",
		},
		{name: "empty text", rich: true, stdout: `{"content":[{"type":"text","text":""},{"type":"text","text":" \n"}]}`, result: exited(0), want: "(no output)"},
		{name: "empty text and structured", rich: true, stdout: `{"content":[{"type":"text","text":""}],"structuredContent":{"n":1}}`, result: exited(0), want: `{"n":1}`},
		{name: "failure without an answer", rich: true, stdout: "Traceback", stderr: "e", result: exited(1), want: "Traceback\n[on stderr:]\ne\n[exit code 1]", isError: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := parseCustom(t, `{"name": "x", "description": "X.", "command": "x"}`)
			c.Rich = tt.rich
			res, err := callCustom(t, c, "{}", nil, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				io.WriteString(cmd.Stdout, tt.stdout)
				io.WriteString(cmd.Stderr, tt.stderr)
				return tt.result, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, partsText(res)); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if res.IsError != tt.isError || res.Status != string(tt.result.Status) || res.ExitCode != tt.result.ExitCode {
				t.Errorf("result %+v", res)
			}
		})
	}
}

// partsText shows the parts of a result in a row.
func partsText(res tools.Result) string {
	var list []string
	for _, part := range res.Parts {
		if part.MediaType != "" {
			list = append(list, "<"+part.MediaType+">")
		} else {
			list = append(list, part.Text)
		}
	}
	return strings.Join(list, "|")
}

// TestCustomBrokenAnswers: an answer that is none is told with what is wrong, what
// one is, and the beginning of what it was.
func TestCustomBrokenAnswers(t *testing.T) {
	image := picture(t, 2, 2)
	cut := image[:len(image)/8*4]
	for _, tt := range []struct{ name, stdout, want string }{
		{"empty", " \n", "it is empty"},
		{"text", "done", "invalid character 'd'"},
		{"log before it", "loading\n{\"content\":[]}", "invalid character 'l'"},
		{"two", `{"content":[]}{}`, "after top-level value"},
		{"cut off", `{"content":[`, "unexpected end of JSON input"},
		{"null", "null", "neither content nor structuredContent"},
		{"array", "[]", "a JSON array is where there can be none]"},
		{"nothing of it", `{"text":"a"}`, "neither content nor structuredContent"},
		{"content is a text", `{"content":"a"}`, "content is not a list"},
		{"structured is a list", `{"structuredContent":[1]}`, "structuredContent is not an object"},
		{"part is a text", `{"content":["a"]}`, "content[0]: a JSON string is where there can be none]"},
		{"text is a number", `{"content":[{"type":"text","text":1}]}`, "content[0]: a JSON number is where there can be none in text"},
		{"no type", `{"content":[{"text":"a"}]}`, `content[0]: its type is "", and must be text or image`},
		{"other type", `{"content":[{"type":"text","text":""},{"type":"audio"}]}`, `content[1]: its type is "audio"`},
		{"no text", `{"content":[{"type":"text"}]}`, `content[0]: it has no "text"`},
		{"no data", `{"content":[{"type":"image","mimeType":"image/png"}]}`, `content[0]: it has no "data"`},
		{"not base64", `{"content":[{"type":"image","mimeType":"image/png","data":"*"}]}`, "illegal base64"},
		{"no type of image", `{"content":[{"type":"image","data":"` + image + `"}]}`, `its mimeType is "", and must be one of image/png`},
		{"type that models do not take", `{"content":[{"type":"image","mimeType":"image/svg+xml","data":"` + image + `"}]}`, `its mimeType is "image/svg+xml"`},
		{"another type", `{"content":[{"type":"image","mimeType":"image/jpeg","data":"` + image + `"}]}`, "begins like image/png"},
		{"damaged image", `{"content":[{"type":"image","mimeType":"image/png","data":"` + cut + `"}]}`, "its image is damaged"},
		{"many parts", `{"content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 100) + `{"type":"text","text":"a"}]}`, "more than 100 parts"},
		{"many images", `{"content":[` + strings.Repeat(`{"type":"image","mimeType":"image/png","data":"`+image+`"},`, 8) + `{"type":"image","mimeType":"image/png","data":"` + image + `"}]}`, "more than 8 images"},
		{"huge", `{"content":[{"type":"text","text":"` + strings.Repeat("a", 16<<20) + `"}]}`, "larger than 16 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := parseCustom(t, `{"name": "x", "description": "X.", "command": "x", "output": "json"}`)
			res, err := callCustom(t, c, "{}", nil, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				// In pieces, as from a pipe.
				for p := []byte(tt.stdout); len(p) > 0; p = p[min(len(p), 32<<10):] {
					if _, err := cmd.Stdout.Write(p[:min(len(p), 32<<10)]); err != nil {
						t.Error(err)
					}
				}
				return exited(0), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			got := text(t, res)
			for _, want := range []string{"[its answer cannot be used: ", tt.want, `[it is one JSON object on stdout: {"content"`} {
				if !strings.Contains(got, want) {
					t.Errorf("%.2000q lacks %q", got, want)
				}
			}
			if !res.IsError || len(got) > 6000 {
				t.Errorf("IsError %v, %d bytes", res.IsError, len(got))
			}
		})
	}
}

// TestCustomManyParts: an answer does not take many times its size in memory.
func TestCustomManyParts(t *testing.T) {
	c := parseCustom(t, `{"name": "x", "description": "X.", "command": "x", "output": "json"}`)
	part := `{"type":"text","text":""},`
	first := strings.Repeat(part, 100)
	answer := []byte(`{"content":[` + first + strings.Repeat(`{},`, 5_000_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := callCustom(t, c, "{}", nil, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		_, err := cmd.Stdout.Write(answer)
		return exited(0), err
	})
	runtime.ReadMemStats(&after)
	if err != nil || !strings.Contains(text(t, res), "content has more than 100 parts") {
		t.Fatalf("%+.500v, %v", res, err)
	}
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(10*len(answer)); took > most {
		t.Errorf("%d bytes were allocated, want at most %d", took, most)
	}
}

// TestCustomLongText: what is not shown is kept, and the result says where.
func TestCustomLongText(t *testing.T) {
	long := strings.Repeat("0123456789\n", 10_000)
	quoted, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, stdout string
		rich         bool
	}{
		{"text", long, false},
		{"rich", `{"content":[{"type":"text","text":` + string(quoted) + `},{"type":"text","text":"after"}]}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := parseCustom(t, `{"name": "x", "description": "X.", "command": "x"}`)
			c.Rich = tt.rich
			keeper := &memoryKeeper{}
			res, err := callCustom(t, c, "{}", keeper, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
				_, err := io.WriteString(cmd.Stdout, tt.stdout)
				return exited(0), err
			})
			if err != nil || res.IsError {
				t.Fatalf("%+v, %v", res, err)
			}
			got := partsText(res)
			if strings.Contains(got, "(no output)") || strings.Contains(res.Lasting, "(no output)") {
				t.Error("it is said that there was no output")
			}
			if !strings.Contains(got, "omitted") || !strings.Contains(got, "[full output: /belljar/outputs/x, ") || len([]rune(got)) > tools.ShownOutput+1000 {
				t.Errorf("%d characters, the end is %q", len([]rune(got)), got[max(len(got)-300, 0):])
			}
			if !strings.HasPrefix(keeper.String(), long) {
				t.Errorf("kept are %d bytes, want the whole text", keeper.Len())
			}
			if keeper.closed == 0 {
				t.Error("the keeper was not closed before it was named")
			}
		})
	}
}

// memoryKeeper keeps in memory.
type memoryKeeper struct {
	bytes.Buffer
	closed int
}

func (k *memoryKeeper) Close() error { k.closed++; return nil }

func (k *memoryKeeper) Kept() tools.Kept {
	return tools.Kept{Path: "/belljar/outputs/x", Bytes: int64(k.Len()), Lines: int64(bytes.Count(k.Bytes(), []byte{'\n'}))}
}

// TestCustomSandboxFails: only what the operator has to see to is an error.
func TestCustomSandboxFails(t *testing.T) {
	c := parseCustom(t, greet)
	broken := errors.New("the engine is gone")
	for _, tt := range []struct {
		name   string
		err    error
		want   string
		status string
	}{
		{"broken", broken, "", ""},
		{"renewed", fmt.Errorf("starting: %w", &sandbox.RenewedError{Lost: sandbox.ErrLost, Count: 1, Max: 3}), "[the sandbox was lost", "lost"},
		{"invalid", fmt.Errorf("%w: it is too long", sandbox.ErrInvalidCommand), "it is too long", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := callCustom(t, c, `{"who":"you"}`, nil, func(context.Context, sandbox.Command) (sandbox.Result, error) {
				return sandbox.Result{}, tt.err
			})
			if tt.want == "" {
				if !errors.Is(err, broken) || !strings.Contains(err.Error(), "greet") {
					t.Errorf("error %v", err)
				}
				return
			}
			if got := text(t, res); err != nil || !res.IsError || res.Status != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// runsNothing is a command that does nothing.
func runsNothing(context.Context, sandbox.Command) (sandbox.Result, error) { return exited(0), nil }
