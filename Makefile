# Everything a contributor needs; `make run` and `make test` are the two that the README promises.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/pandodb/pando/server.Version=$(VERSION)
RACE    := ./session ./txn ./engine/... ./store/... ./wire ./server ./cluster/... ./replica ./mvcc ./kv # the longest first

# Every go command takes Pebble from bin/pebble, which scripts/pebble.sh makes.
export GO
export GOFLAGS := $(shell $(GO) env GOFLAGS) '-modfile=$(CURDIR)/bin/pando.mod'

TORTURE ?= 1h # how long make torture goes on

.PHONY: pebble build run test compat race fuzz hunt torture bench lint clean

pebble: # with its memory from package engine/offheap
	scripts/pebble.sh

build: pebble ## the static binary bin/pando
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/pando ./cmd/pando

run: build ## serve ./data on 127.0.0.1:4000
	bin/pando start --data-dir data

test: pebble ## everything that must pass, in stages that say how long they take: less than 20 minutes on two quiet processors
	RACE='$(RACE)' scripts/test.sh

compat: build ## real clients: drivers, ORMs and their migrations, from their registries, in about ten minutes; docs/compatibility.md is the table of results
	COMPAT=all $(GO) test ./tests -run 'TestCompat' -timeout 45m -compat-table $(CURDIR)/docs/compatibility.md

race: pebble ## the race detector over the concurrent packages, full length
	CGO_ENABLED=1 $(GO) test -race -tags expensive -timeout 30m $(RACE)

fuzz: pebble ## each fuzzer for a minute
	scripts/fuzz.sh 60s

hunt: build ## the random tests with new seeds
	scripts/test-programs.sh
	scripts/hunt.sh 10

torture: pebble ## a cluster of the real binary under clients that note what they see, while misfortunes happen to it: for TORTURE=1h, with seeds that it prints
	PANDO_SEED=$${PANDO_SEED:-random} TORTURE=$(strip $(TORTURE)) CGO_ENABLED=0 $(GO) test ./tests -run '^Test(OlderProgram|HungDiskOfGateway|LargeTextsOfCopies|ShortQueues|CutNetwork|Torture)$$' -v -count=1 -timeout 0

bench: build ## the interleaved comparison with MariaDB, about 40 minutes, and up to twice that where demands are missed; the report goes to bench/results
	scripts/test-programs.sh
	bin/pando bench run --plan compare --start pando --start mariadb --trivial --budget-minutes 30 --out bench/results --name compare

lint: pebble ## formatting and vet
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...

clean:
	rm -rf bin
