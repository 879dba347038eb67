#!/bin/bash
# A campaign whose coordinator, agents and runners are killed (kill -9) at random moments. After each kill the
# rows of the store are noted; a killed coordinator is started again. In the end every row that was ever seen
# must be in the store as it was, no implementation may be measured twice, and no result may be wrong.
#
# usage: tests/e2e/kills.sh THRESH [KILLS]      needs sqlite3; 200 kills take about ten minutes
# Random numbers start from SEED (default 1). Prints the figures; exit status 1 if one is not zero.
set -u
thresh=$(realpath "$1")
kills=${2:-200}
RANDOM=${SEED:-1}
here=$(cd "$(dirname "$0")/../.." && pwd)
out=$(mktemp -d)
coordinator=
trap '[ -z "$coordinator" ] || kill -9 "$coordinator" 2>/dev/null; rm -rf "$out"' EXIT
cp "$here"/experiments/kernels/{matmul,axpy,transpose}.lift "$out"

# Campaigns one after another, each with other seeds, until there were enough kills.
campaign() {
    cat >"$out/c.yaml" <<END
store: c.db
launcher: {kind: local, agents: 2}
evaluations: 40
seeds: [$((2 * $1 + 1)), $((2 * $1 + 2))]
kernels:
  - {file: matmul.lift, sizes: {M: [32, 64], N: 64, K: 64}}
  - {file: axpy.lift, sizes: {N: 65536}}
  - {file: transpose.lift, sizes: {M: 128, N: 256}}
END
}

start() {
    "$thresh" campaign run "$out/c.yaml" --quiet >"$out/log" 2>&1 &
    coordinator=$!
}

rows() {
    sqlite3 -readonly "$out/c.db" "select run, number, status, median_ns, samples, state_hash from evaluation" 2>/dev/null
}

# Descendants of a process.
below() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        echo "$child"
        below "$child"
    done
}

declare -A killed=([coordinator]=0 [agent]=0 [runner]=0)
n=0
round=0
: >"$out/seen"
while [ "$n" -lt "$kills" ]; do
    campaign $round
    round=$((round + 1))
    start
    while [ "$n" -lt "$kills" ]; do
        sleep "$((1 + RANDOM % 3)).$((RANDOM % 10))"
        if ! kill -0 "$coordinator" 2>/dev/null; then
            wait "$coordinator"
            status=$?
            [ $status = 0 ] && break # complete
            echo "kills: the coordinator ended with status $status:"
            tail -3 "$out/log"
            start
            continue
        fi
        agents=$(cat /proc/"$coordinator"/task/*/children 2>/dev/null)
        case $((RANDOM % 3)) in
            0) what=coordinator victim=$coordinator ;;
            1) what=agent victim=$(echo "$agents" | tr ' ' '\n' | grep . | shuf -n 1 --random-source=<(yes $RANDOM)) ;;
            2) what=runner victim=$(for a in $agents; do below "$a"; done | shuf -n 1 --random-source=<(yes $RANDOM)) ;;
        esac
        [ -n "$victim" ] || continue
        rows >>"$out/seen"
        kill -9 "$victim" 2>/dev/null || continue
        killed[$what]=$((killed[$what] + 1))
        n=$((n + 1))
        if [ $what = coordinator ]; then
            wait "$coordinator" 2>/dev/null
            rows >>"$out/seen"
            start
        fi
    done
done
wait "$coordinator"
status=$?
rows | sort -u >"$out/final"
sort -u "$out/seen" >"$out/all"
lost=$(comm -23 "$out/all" "$out/final" | wc -l)
query() { sqlite3 -readonly "$out/c.db" "$1"; }
twice=$(query "select coalesce(sum(n - 1), 0) from (select count(*) n from evaluation where number > 0 and status not in
               ('duplicate', 'oversized') group by run, kernel_hash having kernel_hash != '0' and n > 1)")
wrong=$(query "select count(*) from evaluation where status = 'wrong_result' or (status = 'ok' and not median_ns > 0)")
blamed=$(query "select count(*) from evaluation where status in ('crashed', 'timeout', 'launch_error', 'build_error', 'out_of_memory')")
echo "kills: ${killed[coordinator]} of the coordinator, ${killed[agent]} of agents, ${killed[runner]} of runners; $round campaigns"
echo "evaluations: $(wc -l <"$out/final"); seen and lost or changed: $lost; measured twice: $twice; wrong: $wrong; failed: $blamed"
query "select status, count(*), message from evaluation where status not in ('ok', 'duplicate', 'oversized', 'cut') group by 1, 3"
echo "the last campaign ended with status $status"
[ "$lost" = 0 ] && [ "$twice" = 0 ] && [ "$wrong" = 0 ] && [ $status = 0 ]
