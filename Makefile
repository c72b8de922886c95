# belljar: "make" lists the targets. Needed: Go 1.26, and for what runs
# containers an engine, which .ci/setup finds or installs.

SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help

GO ?= go
PKGS ?= ./...
FUZZTIME ?= 10s

VERSION = $(shell git describe --tags --dirty 2>/dev/null || echo devel)
COMMIT = $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# Packages with tests that run containers, told by what their tests import.
ENGINE_PKGS = $(shell $(GO) list -f '{{$$p := .ImportPath}}{{range .TestImports}}{{if eq . "github.com/belljar/belljar/internal/enginetest"}}{{$$p}} {{end}}{{end}}{{range .XTestImports}}{{if eq . "github.com/belljar/belljar/internal/enginetest"}}{{$$p}} {{end}}{{end}}' ./... | tr ' ' '\n' | sort -u)

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# The tests remove what they start by themselves; a container that does it for
# them would have to be pulled.
export TESTCONTAINERS_RYUK_DISABLED := true

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: go
go:
	@version=$$($(GO) env GOVERSION 2>/dev/null); \
	case "$$version" in \
	go1.2[6-9]* | go1.[3-9][0-9]* | devel*) ;; \
	*) echo "belljar needs Go 1.26, and $${version:-no Go} is here: get it from https://go.dev/dl/ and put its bin folder into PATH" >&2; exit 1 ;; \
	esac

.PHONY: setup
setup: ## make sure that a container engine answers
	@.ci/setup

# What runs inside containers is carried by the binary, for each processor.
.PHONY: supervisors
supervisors: go
	@for arch in amd64 arm64; do \
		CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build -trimpath -ldflags '-s -w' \
			-o sandbox/docker/supervisors/linux-$$arch ./cmd/belljar-supervisor || exit 1; \
	done

.PHONY: build
build: supervisors ## build the static binary bin/belljar
	CGO_ENABLED=0 $(GO) build -tags carried -trimpath -ldflags '$(LDFLAGS)' -o bin/belljar ./cmd/belljar

.PHONY: demo
demo: go setup build ## show a scripted agent at work in a real container
	@.ci/demo bin/belljar

.PHONY: test
test: go setup lint unit race cross integration ## everything that continuous integration checks
	@echo "all checks passed"

.PHONY: lint
lint: go ## check format, vet, staticcheck and go.mod
	@files=$$(gofmt -s -l .); if [ -n "$$files" ]; then echo "gofmt -s would change:" >&2; echo "$$files" >&2; exit 1; fi
	$(GO) vet ./... ./.ci/gate
	$(GO) vet -tags soak,engines ./sandbox/docker
	$(GO) tool staticcheck ./... ./.ci/gate
	$(GO) mod tidy -diff

.PHONY: unit
unit: go ## run the tests that need no engine
	BELLJAR_TEST_ENGINE=skip $(GO) test -timeout 30m $(PKGS) ./.ci/gate

.PHONY: race
race: go ## run the tests that need no engine under the race detector
	BELLJAR_TEST_ENGINE=skip $(GO) test -race -short -timeout 30m $(PKGS)

.PHONY: integration
integration: go setup build ## run the tests in real containers; a skipped test fails
	bin/belljar image build
	BELLJAR_TEST_BINARY=$(CURDIR)/bin/belljar BELLJAR_TEST_ENGINE=require $(GO) test -json -count=1 -p 1 -timeout 40m $(ENGINE_PKGS) | $(GO) run ./.ci/gate

# How much it does is set by BELLJAR_SOAK_COMMANDS, _FAULTS, _SANDBOXES and
# _SEED; see sandbox/docker/soak_settings_test.go.
.PHONY: soak
soak: go setup build ## run 10,000 commands, and 2,000 among faults, in real containers
	bin/belljar image build
	BELLJAR_TEST_ENGINE=require $(GO) test -tags soak -count=1 -v -timeout 6h -run '^TestSoak' ./sandbox/docker

# Engines beside the usual one: each is started for the tests and taken down.
ENGINES ?= podman gvisor current

.PHONY: test-engines
test-engines: go setup build ## run the tests of isolation on Podman, gVisor and the current Docker, or on ENGINES
	@.ci/engines $(ENGINES)

.PHONY: check-mcp
check-mcp: go setup build ## check belljar mcp with the MCP inspector, which npm fetches
	@.ci/mcp-inspector bin/belljar

.PHONY: cross
cross: supervisors ## compile for every platform
	@for platform in $(PLATFORMS); do \
		echo "building for $$platform"; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -tags carried -o /dev/null ./cmd/belljar || exit 1; \
	done

.PHONY: fuzz
fuzz: go ## run every fuzz target for FUZZTIME (10s)
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' "$$package" | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			BELLJAR_TEST_ENGINE=skip $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" || exit 1; \
		done; \
	done

.PHONY: bench
bench: go setup build ## run the benchmarks, also those in real containers
	bin/belljar image build
	BELLJAR_TEST_BINARY=$(CURDIR)/bin/belljar BELLJAR_TEST_ENGINE=require $(GO) test -run '^$$' -bench . -benchmem -p 1 -timeout 30m ./...

.PHONY: clean
clean: ## remove what was built here
	rm -rf bin coverage sandbox/docker/supervisors/linux-*
