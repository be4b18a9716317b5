# Everything a contributor runs. Tools are pinned in tools/tools.txt and built on first use, outside the checkout.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PKG      ?= ./...
ARGS     ?=
FUZZTIME ?= 10s
NEWEST   ?=
MINUTES  ?= 10
HOURS    ?= 8
SEED     ?= 0
PLANTED  ?=
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help run test gen verify lint contract providers fmt race fuzz cover bench prove prove-long profile docs build tools picture sbom licences vuln reproducible image chart snapshot postgres testtools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: export PGO = off
run: build ## start PostgreSQL, the service and a sandbox provider on this machine (Ctrl-C stops them)
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

fuzz: ## each fuzz target for FUZZTIME=10s, or with NEWEST=3 the targets of the three newest parsers
	@FUZZTIME=$(FUZZTIME) NEWEST=$(NEWEST) scripts/fuzz

bench: postgres ## throughput compared with pgbench, on this machine
	@go run ./bench $(ARGS)

prove: postgres ## attack the program for MINUTES=10 while customers pay, and check every answer (SEED=n again, PLANTED=all with planted defects)
	@go test -count=1 -timeout 0 -v ./internal/dev/e2e -run '^Test$(if $(PLANTED),Planted,Prove)$$' -args -prove-minutes $(MINUTES) -prove-seed $(SEED) -prove-planted "$(PLANTED)" $(ARGS)

prove-long: ## prove for HOURS=8
	@$(MAKE) --no-print-directory prove MINUTES=$$(awk "BEGIN { print 60 * $(HOURS) }")

profile: postgres ## cmd/paylatch/default.pgo: a CPU profile under load, by which the compiler optimizes the program
	@go run ./bench -pgo cmd/paylatch/default.pgo

docs: ## bin/docs: the documentation as pages, as the service has it at /docs/index.html
	@go run ./tools/docs bin/docs && echo "bin/docs/index.html"

gen: ## write the generated code: queries, API types, pages, tables
	@scripts/gen

verify: postgres ## check that generated code, golden files, modules and formatting are current
	@scripts/verify

lint: ## golangci-lint, dead code, and the workflows
	@echo "lint: golangci-lint" && "$$(scripts/tool golangci-lint)" run $(PKG)
	@echo "lint: actionlint" && "$$(scripts/tool actionlint)"
	@scripts/deadcode

contract: postgres ## check api/ with others' tools (Node 20): Redocly, Spectral, AsyncAPI, generated clients, Prism; skipped with a message without npm
	@scripts/contract $(ARGS)

providers: postgres ## check the adapters with the providers' API descriptions, by Prism; skipped with a message without them
	@scripts/providers $(ARGS)

fmt: ## format the code
	@"$$(scripts/tool golangci-lint)" fmt

tools: ## build all tools now
	@for t in $$(awk '!/^#/ { print $$1 }' tools/tools.txt); do scripts/tool $$t; done

sbom: build ## bin/paylatch.cdx.json: the parts of the program, in CycloneDX
	@scripts/sbom "$(VERSION)"

licences: ## THIRD_PARTY.md: the licences of all parts; fails if a part has none
	@go test -count=1 ./tools/parts -run TestThirdParty -update

vuln: ## known vulnerabilities in the code that the program calls; skipped with a message without their database
	@scripts/vuln

reproducible: ## check that two builds in two places have the same bytes
	@scripts/reproducible "$(VERSION)"

image: build postgres ## build the image by buildah, without a registry, and start it once; skipped with a message if it can't run
	@scripts/image "$(VERSION)"

chart: ## lint and render the Helm chart, and compare it with the schemas of Kubernetes and with deploy/kubernetes
	@scripts/chart

snapshot: ## dist/: programs, packages, SBOMs and checksums for all platforms, as for a release, without publishing
	@scripts/release --snapshot

picture: postgres testtools ## docs/demo.png: a new picture of the demo for the README
	@PAYLATCH_PICTURE="$(CURDIR)/docs/demo.png" go test -count=1 ./internal/dev/e2e -run TestReadmePicture

postgres:
	@scripts/ensure-postgres.sh PAYLATCH_TEST_DATABASE_URL

testtools:
	@scripts/ensure-test-tools.sh
