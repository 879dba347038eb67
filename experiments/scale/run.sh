#!/bin/bash
# What one coordinator does with simulated agents, as tables for plot.sh.
#
#     experiments/scale/run.sh BUILD OUT agents [AGENTS...]          default 1 10 100 1000 4000; three minutes
#     experiments/scale/run.sh BUILD OUT evaluations [TOTALS...]     default 1000 10000 100000; two minutes
#
# `agents` adds a line to OUT/agents.tsv for each number of agents: a hub alone, a hub that records attempts and
# results in a store, and a search for a matrix product of 64^3 with a store (EVALUATIONS, default 1500): results a
# second, processor time of the coordinator for each, its memory, and how long an agent waits for its next job.
# "-" stands where a part did not end within its time.
#
# `evaluations` adds a line to OUT/evaluations.tsv for each total: one search whose evaluations cost nothing goes
# on until it has so many. It is in OUT/endure.db and goes on in the next call: 1000000 may be reached in several.
# Then it is resumed again, for ten more, which shows what a resumption takes.
#
# Needs the binaries thresh, simulate and endure in BUILD (make bench-scale) with their libraries (BUILD/bundle, if
# it is there), and experiments/kernels; no OpenCL.
set -eu
build=$1 out=$2 what=${3:-agents}
shift $(($# < 3 ? $# : 3))
[ ! -d "$build/bundle" ] || export LD_LIBRARY_PATH="$build/bundle${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
evaluations=${EVALUATIONS:-1500}
seconds=${SECONDS_EACH:-5}
ulimit -n 20000 2>/dev/null || ulimit -n "$(ulimit -Hn)"
mkdir -p "$out"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# "RESULTS/S US MIB WAIT-MEDIAN WAIT-LONGEST" of `simulate hub`.
hub() {
    timeout 60 "$build/simulate" hub "$@" |
        awk '/results/ { line = $1 "\t" $3 "\t" $(NF - 1) } /wait/ { waits = $2 "\t" $5 }
             END { printf "%s\t%s", line ? line : "-\t-\t-", waits ? waits : "-\t-" }'
}

# "EVALUATIONS/S MS MIB WAIT-MEDIAN WAIT-LONGEST" of a search. Its memory is looked at while it runs.
search() {
    local agents=$1 peak=0 now took user
    "$build/thresh" tune experiments/kernels/matmul.lift --size M=64,N=64,K=64 --listen "ipc://$folder/socket" \
        --evaluations "$evaluations" --no-bound --quiet --json --store "$folder/$agents.db" -o "$folder/out" \
        >"$folder/log" 2>"$folder/errors" &
    local coordinator=$!
    while [ ! -S "$folder/socket" ]; do sleep 0.05; done
    timeout 300 "$build/simulate" agents "ipc://$folder/socket" "$agents" 2 1 >"$folder/waits" &
    local crowd=$!
    while now=$(awk '/VmHWM/ { print $2 }' "/proc/$coordinator/status" 2>/dev/null) && [ -n "$now" ]; do
        peak=$now
        user=$(awk '{ print $14 + $15 }' "/proc/$coordinator/stat" 2>/dev/null || echo "$user")
        sleep 0.05
    done
    wait "$coordinator" || cat "$folder/errors" >&2
    wait "$crowd" || true
    took=$(sqlite3 "$folder/$agents.db" "SELECT max(found_at) FROM evaluation")
    awk -v n="$evaluations" -v took="$took" -v ticks="$user" -v hz="$(getconf CLK_TCK)" -v kib="$peak" \
        'BEGIN { printf "%.0f\t%.2f\t%.0f", n / took, 1000 * ticks / hz / n, kib / 1024 }'
    awk '/wait/ { waits = $2 "\t" $5 } END { printf "\t%s", waits ? waits : "-\t-" }' "$folder/waits"
    rm -f "$folder/socket"
}

agents() {
    local file=$out/agents.tsv
    [ -s "$file" ] || printf '%s\n' "# agents, then five columns each of hub, hub with store, search: per second, \
processor time (us, us, ms), MiB, wait for the next job: median, longest (ms)" >"$file"
    for n in "$@"; do
        printf '%s\t%s\t%s\t%s\n' "$n" "$(hub "$n" 8 1 "$seconds")" \
            "$(hub "$n" 8 1 "$seconds" "$folder/hub$n.db")" "$(search "$n")" | tee -a "$file"
    done
}

evaluations() {
    local file=$out/evaluations.tsv store=$out/endure.db line
    [ -s "$file" ] || printf '%s\n' "# evaluations, a second since the line before, processor time of each (ms), \
MiB, store (MB), resumption (s), MiB then" >"$file"
    for n in "$@"; do
        line=$("$build/endure" "$store" "$n" | awk '/more/ { printf "%s\t%s\t%s", $7, $10, $(NF - 1) }')
        printf '%s\t%s\t%s\t%s\n' "$n" "$line" "$(($(stat -c %s "$store") / 1000000))" \
            "$("$build/endure" "$store" $((n + 10)) | awk '/resumed/ { printf "%s\t%s", $5, $(NF - 1) }')" |
            tee -a "$file"
    done
}

case $what in
    agents)
        [ $# -gt 0 ] || set -- 1 10 100 1000 4000
        agents "$@"
        ;;
    evaluations)
        [ $# -gt 0 ] || set -- 1000 10000 100000
        evaluations "$@"
        ;;
    *)
        sed -n '2,19s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
esac
