#!/bin/sh
# Replays every best.json below a folder, and prints the median and the range of replayed / recorded time. Run
# it on a quiet machine; each replay says if it was not.
#
#     experiments/naive/replay.sh FOLDER [THRESH]
set -e
folder=${1:?usage: experiments/naive/replay.sh FOLDER [THRESH]}
thresh=${2:-build/thresh}
out=$(mktemp)
ratios=$(mktemp)
trap 'rm -f "$out" "$ratios"' EXIT

find "$folder" -name best.json | sort | while read -r best; do
    if ! "$thresh" replay "$best" >"$out"; then
        echo "$best: failed"
        cat "$out"
        continue
    fi
    awk -v best="$best" '/^(recorded|replayed|ratio)/ { line = line "  " $1 " " $2 " " ($1 == "ratio" ? "" : $3) }
        /^note:/ { notes = notes "\n    " $0 } END { print best ":" line notes }' "$out"
    awk '/^ratio/ { print $2 }' "$out" >>"$ratios"
done
sort -n "$ratios" | awk '{ r[NR] = $1 } END {
    if (NR == 0) { print "nothing was replayed"; exit 1 }
    median = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
    printf "%d replayed: replayed / recorded: median %.3f, range %.3f to %.3f\n", NR, median, r[1], r[NR] }'
