# Everything that is done with this repository, by people and by machines. It needs Go and git;
# run "make" for the list.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go

# The binaries are static, and nothing needs a C compiler; no path of this checkout is in them, so
# that they are the same bytes wherever they are built. Both are in the environment rather than in
# single commands because compiled packages are kept by these settings: build, vet, test and run
# share what is compiled, Kubernetes included, and so do checkouts in different folders.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

# What "tenon version" says. It is read from git here and stamped by the linker, not by go build,
# so that it is there in every kind of checkout and the same commit gives the same bytes.
VERSION ?= $(shell git describe --tags --match 'v*' --dirty 2>/dev/null | sed 's/^v//')
ifeq ($(strip $(VERSION)),)
VERSION := 0.0.0-$(shell git rev-list --count HEAD 2>/dev/null || echo 0)-g$(shell git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)
endif
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
DATE ?= $(shell TZ=UTC git show -s --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD 2>/dev/null)
STAMP := -X tenon/internal/version.number=$(VERSION) -X tenon/internal/version.commit=$(COMMIT) -X tenon/internal/version.date=$(DATE)
LINK := -buildvcs=false -ldflags '-s -w $(STAMP)'

# The modules of this repository. The product is ".", the others have dependencies that it must not.
MODULES := . $(patsubst %/go.mod,%,$(wildcard lab/go.mod bench/go.mod charts/go.mod))

# Files that a generator writes. lint compares them with what the generator writes now.
GENERATED := $(sort $(wildcard api/crds/*.yaml docs/reference/*.md deploy/aws/*/* charts/tenon/alerts.yaml charts/tenon/dashboards/*) $(shell find api -name 'zz_generated*.go' 2>/dev/null))

.PHONY: help
help: ## Say what there is to do (this)
	@echo 'make TARGET, where TARGET is one of'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS=$$'\t' read -r target text; do printf '  %-10s %s\n' "$$target" "$$text"; done

.PHONY: build
build: ## Build bin/tenon and bin/tenon-lab (the first time takes minutes: it compiles Kubernetes)
	$(GO) build $(LINK) -o bin/tenon ./cmd/tenon
	cd lab && $(GO) build $(LINK) -o ../bin/tenon-lab ./cmd/tenon-lab

# Status 2 says that a pod has no place: the example has one.
.PHONY: try
try: ## Show what "tenon plan" says about the examples; builds bin/tenon alone, without Kubernetes
	$(GO) build $(LINK) -o bin/tenon ./cmd/tenon
	@bin/tenon plan -f examples/basic.yaml -f examples/spot-and-graviton.yaml -f examples/shop.yaml || [ $$? -eq 2 ]

.PHONY: demo
demo: build ## Show Tenon at work on a real control plane and an emulated AWS; Ctrl-C ends it
	bin/tenon-lab up --demo $(DEMOFLAGS)

# Tests in a lab half wait: two labs run at a time, the packages that take longest first, so that none of
# them is left over at the end. With three on two cores, API servers took more than a minute for a request.
LABS ?= 2
LONGEST := ./turnover ./cloudstories ./nodegroups ./pages ./stories ./stopwatch

# -count=1 is not given: Go knows which tests have nothing new to tell. Stories of hundreds of nodes,
# told one after the other, take longer than the ten minutes that Go gives a package.
.PHONY: test
test: build axe ## Run all tests: the product's, the charts', the lab's, and those in a running lab
	@status=0; log=$$(mktemp); trap "rm -f $$log" EXIT; \
	(cd lab && STORIES_CLOUD=aws TENON_LAB=$(CURDIR)/bin/tenon-lab $(GO) test -timeout 30m $(TESTFLAGS) ./stories >$$log 2>&1) & stories=$$!; \
	for module in . charts; do \
		echo "test: $$module"; \
		(cd $$module && $(GO) test -timeout 30m $(TESTFLAGS) ./...) || status=1; \
	done; \
	echo "test: lab"; \
	(cd lab && TENON_LAB=$(CURDIR)/bin/tenon-lab $(GO) test -timeout 30m -p $(LABS) $(TESTFLAGS) $(LONGEST) ./...) || status=1; \
	echo "test: lab/stories, at the emulated AWS"; \
	wait $$stories || status=1; cat $$log; \
	exit $$status

# The test of the dashboard's pages puts axe-core into them. Without npm it says that it skips this.
.PHONY: axe
axe:
	@if ! command -v npm >/dev/null; then echo 'axe: skipped, there is no npm'; exit 0; fi; \
	npm install --prefix lab/dashboard --no-save --ignore-scripts --no-audit --no-fund --silent || echo 'axe: skipped, npm cannot install it'

# Each page from top to bottom, as a reader types it. make test runs them too, except the manifests of how-to pages, which
# take minutes one after the other.
.PHONY: pages
pages: build ## Run the commands of documents: getting started, the walk-through, how-to pages
	cd lab && PAGES_RUN=yes TENON_LAB=$(CURDIR)/bin/tenon-lab $(GO) test -timeout 60m -count=1 -v $(TESTFLAGS) ./pages ./release -run 'GettingStarted|Walkthrough|HowTo|PagesThatLook'

# Only packages that lock or start goroutines can race; rules of source and laws of pure decisions, which
# only their tests run side by side, are left out. The detector needs cgo, and so a C compiler;
# without one the target says that it is skipped, and fails nothing.
RACY := $(shell grep -rlE '\bgo func|"sync"|"sync/atomic"|internal/parallel"' --include='*.go' internal cloud sim | xargs -rn1 dirname | sort -u | grep -vE '^internal/(arch|testing/randomcluster)$$' | sed 's|^|./|')

.PHONY: race
race: ## Run the tests of packages with goroutines under the race detector
	@if command -v $${CC:-gcc} >/dev/null; then \
		CGO_ENABLED=1 $(GO) test -race -short -timeout 20m $(RACY); \
	else \
		echo 'race: skipped, there is no C compiler'; \
	fi

# Each target as many times: what it finds is written to testdata and fails every test run after. A
# count, not a time: go test fails at the end of a time if an input is still running then.
FUZZTIME ?= 3000x

# Only packages of this repository count what they cover. "go test -fuzz" has all packages count, and an execution
# then compares the counts of Kubernetes and the AWS SDK too: 20 executions a second instead of 17,000.
FUZZED := -gcflags='tenon/...=-d=libfuzzer'

# Two at a time: half of the time goes into linking, which uses one core.
.PHONY: fuzz
fuzz: ## Fuzz each parser and translation FUZZTIME (3000x) times
	@cache=$$($(GO) env GOCACHE)/fuzz; for module in . lab; do \
		(cd $$module && git grep -oE 'func Fuzz[A-Za-z]+' -- '*_test.go' $$([ $$module = . ] && echo ':!lab' ':!bench') | sed "s|^|$$cache $$module |; s|:func | |"); \
	done | xargs -P 2 -L 1 bash -c 'work=$$(mktemp -d); trap "rm -rf $$work" EXIT; cd $$1/$$(dirname $$2) && \
		if { $(GO) test -c $(FUZZED) -o $$work/test . && $$work/test -test.run "^$$" -test.fuzz "^$$3$$" -test.fuzztime $(FUZZTIME) \
			-test.fuzzminimizetime 100x -test.parallel 1 -test.fuzzcachedir $$0/tenon/$$1/$$(dirname $$2); } >$$work/log 2>&1; \
		then echo "fuzz: $$3 passed"; else cat $$work/log; exit 1; fi'

.PHONY: lint
lint: bin/tools/staticcheck ## Check formatting, vet, staticcheck, and that generated files are current
	@unformatted=$$($$($(GO) env GOROOT)/bin/gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	@status=0; for module in $(MODULES); do \
		echo "vet and staticcheck: $$module"; \
		(cd $$module && $(GO) vet ./... && $(CURDIR)/bin/tools/staticcheck ./...) || status=1; \
	done; exit $$status
	@before=$$(sha256sum $(GENERATED)); $(MAKE) generate; after=$$(sha256sum $(GENERATED)); \
	if [ "$$before" != "$$after" ]; then \
		echo 'generated files were not current; they are now: review and commit them'; \
		diff <(echo "$$before") <(echo "$$after") | sed -n 's/^> [0-9a-f]*/ /p'; exit 1; \
	fi
	@echo 'lint: nothing to complain about'

.PHONY: generate
generate: ## Write generated files anew: deep copies, resource definitions, reference pages, templates for AWS, dashboards
	$(GO) generate ./...
	cd charts && $(GO) generate ./...

# No container engine is needed, and no base image: charts/image says what is in it. The same commit gives the same
# bytes, so a release can be made again and compared.
PROGRAMS := $(addprefix bin/tenon-linux-,amd64 arm64)

.PHONY: image
image: ## Build the image for amd64 and arm64 as an OCI layout, with SBOMs and checksums, in bin/release
	@rm -rf bin/release
	@for program in $(PROGRAMS); do GOOS=linux GOARCH=$${program##*-} $(GO) build $(LINK) -o $$program ./cmd/tenon; done
	@cd charts && $(GO) run ./cmd/tenon-image -out ../bin/release -version '$(VERSION)' -commit '$(COMMIT)' -date '$(DATE)' $(addprefix ../,$(PROGRAMS))

# The site of a version has a folder of its own; versions.json lists the folders that are there, so that a reader can change
# from one to another. Nothing of it is fetched from elsewhere: any server of files will do.
.PHONY: site
site: ## Make a site of the documents, with search, in bin/site; it needs npm
	@if ! command -v npm >/dev/null; then echo 'site: skipped, there is no npm'; exit 0; fi; \
	npm install --prefix site --no-save --ignore-scripts --no-audit --no-fund --silent && \
	VERSION='$(VERSION)' npm run --prefix site --silent build && \
	node site/versions.js bin/site '$(VERSION)' && \
	echo 'site: in bin/site; to read it: npm run --prefix site serve'

.PHONY: bench
bench: ## Measure the core, side by side with peers
	@[ -f bench/go.mod ] || { echo 'there is no bench module in this checkout'; exit 1; }
	cd bench && $(GO) run ./cmd/bench $(BENCHFLAGS)

# A run depends on its flags alone: what fails prints those that repeat it, and the shortest script
# of mishaps that still fails. SIMFLAGS says more, as in make soak SIMFLAGS='-seed 100000'.
SIM := $(GO) run ./sim/cmd/sim

.PHONY: sim
sim: ## Simulate hundreds of seeds with every fault, for at most three minutes
	$(SIM) -seeds 500 -for 150s -vary -faults all -shrink $(SIMFLAGS)
	$(SIM) -seeds 20 -for 20s -hours 6 -pods 10 -baseline empties -faults lag,api,price,shortage -shrink

.PHONY: soak
soak: ## Simulate seeds with every fault until told to stop
	$(SIM) -seeds 0 -seed $$(date +%s) -vary -faults all -shrink $(SIMFLAGS)

.PHONY: planted
planted: ## Plant each mistake of sim/planted, and count the seeds that find it
	$(GO) run ./sim/cmd/plant $(PLANTFLAGS)

.PHONY: clean
clean: ## Remove what was built; a running lab is left alone
	rm -rf bin

# Tools have a module of their own, which pins their versions.
bin/tools/staticcheck: tools/go.mod tools/go.sum
	cd tools && $(GO) build -buildvcs=false -o ../bin/tools/staticcheck honnef.co/go/tools/cmd/staticcheck
