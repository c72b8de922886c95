package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/sandbox"
)

// imageStore is an engine that has images and nothing else.
type imageStore struct {
	mu     sync.Mutex
	images map[string]image.InspectResponse // by every name and id
	asked  []string                         // changing requests, in order
	pull   http.HandlerFunc                 // nil: the image comes
	build  http.HandlerFunc                 // nil: the image comes
}

func (s *imageStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	name, isInspect := strings.CutSuffix(strings.TrimPrefix(path, "images/"), "/json")
	switch {
	case path == "images/create":
		ref := r.FormValue("fromImage") + ":" + r.FormValue("tag")
		s.note("pull " + ref)
		s.answer(w, r, s.pull, strings.TrimPrefix(ref, "docker.io/library/"))
	case path == "build":
		s.note("build " + r.FormValue("t"))
		s.answer(w, r, s.build, r.FormValue("t"))
	case path == "images/json":
		s.list(w)
	case r.Method == http.MethodGet && isInspect:
		s.inspect(w, name)
	case r.Method == http.MethodDelete:
		s.remove(w, name)
	default:
		http.Error(w, `{"message":"unexpected `+r.Method+" "+path+`"}`, http.StatusNotImplemented)
	}
}

func (s *imageStore) note(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, request)
}

func (s *imageStore) answer(w http.ResponseWriter, r *http.Request, custom http.HandlerFunc, ref string) {
	if custom != nil {
		custom(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	fmt.Fprintln(w, `{"status":"Pulling from library/x","id":"latest"}`)
	fmt.Fprintln(w, `{"stream":"Step 1/1 : FROM x\n"}`)
	s.add(ref, image.InspectResponse{ID: "sha256:" + strings.Repeat("a", 64), Os: "linux", Architecture: "amd64"})
}

func (s *imageStore) add(ref string, one image.InspectResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.images == nil {
		s.images = make(map[string]image.InspectResponse)
	}
	one.RepoTags = append(one.RepoTags, ref)
	s.images[ref], s.images[one.ID] = one, one
}

func (s *imageStore) inspect(w http.ResponseWriter, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.images[name]
	if !ok {
		refuse(w, http.StatusNotFound, "No such image: "+name)
		return
	}
	respond(w, one)
}

func (s *imageStore) list(w http.ResponseWriter) {
	respond(w, []image.Summary{
		{ID: "sha256:old", RepoTags: []string{"belljar/default:0123456789ab"}, Created: 100, Size: 5},
		{ID: "sha256:none", RepoTags: []string{"<none>:<none>"}, Created: 50},
		{ID: "sha256:new", RepoTags: []string{images.Tag()}, Created: 200, Size: 7},
	})
}

func (s *imageStore) remove(w http.ResponseWriter, path string) {
	name := strings.TrimPrefix(path, "images/")
	s.note("remove " + name)
	if name == "used:1" {
		refuse(w, http.StatusConflict, "container 12 is using it")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.images, name)
	respond(w, []image.DeleteResponse{{Untagged: name}})
}

func (s *imageStore) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// imageEngine is an Engine in front of a store.
func imageEngine(t *testing.T, store *imageStore) *Engine {
	t.Helper()
	endpoint := Endpoint{Host: listenUnix(t, store), Source: "test"}
	api, err := newClient(endpoint, "1.41")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return testEngine(t, api, endpoint)
}

func testEngine(t *testing.T, api *client.Client, endpoint Endpoint) *Engine {
	return &Engine{
		api: api, endpoint: endpoint, log: discardLog(),
		info: system.Info{OSType: "linux", Architecture: "x86_64"},
		opts: Options{CacheDir: t.TempDir()},
	}
}

func TestEnsureImagePresentAsksNobody(t *testing.T) {
	store := &imageStore{}
	store.add("debian:12", image.InspectResponse{
		ID: "sha256:1", Os: "linux", Architecture: "amd64",
		RepoDigests: []string{"other/debian@sha256:0", "debian@sha256:d"},
	})
	var talk bytes.Buffer
	got, err := imageEngine(t, store).EnsureImage(t.Context(), "debian:12", &talk)
	if err != nil {
		t.Fatal(err)
	}
	want := sandbox.Image{Ref: "debian:12", ID: "sha256:1", Digest: "sha256:d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("image (-want +got):\n%s", diff)
	}
	if asked := store.requests(); len(asked) > 0 || talk.Len() > 0 {
		t.Errorf("asked for %v and said %q", asked, talk.String())
	}
}

func TestEnsureImagePulls(t *testing.T) {
	store := &imageStore{}
	var talk bytes.Buffer
	engine := imageEngine(t, store)
	if _, ok, err := engine.Image(t.Context(), "alpine:3"); ok || err != nil {
		t.Fatalf("Image = %v, %v before the pull", ok, err)
	}
	got, err := engine.EnsureImage(t.Context(), "alpine:3", &talk)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ref != "alpine:3" || got.ID == "" || got.Digest != "" {
		t.Errorf("image = %+v", got)
	}
	if diff := cmp.Diff([]string{"pull docker.io/library/alpine:3"}, store.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if want := "pulling alpine:3\n"; talk.String() != want {
		t.Errorf("talk = %q, want %q", talk.String(), want)
	}
}

func TestEnsureImageErrors(t *testing.T) {
	fail := func(status int, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, status, message)
		}
	}
	midway := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"status":"Pulling","id":"latest"}`)
		fmt.Fprintln(w, `{"error":"unexpected\nEOF","errorDetail":{"message":"unexpected EOF"}}`)
	}
	tests := []struct {
		name, ref string
		pull      http.HandlerFunc
		want      string
	}{
		{name: "not found", ref: "no/such", pull: fail(404, "pull access denied for no/such"), want: "pulling no/such: pull access denied"},
		{name: "no registry", ref: "a:b", pull: fail(500, "Get https://r/v2/:\ndial tcp: lookup r"), want: "dial tcp: lookup r"},
		{name: "error in the middle", ref: "a:b", pull: midway, want: "pulling a:b: unexpected EOF"},
		{name: "pull that brings nothing", ref: "a:b", pull: func(http.ResponseWriter, *http.Request) {}, want: "try again"},
		{name: "garbage", ref: "a:b", pull: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "<html>") }, want: "reading the engine's progress"},
		{name: "bad name", ref: "UPPER:x", want: "is no image name"},
		{name: "unknown id", ref: "sha256:abc", want: "no image with the id"},
		{name: "another belljar's image", ref: images.Repository + ":0123456789ab", want: "leave out --image"},
		{name: "the same by its full name", ref: "docker.io/" + images.Repository + ":0123456789ab", want: "leave out --image"},
		{name: "default repository without a tag", ref: images.Repository, want: "leave out --image"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := &imageStore{pull: test.pull}
			got, err := imageEngine(t, store).EnsureImage(t.Context(), test.ref, nil)
			if err == nil {
				t.Fatalf("no error, but %+v", got)
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %q, want one line with %q", err, test.want)
			}
			if asked := store.requests(); test.pull == nil && len(asked) > 0 {
				t.Errorf("a registry was asked: %v", asked)
			}
		})
	}
}

func TestEnsureImageCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user pressed a key")
	store := &imageStore{pull: func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, `{"status":"Pulling","id":"latest"}`)
		w.(http.Flusher).Flush()
		cancel(stop)
		<-r.Context().Done()
	}}
	if _, err := imageEngine(t, store).EnsureImage(ctx, "a:b", nil); !errors.Is(err, stop) {
		t.Errorf("error = %v, want the reason of the cancel", err)
	}
}

func TestPullGivesUpOnSilence(t *testing.T) {
	// The engine announces the pull, as some do before they have asked.
	store := &imageStore{pull: func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, `{"status":"Trying to pull a:b..."}`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}}
	engine := imageEngine(t, store)
	err := engine.pull(t.Context(), "a:b", 1, newProgress(nil))
	if !errors.Is(err, errNoAnswer) || !noRegistry(err) {
		t.Errorf("error = %v, want %v", err, errNoAnswer)
	}
}

func TestNoRegistry(t *testing.T) {
	tests := map[string]bool{
		`Get "https://r/v2/": dial tcp: lookup r on 1.2.3.4:53: no such host`: true,
		`Get "https://r/v2/": net/http: TLS handshake timeout`:                true,
		`received unexpected HTTP status: 503 Service Unavailable`:            true,
		`toomanyrequests: You have reached your pull rate limit`:              false,
		`manifest for debian:bookworm-slim not found`:                         false,
		`write /var/lib/docker/tmp/x: no space left on device`:                false,
	}
	for text, want := range tests {
		if got := noRegistry(errors.New(text)); got != want {
			t.Errorf("noRegistry(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestBuildDefaultFromDockerfile(t *testing.T) {
	var names []string
	store := &imageStore{}
	store.build = func(w http.ResponseWriter, r *http.Request) {
		for archive := tar.NewReader(r.Body); ; {
			header, err := archive.Next()
			if err != nil {
				break
			}
			names = append(names, fmt.Sprintf("%s %o", header.Name, header.Mode))
		}
		fmt.Fprintln(w, `{"stream":"Step 1/2 : FROM x\n"}`)
		fmt.Fprintln(w, `{"stream":" ---\u003e 12\n"}`)
		store.add(r.FormValue("t"), image.InspectResponse{ID: "sha256:built", Os: "linux", Architecture: "amd64"})
	}
	var talk bytes.Buffer
	got, err := imageEngine(t, store).EnsureImage(t.Context(), images.Tag(), &talk)
	if err != nil {
		t.Fatal(err)
	}
	if got != (sandbox.Image{Ref: images.Tag(), ID: "sha256:built"}) {
		t.Errorf("image = %+v", got)
	}
	want := []string{"pull docker.io/library/" + images.Base(), "build " + images.Tag()}
	if diff := cmp.Diff(want, store.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Dockerfile 644", "packages.txt 644"}, names); diff != "" {
		t.Errorf("build context (-want +got):\n%s", diff)
	}
	if !strings.Contains(talk.String(), "Step 1/2 : FROM x\n") {
		t.Errorf("talk = %q", talk.String())
	}
}

func TestBuildDefaultNamesBothFailures(t *testing.T) {
	store := &imageStore{pull: func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusInternalServerError, "dial tcp: lookup r: no such host")
	}}
	engine := imageEngine(t, store)
	engine.info.Architecture = "riscv64" // No machine of these tests.
	_, err := engine.BuildDefault(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "no registry answers, and it cannot be built from Debian's packages: ") {
		t.Errorf("error = %v, want both reasons", err)
	}
}

// TestBuildDefaultReplaces has a second build take the name over; the image
// that lost it is removed.
func TestBuildDefaultReplaces(t *testing.T) {
	store := &imageStore{}
	store.add(images.Tag(), image.InspectResponse{ID: "sha256:before", Os: "linux", Architecture: "amd64"})
	got, err := imageEngine(t, store).BuildDefault(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID == "sha256:before" || !slices.Contains(store.requests(), "remove sha256:before") {
		t.Errorf("image = %+v after %v", got, store.requests())
	}
}

// TestBuildDefaultWaits has a build find that another one made the image while
// it waited for its turn.
func TestBuildDefaultWaits(t *testing.T) {
	store := &imageStore{}
	engine := imageEngine(t, store)
	unlock, err := engine.lockBuilds(t.Context(), newProgress(nil))
	if err != nil {
		t.Fatal(err)
	}
	talk := writerFunc(func(text string) {
		if strings.Contains(text, "waiting for it") {
			store.add(images.Tag(), image.InspectResponse{ID: "sha256:other"})
			unlock()
		}
	})
	got, err := engine.BuildDefault(t.Context(), talk)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "sha256:other" || len(store.requests()) > 0 {
		t.Errorf("image = %+v after %v, want the other build's and no request", got, store.requests())
	}
}

func TestLockBuildsCanceled(t *testing.T) {
	engine := imageEngine(t, &imageStore{})
	unlock, err := engine.lockBuilds(t.Context(), newProgress(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := engine.lockBuilds(ctx, newProgress(nil)); !errors.Is(err, stop) {
		t.Errorf("error = %v, want the reason of the cancel", err)
	}
}

type writerFunc func(string)

func (f writerFunc) Write(data []byte) (int, error) {
	f(string(data))
	return len(data), nil
}

func TestReadMessages(t *testing.T) {
	var got []string
	err := readMessages(strings.NewReader("{\"id\":\"a\",\"new\":{}}\r\n\r\n{\"stream\":\"b\"}"), func(m message) {
		got = append(got, m.ID+m.Stream)
	})
	if err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("messages = %q, %v", got, err)
	}
	if err := readMessages(strings.NewReader(strings.Repeat("x", maxMessageSize+1)), func(message) {}); err == nil {
		t.Error("a message without an end was taken")
	}
}

func FuzzReadMessages(f *testing.F) {
	f.Add([]byte(`{"error":"x"}`))
	f.Add([]byte("{\"status\":\"a\"}\r\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := readMessages(bytes.NewReader(data), func(m message) {
			if m.Error != "" {
				t.Errorf("a message with the error %q was handed on", m.Error)
			}
		})
		if err == nil && len(bytes.TrimSpace(data)) > 0 && !json.Valid(bytes.SplitN(bytes.TrimSpace(data), []byte("\n"), 2)[0]) {
			t.Errorf("%q passed for messages", data)
		}
	})
}
