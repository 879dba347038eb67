#!/bin/sh
# Two searches at once on one CPU device beside one alone: what each quotes for its winner, and what the same
# winner takes when it is replayed with nothing else running. Run it on a quiet machine.
#
#     experiments/naive/together.sh [THRESH [KERNEL [SIZES [EVALUATIONS [SEED]]]]]
#
# A line for each search: its quoted time in ns, the time of the replay, and replay / quoted, which is within
# 0.9 and 1.1 if the searches left each other's measurements alone.
set -e
thresh=${1:-build/thresh}
kernel=${2:-experiments/kernels/matmul.lift}
sizes=${3:-M=256,N=256,K=256}
evaluations=${4:-100}
seed=${5:-1}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

search() {
    "$thresh" tune "$kernel" --size "$sizes" --evaluations "$evaluations" --seed "$seed" --out "$out/$1" --quiet \
        >"$out/$1.txt"
}

# The first number of the key $2 after the first line with $1 in a file of one key a line.
number() {
    awk -v after="$1" -v key="\"$2\":" \
        'index($0, after) { on = 1 } on && index($0, key) { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$3"
}

search alone
search first &
one=$!
search second &
two=$!
wait $one
wait $two
printf '%-8s %14s %14s %8s\n' search quoted_ns replayed_ns ratio
for name in alone first second; do
    "$thresh" replay "$out/$name/best.json" --json >"$out/$name.json"
    printf '%-8s %14s %14s %8.3f\n' "$name" "$(number '"recorded":' median_ns "$out/$name.json")" \
        "$(number '{' median_ns "$out/$name.json")" "$(number '{' ratio "$out/$name.json")"
    sed -n 's/^  "\(the .*\)",*$/         note: \1/p' "$out/$name.json"
done
