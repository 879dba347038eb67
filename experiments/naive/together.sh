#!/bin/sh
# Two searches at once on one device beside one alone: whether they disturb each other's measurements. The naive
# implementation is the same in all searches, so its quoted times are compared: alone and two at once, in turn.
# Run it on a quiet machine.
#
#     experiments/naive/together.sh [THRESH [KERNEL [SIZES [EVALUATIONS [TURNS]]]]]
#
# Prints the quoted times in us, and the median of those of two at once over the median of those alone, which is
# within 0.9 and 1.1 if the searches leave each other's measurements alone. Needs python3.
set -e
thresh=${1:-build/thresh}
kernel=${2:-experiments/kernels/matmul.lift}
sizes=${3:-M=256,N=256,K=256}
evaluations=${4:-15}
turns=${5:-4}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

search() { # NAME SEED
    "$thresh" tune "$kernel" --size "$sizes" --evaluations "$evaluations" --seed "$2" --out "$out/$1" --json --quiet \
        >"$out/$1.json"
}

for i in $(seq "$turns"); do
    search "alone-$i" "$i"
    search "first-$i" "$i" &
    one=$!
    search "second-$i" "$((turns + i))" &
    two=$!
    wait $one
    wait $two
done
python3 - "$out" <<'P'
import glob, json, statistics, sys

def quoted(pattern):
    names = sorted(glob.glob(f"{sys.argv[1]}/{pattern}.json"))
    return [json.load(open(name))["naive"]["median_ns"] for name in names]

alone, together = quoted("alone-*"), quoted("first-*") + quoted("second-*")
for name, times in ("alone", alone), ("two at once", together):
    print(f"{name:12}", " ".join(f"{t / 1e3:.4g}" for t in times))
print(f"ratio        {statistics.median(together) / statistics.median(alone):.3f}")
P
