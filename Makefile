# Every target is one command; .ci/run calls lint, test, interop, faults-short and the fuzz targets.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
INPUTS  ?= 30000
SEED    ?= 0
FAULTS   = $(GO) test -tags faults -count=1

.PHONY: build install demo test race web e2e faults faults-short interop s3 fuzz bench lint golden

build:            ## bin/steno
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/steno ./cmd/steno

install:          ## into $GOBIN
	CGO_ENABLED=0 $(GO) install -trimpath -ldflags '$(LDFLAGS)' ./cmd/steno

demo: build       ## the whole pipeline on bundled recordings
	./bin/steno demo

test:             ## all tests; they need PostgreSQL's programs, Chromium and tmux, and say so
	@./.ci/programs postgresql chromium tmux
	$(GO) test -count=1 -timeout 20m ./...

race:             ## all tests under the race detector
	@./.ci/programs postgresql chromium tmux
	$(GO) test -count=1 -race -timeout 60m ./...

web:              ## the page in Chromium at full size: how evenly it draws, and pictures of it in bin/shots
	@./.ci/programs chromium
	$(GO) test -count=1 -v -timeout 30m ./console/web -args -long -shots $(CURDIR)/bin/shots

e2e:              ## what docker-compose.yml describes, as processes: killed on the way, then compared
	@./.ci/programs postgresql
	$(GO) test -tags e2e -count=1 -v -timeout 2m ./deploy/e2e

faults:           ## ten minutes of faults on one server and on three, clocks that jump, and a run that must fail
	@./.ci/programs postgresql
	$(FAULTS) -v -timeout 100m ./deploy/faults -args -duration 10m -clocks -outage 60s -seed $(SEED)

faults-short:     ## the same within some three minutes, without the clocks
	@./.ci/programs postgresql
	$(FAULTS) -v -timeout 5m ./deploy/faults -args -seed $(SEED)

interop:          ## A2A peers of the Go SDK, with and without the proxy; a module of its own
	cd ingest/interop/a2a && $(GO) test -count=1 ./...

s3:               ## archives in the buckets of a real S3 server, which is built the first time: some minutes
	GOBIN=$(CURDIR)/bin $(GO) install github.com/versity/versitygw/cmd/versitygw@v1.8.0
	STENO_VERSITYGW=$(CURDIR)/bin/versitygw $(GO) test -tags s3 -count=1 -v -timeout 15m -run 'Server|Bucket' ./sink/archive/s3 ./cmd/steno

fuzz:             ## every fuzz target for INPUTS inputs
	./.ci/fuzz $(INPUTS)

bench:            ## every benchmark, with allocations
	$(GO) test -run '^$$' -bench . -benchmem ./...

lint:             ## vet, staticcheck, tidy, gofmt
	$(GO) vet -tags e2e,faults,s3 ./...
	$(GO) vet -tags unfenced ./translate/stage
	$(GO) tool staticcheck -tags e2e,faults,s3 ./...
	$(GO) mod tidy -diff
	cd ingest/interop/a2a && $(GO) vet ./... && $(GO) mod tidy -diff
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted"; exit 1; }

golden:           ## fill in golden files that have no events yet; pinned ones are never rewritten
	$(GO) test ./translate/... -run Golden -update
