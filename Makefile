# Everything a contributor runs. Tools are pinned in tools/tools.txt and built on first use, outside the checkout.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PKG      ?= ./...
ARGS     ?=
FUZZTIME ?= 10s
NEWEST   ?=
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help run test gen verify lint fmt race fuzz cover bench docs build tools picture sbom licences vuln reproducible image chart snapshot postgres testtools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## start everything on this machine: PostgreSQL, the service, a provider to play with (Ctrl-C stops it)
	@scripts/ensure-postgres.sh PAYLATCH_DATABASE_URL
	@exec bin/paylatch dev

build: ## bin/paylatch, static
	@scripts/build "$(VERSION)"

test: postgres testtools ## all tests on a real PostgreSQL (PKG=./fsm ARGS='-run Next' narrows them)
	@scripts/gotest $(PKG) $(ARGS)

race: postgres testtools ## all tests under the race detector
	@CGO_ENABLED=1 scripts/gotest -race $(PKG) $(ARGS)

cover: postgres testtools ## statement coverage of all packages by all tests, in coverage.out
	@scripts/gotest -coverpkg=./... -coverprofile=coverage.out $(PKG) $(ARGS)
	@go tool cover -func=coverage.out | tail -1

fuzz: ## each fuzz target for FUZZTIME=10s, or those of the NEWEST=3 parsers
	@FUZZTIME=$(FUZZTIME) NEWEST=$(NEWEST) scripts/fuzz

bench: postgres ## throughput beside pgbench, on this machine
	@go run ./bench $(ARGS)

docs: ## bin/docs: the documentation as pages, the same that the service has at /docs/index.html
	@go run ./tools/docs bin/docs && echo "bin/docs/index.html"

gen: ## write the generated code: queries, API types, pages, tables
	@scripts/gen

verify: postgres ## generated code, golden files, modules and formatting are current
	@scripts/verify

lint: ## golangci-lint, code that nothing reaches, and the workflows
	@echo "lint: golangci-lint" && "$$(scripts/tool golangci-lint)" run $(PKG)
	@echo "lint: actionlint" && "$$(scripts/tool actionlint)"
	@scripts/deadcode

fmt: ## format the code
	@"$$(scripts/tool golangci-lint)" fmt

tools: ## build all tools now
	@for t in $$(awk '!/^#/ { print $$1 }' tools/tools.txt); do scripts/tool $$t; done

sbom: build ## bin/paylatch.cdx.json: what the program is made of, in CycloneDX
	@scripts/sbom "$(VERSION)"

licences: ## THIRD_PARTY.md: the licences of all parts; fails for one without
	@go test -count=1 ./tools/parts -run TestThirdParty -update

vuln: ## known weaknesses in what the program calls; skipped, in one sentence, without their database
	@scripts/vuln

reproducible: ## two builds in two places have the same bytes
	@scripts/reproducible "$(VERSION)"

image: build postgres ## the image, by buildah and without a registry, started once; skipped, in one sentence, where it can't run
	@scripts/image "$(VERSION)"

chart: ## the Helm chart: linted, rendered, held to the schemas of Kubernetes and to deploy/kubernetes
	@scripts/chart

snapshot: ## dist/: programs, packages, SBOMs and checksums for all platforms, as a release has them, and no release
	@scripts/release --snapshot

picture: postgres testtools ## takes the README's picture of the demo anew, in docs/demo.png
	@PAYLATCH_PICTURE="$(CURDIR)/docs/demo.png" go test -count=1 ./internal/dev/e2e -run TestReadmePicture

postgres:
	@scripts/ensure-postgres.sh PAYLATCH_TEST_DATABASE_URL

testtools:
	@scripts/ensure-test-tools.sh
