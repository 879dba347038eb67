# thresh: build, test, check. `make help` lists the targets. All output goes to $(O), by default build/.
#
# A partial build: make check FOLDERS="core/base core/lift" TESTS="tests/lift/*.c" O=build/part
VERSION = 0.1
REVISION := $(shell git describe --always --dirty 2>/dev/null)
O ?= build
Q = $(if $(V),,@)
CC = gcc
SPACE_ROOMS = $(patsubst %,core/space/%,data formula ground engine names count)
FOLDERS ?= core/base core/codec core/keys $(SPACE_ROOMS) core/lift core/backbone core/codegen core/pipeline \
           spacedsl mcts perfmodel agent coordinator coordinator/sequence coordinator/report coordinator/web coordinator/launch \
           coordinator/campaign coordinator/cli
TESTS ?= $(filter-out tests/fuzz/%,$(wildcard tests/*/*.c))
SPACES ?= $(wildcard spacedsl/spaces/*.space)
# OpenCL is loaded when a device is asked for (agent/opencl_library.c): its headers are for building, its library and driver for
# running, ocl-icd-opencl-dev for the tests, which compile host.c.
PACKAGES = build-essential pkg-config libcriterion-dev opencl-headers ocl-icd-libopencl1 pocl-opencl-icd ocl-icd-opencl-dev \
           libzmq3-dev libczmq-dev libmsgpack-dev libsqlite3-dev libjansson-dev libmicrohttpd-dev libyaml-dev uthash-dev oclgrind clang-format
PKGS = msgpack libzmq libczmq sqlite3 jansson libmicrohttpd yaml-0.1

WARN = -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wconversion
DEFS = -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 -I. -I$(O)/gen
CFLAGS ?= -std=c11 -g $(WARN) $(if $(WERROR),-Werror)
ARCH ?= -march=x86-64-v3
RELEASE = -O3 $(ARCH) -DNDEBUG
# Of the sanitized code, what propagates, searches and generates runs long enough for more than -O1. -g1: lines, no variables,
# which compiles in five sixths of the time.
SAN_LEVEL = -O1
$(addprefix $(O)/san/,core/base/%.o core/space/%.o core/codegen/%.o mcts/%.o): SAN_LEVEL = -O2
SAN = $(SAN_LEVEL) -g1 $(ARCH) -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
TSAN = -O1 $(ARCH) -fno-omit-frame-pointer -fsanitize=thread
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null)

SRC := $(filter-out %/main.c %/spacec_main.c,$(wildcard $(addsuffix /*.c,$(FOLDERS))))
PRIORS ?= $(wildcard spacedsl/spaces/*.prior)
# What a page is made of beside its content, as C texts.
ASSETS = $(wildcard coordinator/report/*.css coordinator/report/*.js)
GEN := $(patsubst spacedsl/spaces/%.space,$(O)/gen/%.space.c,$(SPACES)) \
       $(patsubst spacedsl/spaces/%.prior,$(O)/gen/%.prior.c,$(PRIORS)) \
       $(patsubst coordinator/report/%,$(O)/gen/%.c,$(ASSETS)) $(O)/gen/version.c
# Names of spaces as C (spacec --header), written anew only if they differ. What may include them waits for them in a
# first build.
NAMES := $(patsubst spacedsl/spaces/%.space,$(O)/gen/%.space.h,$(SPACES))
# Of experiments/search: what makes a pool.
POOLS = $(patsubst %,experiments/search/%.c,from_csv from_stores gather pool)
TEST_SRC := $(sort $(wildcard $(TESTS)) $(if $(filter core/backbone,$(FOLDERS)),$(wildcard tests/fixture/*.c)) \
            $(if $(filter core/space/data,$(FOLDERS)),tests/fixture/instance.c) \
            $(if $(filter tests/search/%,$(wildcard $(TESTS))),$(POOLS) experiments/search/statistics.c))
objs = $(patsubst %.c,$(O)/$(1)/%.o,$(2))
REL_OBJ = $(call objs,rel,$(SRC)) $(patsubst $(O)/gen/%.c,$(O)/rel/gen/%.o,$(GEN))
SAN_OBJ = $(call objs,san,$(SRC) $(TEST_SRC)) $(patsubst $(O)/gen/%.c,$(O)/san/gen/%.o,$(GEN))
TSAN_OBJ = $(call objs,tsan,$(SRC)) $(patsubst $(O)/gen/%.c,$(O)/tsan/gen/%.o,$(GEN))
NAMES_USERS = $(filter-out core/base/% core/codec/% core/keys/% core/space/% core/lift/% spacedsl/%,$(SRC) $(TEST_SRC)) \
              coordinator/cli/main.c $(wildcard experiments/*/*.c)
SPACEC_SRC = $(wildcard core/base/*.c spacedsl/*.c)

.SECONDARY: $(GEN) $(NAMES)
.DEFAULT_GOAL := all
.PHONY: FORCE all help deps demo test test-all check tsan bench bench-spaces bench-search bench-scale random hostile kills slurm bundle page fuzz lint install \
        uninstall install-check clean

all: $(O)/thresh $(O)/share.made ## build the release binary build/thresh
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

deps: ## install what is missing (Debian packages; as root)
	@tests/deps.sh $(PACKAGES)

demo: deps ## install what is missing, build, tune a matrix product on this machine
	@$(MAKE) --no-print-directory -j2 all
	$(O)/thresh tune experiments/kernels/matmul.lift --size M=512,N=512,K=512 --evaluations 100 --out $(O)/demo

test: deps ## install what is missing, build with sanitizers, run all tests
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory install-check
	@$(MAKE) --no-print-directory -j2 check

test-all: deps ## the tests, with the long ones
	@$(MAKE) --no-print-directory -j2 all check THRESH_LONG=1

# PoCL compiles a kernel once for all tests: else half of the time goes there. The address sanitizer notes four callers of an
# allocation, not thirty, which cost a twentieth of the time where kernels are compiled. It keeps 16 MiB of freed memory from use, not
# 256: fresh pages for all that is allocated cost an eighth of the time.
check: $(O)/thresh-tests $(O)/thresh $(O)/search-bench $(O)/search-surrogate $(O)/search-table ## run the tests (no installation)
	rm -rf $(O)/pocl && mkdir -p $(O)/pocl
	POCL_CACHE_DIR=$(abspath $(O)/pocl) ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16:malloc_context_size=4 \
	    THRESH_LONG=$(THRESH_LONG) tests/run.sh $(O)/thresh-tests --timeout 300 -j2

tsan: deps ## searches with the thread sanitizer
	@$(MAKE) --no-print-directory -j2 $(O)/thresh-tsan
	tests/tsan.sh $(O)/thresh-tsan

bench: all ## searches, naive kernels and peers side by side (needs the peers' packages)
	experiments/bench.sh $(O)/thresh

bench-search: $(O)/search-bench $(O)/search-table $(O)/make-pool ## searches compared over 50 seeds on recorded pools, without a device
	experiments/search/run.sh $(O)

bench-scale: all $(O)/simulate $(O)/endure ## one coordinator against 1 to 4,000 simulated agents; a long search
	@tests/deps.sh sqlite3
	experiments/scale/run.sh $(O) $(O)/scale agents
	experiments/scale/run.sh $(O) $(O)/scale evaluations

HOSTILE ?= 10000000
hostile: $(O)/hostile ## HOSTILE frames (default 10,000,000) that no honest peer sends, against coordinator and agent
	$(O)/hostile coordinator $(HOSTILE)
	$(O)/hostile agent $(HOSTILE)

RANDOM ?= 2000
SEED ?= 1
random: all $(O)/leaves ## RANDOM random programs (default 2,000) against NumPy, with 20 implementations each
	@tests/deps.sh python3-numpy
	/usr/bin/python3 experiments/random/programs.py $(O)/thresh $(O)/leaves $(RANDOM) $(SEED)

bench-spaces: all ## count the ordinary spaces beside Gecode (needs libgecode-dev)
	@tests/deps.sh libgecode-dev python3
	experiments/gecode/run.sh $(O)/thresh

slurm: all ## a search on a Slurm cluster of four nodes on this machine (as root; not in CI: it starts daemons)
	@tests/deps.sh slurm-wlm munge sqlite3 pocl-opencl-icd
	tests/slurm.sh $(O)/thresh

bundle: all ## a folder with the binary and its shared libraries
	tests/bundle.sh $(O) $(O)/bundle

page: all ## the live page in headless Chromium, with a screenshot
	@tests/deps.sh chromium python3
	tests/e2e/page.sh $(O)/thresh $(O)/page.png

KILLS ?= 200
kills: all ## a campaign whose coordinator, agents and runners are killed 200 times: nothing is lost (10 minutes)
	@tests/deps.sh sqlite3
	tests/e2e/kills.sh $(O)/thresh $(KILLS)

FUZZ_SECONDS ?= 20
fuzz: ## fuzz the parsers, FUZZ_SECONDS seconds each (default 20)
	@tests/deps.sh clang libclang-rt-14-dev $(PACKAGES)
	@$(MAKE) --no-print-directory -j2 $(O)/fuzz/fuzz_space $(O)/fuzz/fuzz_lift
	tests/fuzz/run.sh $(O)/fuzz $(FUZZ_SECONDS)

lint: $(NAMES) ## layout, headers, which room includes which
	tests/lint.sh $(O)
	tests/rooms.sh

DEST = $(DESTDIR)$(or $(PREFIX),/usr/local)
# What a plug-in is compiled against, and what stands beside the documentation under its own path.
HEADERS = mcts/heuristic.h mcts/policy.h mcts/view.h core/space/space.h core/space/def.h core/base/attr.h core/base/pcg32.h
EXAMPLES = $(wildcard experiments/campaigns/*.yaml experiments/campaigns/README.md experiments/baseline/*) \
           $(wildcard experiments/kernels/*.lift experiments/spaces/* experiments/heuristics/* spacedsl/spaces/*.space)
install: all ## install thresh under $(PREFIX), default /usr/local
	install -D -m755 $(O)/thresh $(DEST)/bin/thresh
	mkdir -p $(DEST)/share && cp -r $(O)/share/. $(DEST)/share
	install -D -m644 -t $(DEST)/share/thresh/devices perfmodel/devices/*.json
	for f in $(HEADERS); do install -D -m644 $$f $(DEST)/include/thresh/$$f || exit; done
	for f in $(EXAMPLES); do install -D -m$$(test -x $$f && echo 755 || echo 644) $$f $(DEST)/share/doc/thresh/$$f || exit; done
	mkdir -p $(DEST)/lib/systemd/system
	sed 's|/usr/local/bin|$(or $(PREFIX),/usr/local)/bin|' 'agent/deploy/thresh-agent@.service' > '$(DEST)/lib/systemd/system/thresh-agent@.service'
	sed '/^## Where things are/,$$d' README.md > $(DEST)/share/doc/thresh/README.md
	sed '/^## The compiler/,$$d' spacedsl/README.md > $(DEST)/share/doc/thresh/spacedsl/README.md
	mkdir -p $(DEST)/share/doc/thresh/core/lift
	sed '/^## The folder/,$$d' core/lift/README.md > $(DEST)/share/doc/thresh/core/lift/README.md

uninstall: ## remove what install has installed
	rm -f $(DEST)/bin/thresh $(DEST)/share/man/man1/thresh.1 $(DEST)/share/man/man1/thresh-*.1
	rm -f $(DEST)/share/bash-completion/completions/thresh $(DEST)/share/zsh/site-functions/_thresh
	rm -f $(DEST)/lib/systemd/system/thresh-agent@.service
	rm -rf $(DEST)/include/thresh $(DEST)/share/thresh $(DEST)/share/doc/thresh

install-check: all ## install into a folder, check what is there, uninstall
	MAKE="$(MAKE)" tests/install.sh $(O)

clean:
	rm -rf $(O)

$(O)/thresh: $(O)/rel/coordinator/cli/main.o $(REL_OBJ)
	$(Q)$(CC) -rdynamic -o $@ $^ $(PKG_LIBS) -ldl -lpthread -lm
$(O)/simulate $(O)/endure: $(O)/%: $(O)/rel/experiments/scale/%.o $(O)/rel/experiments/scale/crowd.o $(REL_OBJ)
	$(Q)$(CC) -rdynamic -o $@ $^ $(PKG_LIBS) -ldl -lpthread -lm
$(O)/leaves: $(O)/rel/experiments/random/leaves.o $(REL_OBJ)
	$(Q)$(CC) -rdynamic -o $@ $^ $(PKG_LIBS) -ldl -lpthread -lm
# A search of a pool: the tree with the rows of a pool in place of core/space.
POOL_SPACE = $(patsubst %,experiments/search/%.c,pool pool_rows pool_space pool_log pool_names)
SEARCHING = $(filter-out mcts/descent.c mcts/estimate.c mcts/chen.c mcts/interval.c mcts/uniform.c,$(wildcard mcts/*.c))
$(O)/search-bench: $(call objs,rel,experiments/search/bench.c experiments/search/options.c $(POOL_SPACE) $(SEARCHING) $(wildcard core/base/*.c perfmodel/estimate*.c) core/space/names/hint.c) \
                   $(O)/rel/gen/gpu.prior.o
	$(Q)$(CC) -rdynamic -o $@ $^ -ldl -lpthread -lm
$(O)/search-table: $(call objs,rel,experiments/search/table.c experiments/search/statistics.c $(wildcard core/base/*.c))
	$(Q)$(CC) -o $@ $^ -lm
$(O)/make-pool: $(call objs,rel,experiments/search/make_pool.c $(POOLS)) $(REL_OBJ)
	$(Q)$(CC) -rdynamic -o $@ $^ $(PKG_LIBS) -ldl -lpthread -lm
$(O)/search-surrogate: $(call objs,rel,experiments/search/surrogate.c experiments/search/options.c experiments/search/pool.c) $(REL_OBJ)
	$(Q)$(CC) -rdynamic -o $@ $^ $(PKG_LIBS) -ldl -lpthread -lm
# With the sanitizers inside, so that it runs where no compiler is.
$(O)/hostile: $(call objs,san,experiments/scale/hostile.c experiments/scale/crowd.c tests/fixture/hostile.c $(SRC)) \
              $(patsubst $(O)/gen/%.c,$(O)/san/gen/%.o,$(GEN))
	$(Q)$(CC) $(SAN) -static-libasan -static-libubsan -rdynamic -o $@ $^ $(PKG_LIBS) -ldl -lpthread -lm
# Manual pages and completion, which the binary prints.
$(O)/share.made: $(O)/thresh coordinator/cli/pages.sh
	$(Q)coordinator/cli/pages.sh $(O)/thresh $(O)/share
	@touch $@
# Without relocations, of which each test's process would make half a million.
$(O)/thresh-tests: $(SAN_OBJ)
	$(Q)$(CC) $(SAN) -no-pie -rdynamic -o $@ $^ $(PKG_LIBS) $(if $(filter agent,$(FOLDERS)),,-lOpenCL) -lcriterion -ldl -lpthread -lm
$(O)/thresh-tsan: $(O)/tsan/coordinator/cli/main.o $(TSAN_OBJ)
	$(Q)$(CC) $(TSAN) -rdynamic -o $@ $^ $(PKG_LIBS) -ldl -lpthread -lm
$(O)/spacec: $(call objs,rel,$(SPACEC_SRC))
	$(Q)$(CC) -o $@ $^ -lm
$(O)/gen/%.space.c: spacedsl/spaces/%.space $(O)/spacec
	@mkdir -p $(@D)
	$(Q)$(O)/spacec $< -o $@
$(O)/gen/%.space.h: spacedsl/spaces/%.space $(O)/spacec
	@mkdir -p $(@D)
	$(Q)$(O)/spacec --header $< -o $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(foreach v,rel san tsan,$(call objs,$(v),$(NAMES_USERS))): | $(NAMES)
$(foreach v,rel san tsan,$(O)/$(v)/coordinator/cli/space_compile.o): $(O)/gen/space_def.inc
$(O)/gen/space_def.inc: core/space/def.h
	@mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@
$(O)/gen/%.prior.c: spacedsl/spaces/%.prior
	@mkdir -p $(@D)
	$(Q)(echo 'extern const char prior_$*[];'; echo 'const char prior_$*[] ='; \
	  sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $<; echo ';') > $@
define asset
@mkdir -p $(@D)
$(Q)(echo 'extern const char asset_$(subst .,_,$(<F))[]; const char asset_$(subst .,_,$(<F))[] ='; \
  sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $<; echo ';') > $@
endef
$(O)/gen/%.css.c: coordinator/report/%.css
	$(asset)
$(O)/gen/%.js.c: coordinator/report/%.js
	$(asset)
# Written anew only if it differs, so that a new revision compiles one file.
$(O)/gen/version.c: FORCE
	@mkdir -p $(@D)
	@echo 'extern const char cli_version[]; const char cli_version[] = "thresh $(VERSION)$(REVISION:%= (%))";' > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
FUZZ_SRC = $(wildcard core/base/*.c core/lift/*.c core/space/*/*.c) $(filter-out %_main.c,$(wildcard spacedsl/*.c))
$(O)/fuzz/%: tests/fuzz/%.c $(FUZZ_SRC) $(wildcard core/*/*.h core/space/*/*.h spacedsl/*.h)
	@mkdir -p $(@D)
	$(Q)clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(DEFS) $(PKG_CFLAGS) \
	    -o $@ $(filter %.c,$^) $(PKG_LIBS) -lm
# A folder of objects with its own flags: $(1) the folder, $(2) the flags.
define objects
$(O)/$(1)/gen/%.o: $(O)/gen/%.c
	@mkdir -p $$(@D)
	$(Q)$(CC) $(CFLAGS) $(2) $(DEFS) -MMD -MP -c $$< -o $$@
$(O)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$(Q)$(CC) $(CFLAGS) $(2) $(DEFS) $(PKG_CFLAGS) -MMD -MP -c $$< -o $$@
endef
$(eval $(call objects,rel,$(RELEASE)))
$(eval $(call objects,san,$$(SAN)))
$(eval $(call objects,tsan,$(TSAN)))

-include $(shell find $(O) -name '*.d' 2>/dev/null)
