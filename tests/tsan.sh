#!/bin/sh
# What has threads, under the thread sanitizer: a search with the agent in a thread, a resumed and an interrupted
# one, an agent in a process of its own, a campaign with several searches at once, a user's program. Criterion's processes do not start under this sanitizer
# (its inheritable memory lies where the sanitizer's does), so the command itself is run.
# usage: tests/tsan.sh THRESH
# A race ends a command with status 66 and stands on standard error.
set -e
export TSAN_OPTIONS="exitcode=66 die_after_fork=0 suppressions=tests/tsan.supp"
thresh="setarch -R $1"
kernel="experiments/kernels/matmul.lift --size M=16,N=16,K=16"
out=$(mktemp -d)
agent=
trap '[ -z "$agent" ] || kill "$agent" 2>/dev/null || true; rm -rf "$out"' EXIT

said() {
    echo "tsan: $*"
}

said "the agent in a thread"
$thresh tune $kernel --evaluations 10 --quiet --out "$out/a" --store "$out/a.db"
said "a resumed search"
$thresh tune $kernel --evaluations 20 --quiet --out "$out/a" --store "$out/a.db" --resume
said "an interrupted search"
status=0
timeout --preserve-status -s INT 15 $thresh tune $kernel --time 10m --quiet --out "$out/b" || status=$?
[ $status != 66 ]
said "an agent in a process of its own"
$thresh agent --connect "ipc://$out/socket" --quiet &
agent=$!
$thresh tune $kernel --evaluations 10 --quiet --out "$out/c" --listen "ipc://$out/socket"
said "several searches at once"
cp experiments/kernels/axpy.lift experiments/kernels/matmul.lift "$out"
cat >"$out/c.yaml" <<'END'
launcher: {kind: local, agents: 2}
evaluations: 5
kernels:
  - {file: matmul.lift, sizes: {M: [16, 32], N: 16, K: 16}}
  - {file: axpy.lift, sizes: {N: 4096}}
END
$thresh campaign run "$out/c.yaml" --quiet
said "a space and a command"
$thresh tune --space experiments/spaces/transpose.space --command experiments/spaces/model.sh --evaluations 20 \
    --quiet --out "$out/d"
said "clean"
