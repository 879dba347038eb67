#!/bin/bash
# gpu.sh THRESH: all that the results of this folder need of a GPU, recorded in stores, in under eight minutes. The stores
# are then audited and searched again wherever thresh runs (tightness.sh, search.sh).
#
#   devices/      the description, measured afresh
#   random-*.db   random implementations of every kernel at small sizes: is any faster than its bound?
#   best-*.db     searches at the paper's sizes: the best known times, and how near good implementations come
#   tiles-*.db    all implementations that tiles.pins leaves of matmul 1024^3: the timings that searches are replayed on
set -u
thresh=$1
here=$(dirname "$0")
kernels=$here/../kernels
out=${OUT:-bound-gpu}
device=${DEVICE:-gpu}
end=$((SECONDS + ${BUDGET:-460}))
mkdir -p "$out/none"

# tune NAME SECONDS KERNEL SIZES OPTION...: a search of at most that long, its store and its report
tune() {
    local name=$1 seconds=$2 kernel=$3 sizes=$4 left=$((end - SECONDS))
    shift 4
    [ $seconds -lt $left ] || seconds=$left
    [ $seconds -gt 3 ] || { echo "$name: no time is left"; return; }
    rm -f "$out/$name".db*
    timeout $((seconds + 60)) "$thresh" tune "$kernels/$kernel.lift" --size "$sizes" --device "$device" --time "${seconds}s" --store "$out/$name.db" \
        --out "$out/$name" --json --quiet "$@" >"$out/$name.json" 2>"$out/$name.log"
    echo "$name: status $? after $SECONDS s: $(python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
print(", ".join("%s %s" % (k, j[k]) for k in ("evaluations", "ok", "failed", "cut", "best_ns", "naive_ns")))' "$out/$name.json" 2>&1 | tail -1)"
}

# pins FILE: its pins as options
pins() { grep -v -e '^#' -e '^$' "$1" | sed 's/^/--pin\n/'; }

THRESH_DEVICES=$out/none "$thresh" device characterize "$device" --out "$out/devices" >"$out/characterize.txt" 2>&1
echo "characterize: status $? after $SECONDS s"

random="--heuristic random --no-bound --evaluations ${RANDOM_EVALUATIONS:-330} --seed 11"
tune random-matmul 16 matmul M=128,N=128,K=128 $random
tune random-matmul_strided 16 matmul_strided M=64,N=64,K=64 $random
tune random-batched_matmul 16 batched_matmul P=8,M=64,N=64,K=64 $random
tune random-gesummv 16 gesummv M=512,N=512 $random
tune random-gemv 16 gemv M=1024,N=1024 $random
tune random-transpose 16 transpose M=512,N=512 $random
tune random-axpy 16 axpy N=1048576 $random

search="--evaluations ${EVALUATIONS:-300} --seed 1"
tune best-matmul 22 matmul M=1024,N=1024,K=1024 $search
tune best-matmul_256_256_32 20 matmul M=256,N=256,K=32 $search
tune best-matmul_strided 22 matmul_strided M=1024,N=1024,K=1024 $search
tune best-axpy 20 axpy N=67108864 $search
tune best-gemv 18 gemv M=4096,N=4096 $search
tune best-gesummv 18 gesummv M=4096,N=4096 $search

mapfile -t tiles < <(pins "$here/tiles.pins")
for k in 16 32 8; do
    tune "tiles-$k" 200 matmul M=1024,N=1024,K=1024 --heuristic random --no-bound --evaluations "${TILES:-2000}" --seed 1 \
        "${tiles[@]}" --pin "size(k.1)=$k"
done

rm -rf "$out"/*.db-* "$out/none"
tar -czf "$out.tar.gz" -C "$(dirname "$out")" "$(basename "$out")"
echo "written $out.tar.gz, $(stat -c %s "$out.tar.gz") bytes, after $SECONDS s"
