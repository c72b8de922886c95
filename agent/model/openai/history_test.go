package openai_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/provider"
)

// histories is the number of random histories for each provider.
const histories = 200

// TestAnyHistoryIsValid: whatever a run went through, killed at any point and
// gone on with, what is sent is what the strictest server of the kind takes,
// and holds each result that there was.
func TestAnyHistoryIsValid(t *testing.T) {
	profiles := provider.Profiles()
	single, inUser := provider.Generic(), provider.Generic()
	single.Name, single.Calls = "one call at a time", provider.CallsSingle
	inUser.Name, inUser.System = "no system prompt", provider.SystemUser
	for _, p := range append(profiles, single, inUser) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			send := capture(t, p)
			for seed := range uint64(histories) {
				story := newStory(seed)
				req := model.Request{Messages: story.messages, Tools: []model.ToolDefinition{{Name: "read"}}}
				if seed%3 > 0 {
					req.System, req.MaxTokens = "Be brief.", 100
				}
				sent := send(req)
				err := validate(sent, p.Rules, req)
				if err == nil {
					err = story.checkKept(sent)
				}
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, sent)
				}
			}
		})
	}
}

// capture returns a func that sends a request to a server with the profile, and
// gives its body.
func capture(t *testing.T, p provider.Profile) func(model.Request) []byte {
	t.Helper()
	var sent []byte
	answer := events(content("ok"), finish("stop"))
	c, err := openai.New(openai.Options{BaseURL: origin, Model: "m", Provider: p, HTTPClient: &http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			sent, _ = io.ReadAll(r.Body)
			return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(strings.NewReader(answer))}, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return func(req model.Request) []byte {
		if _, err := c.Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		return sent
	}
}

const origin = "http://host/v1"

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A story makes up what a run goes through.
type story struct {
	*rand.Rand
	messages []model.Message
	n        int
	kept     []string // texts that have to be sent
}

// newStory makes up a run: turns, of which any may be cut short by a kill, and
// going on after it.
func newStory(seed uint64) *story {
	s := &story{Rand: rand.New(rand.NewPCG(seed, 1))}
	s.say(model.User)
	for range s.IntN(6) {
		s.turn()
		if s.IntN(4) == 0 { // killed here, resumed with a word of the user
			s.say(model.User)
		}
	}
	if s.IntN(8) == 0 { // the beginning was lost
		s.messages = s.messages[s.IntN(len(s.messages)+1):]
		s.kept = nil
	}
	return s
}

// mark is a text that is found again.
func (s *story) mark() string {
	s.n++
	return fmt.Sprintf("mark-%d.", s.n)
}

// say adds a message with a text, or with none to speak of.
func (s *story) say(role model.Role) {
	text := []string{"", " \n", s.mark(), s.mark()}[s.IntN(4)]
	if strings.Contains(text, "mark") {
		s.kept = append(s.kept, text)
	}
	s.messages = append(s.messages, model.Message{Role: role, Text: text})
}

// turn adds an answer and what becomes of its calls.
func (s *story) turn() {
	s.say(model.Assistant)
	m := &s.messages[len(s.messages)-1]
	m.Reasoning = []string{"", "thought"}[s.IntN(2)]
	for range s.IntN(4) {
		m.Calls = append(m.Calls, s.call())
	}
	calls := m.Calls
	seen := map[string]bool{}
	for i, call := range calls {
		switch s.IntN(10) {
		case 0: // killed: this result and all after it are missing
			return
		case 1: // lost
			continue
		case 2: // a notice comes between
			s.say(model.User)
		case 3: // out of order
			if i+1 < len(calls) && calls[i+1].ID != call.ID && !seen[call.ID] {
				s.result(calls[i+1].ID, !seen[calls[i+1].ID])
				seen[calls[i+1].ID] = true
			}
		case 4: // of no call
			s.result("nobody", false)
		}
		s.result(call.ID, !seen[call.ID])
		seen[call.ID] = true
	}
}

// call makes up a call such as servers and models send.
func (s *story) call() model.ToolCall {
	s.n++
	ids := []string{
		fmt.Sprintf("call%05d", s.n), fmt.Sprintf("functions.read:%d", s.n), "call_0", "toolu_" + strings.Repeat("x", s.IntN(60)),
		fmt.Sprintf("idé %d", s.n), "123456789",
	}
	args := []string{"", "null", "{}", `{"path":"a"}`, `{"path":"a`, `{"a":1}{"b":2}`, `"{}"`, "[]", "\xff"}
	names := []string{"read", "read", "", "my tool!", strings.Repeat("n", 80), "größe"}
	call := model.ToolCall{ID: ids[s.IntN(len(ids))], Name: names[s.IntN(len(names))], Arguments: args[s.IntN(len(args))]}
	switch s.IntN(6) {
	case 0:
		call.Extra, call.Origin = `{"extra_content":{"sig":"x"},"reasoning_details":[{"data":"x"}]}`, origin
	case 1:
		call.Extra, call.Origin = `{"extra_content":{"sig":"y"},"reasoning_details":[{"data":"y"}]}`, "https://elsewhere/v1"
	}
	return call
}

// result adds a result; first says whether it is the one that counts.
func (s *story) result(id string, first bool) {
	m := model.Message{Role: model.Tool, CallID: id}
	text := s.mark()
	switch s.IntN(6) {
	case 0: // nothing to tell
	case 1:
		m.Parts = []model.Part{{Text: "  \n"}}
	case 2:
		m.Parts = []model.Part{{Text: text}, {MediaType: "image/png", Data: []byte("png")}}
	default:
		m.Parts = []model.Part{{Text: text}}
	}
	if first && len(m.Parts) > 0 && m.Parts[0].Text == text {
		s.kept = append(s.kept, text)
	}
	s.messages = append(s.messages, m)
}

// checkKept finds everything again that has to be sent.
func (s *story) checkKept(sent []byte) error {
	for _, text := range s.kept {
		if !strings.Contains(string(sent), text) {
			return fmt.Errorf("%s is lost", text)
		}
	}
	return nil
}

// TestIDsStay: a request begins like the one before it, or a server's cache of
// the beginning is lost.
func TestIDsStay(t *testing.T) {
	mistral, err := provider.Named("mistral")
	if err != nil {
		t.Fatal(err)
	}
	send := capture(t, mistral)
	for seed := range uint64(histories) {
		messages := append(newStory(seed).messages, user("go on"))
		n := len(messages)
		messages = append(messages, assistant("", call("call_0", "read", "{}"), call("call_0", "read", "{}")))
		before, _, _ := strings.Cut(string(send(model.Request{Messages: messages[:n]})), `],"model"`)
		if after := string(send(model.Request{Messages: messages})); !strings.HasPrefix(after, before) {
			t.Fatalf("seed %d: the beginning changed:\n%s\n%s", seed, before, after)
		}
	}
}
