#!/bin/bash
# gpu.sh THRESH [PART...]: what the results of this folder need of a GPU, recorded in stores, in under eight minutes. The
# stores are then audited and searched again wherever thresh runs (tightness.sh, search.sh). The parts, without any the first
# four:
#
#   describe   devices-1/    the description, measured afresh, $DESCRIBE times (1)
#   random     random-*.db   random implementations of every kernel at small sizes: is any faster than its bound?
#   best       best-*.db     searches at the paper's sizes: the best known times, and how near good implementations come
#   tiles      tiles-*.db    all implementations that tiles.pins leaves of matmul 1024^3: the timings that searches are
#                            replayed on
#   memory     memory-*.db   searches of bandwidth-bound kernels on data many times the last-level cache
#   staged     staged-*.db   random implementations that gemv.pins, gesummv.pins and transpose.pins leave, on the same data
#   tiny       tiny-*.db     random implementations of next to no work: is any faster than a launch?
#   small      small-*.db    a long search of a product that is all launch
#   wide       wide-*.db     all implementations that wide.pins leaves of two products of 1024^3: timings, too
#   long       long-*.db     searches at the paper's sizes, one on each device, each with a seed of its own
#   whole      whole-*.db    searches of the whole space of matmul 1024^3, $SEEDS with the bound and without
#
# DEVICES="0 1 2 3" (numbers of `thresh device list`) are used at once by the last three parts; the others take DEVICE.
set -u
thresh=$1
shift
parts=${*:-describe random best tiles}
here=$(dirname "$0")
kernels=$here/../kernels
out=${OUT:-bound-gpu}
device=${DEVICE:-gpu}
devices=${DEVICES:-$device}
endpoint=${ENDPOINT:-tcp://127.0.0.1:7391}
end=$((SECONDS + ${BUDGET:-460}))
mkdir -p "$out/none"

# tune NAME SECONDS KERNEL SIZES OPTION...: a search of at most that long, its store and its report
tune() { search_on "--device $device" "$@"; }

# shared NAME SECONDS KERNEL SIZES OPTION...: the same search by all devices together
shared() {
    local d agents=()
    for d in $devices; do
        "$thresh" agent --connect "$endpoint" --device "$d" --runners "${RUNNERS:-8}" 2>>"$out/agent-$d.log" &
        agents+=($!)
    done
    search_on "--listen $endpoint" "$@"
    kill "${agents[@]}" 2>/dev/null
    wait "${agents[@]}"
}

# search_on PLACE NAME SECONDS KERNEL SIZES OPTION...
search_on() {
    local place=$1
    shift
    local name=$1 seconds=$2 kernel=$3 sizes=$4 left=$((end - SECONDS))
    shift 4
    [ $seconds -lt $left ] || seconds=$left
    [ $seconds -gt 3 ] || { echo "$name: no time is left"; return; }
    rm -f "$out/$name".db*
    timeout $((seconds + 60)) "$thresh" tune "$kernels/$kernel.lift" --size "$sizes" $place --time "${seconds}s" --store "$out/$name.db" \
        --out "$out/$name" --json --quiet "$@" >"$out/$name.json" 2>"$out/$name.log"
    echo "$name: status $? after $SECONDS s: $(python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
print(", ".join("%s %s" % (k, j[k]) for k in ("evaluations", "ok", "failed", "cut", "best_ns", "naive_ns")))' "$out/$name.json" 2>&1 | tail -1)"
}

# pins FILE: its pins as options
pins() { grep -v -e '^#' -e '^$' "$1" | sed 's/^/--pin\n/'; }

describe() {
    local i
    for i in $(seq "${DESCRIBE:-1}"); do
        THRESH_DEVICES=$out/none "$thresh" device characterize "$device" --out "$out/devices-$i" >"$out/characterize-$i.txt" 2>&1
        echo "characterize: status $? after $SECONDS s: $(grep '^launch' "$out/characterize-$i.txt" | tr -s ' ' | cut -d ' ' -f 1-2 | paste -sd ' ')"
    done
}

random() {
    local options="--heuristic random --no-bound --evaluations ${RANDOM_EVALUATIONS:-330} --seed ${RANDOM_SEED:-11}" seconds=${RANDOM_SECONDS:-16}
    tune random-matmul "$seconds" matmul M=128,N=128,K=128 $options
    tune random-matmul_strided "$seconds" matmul_strided M=64,N=64,K=64 $options
    tune random-batched_matmul "$seconds" batched_matmul P=8,M=64,N=64,K=64 $options
    tune random-gesummv "$seconds" gesummv M=512,N=512 $options
    tune random-gemv "$seconds" gemv M=1024,N=1024 $options
    tune random-transpose "$seconds" transpose M=512,N=512 $options
    tune random-axpy "$seconds" axpy N=1048576 $options
}

best() {
    local options="--evaluations ${EVALUATIONS:-300} --seed 1"
    tune best-matmul 22 matmul M=1024,N=1024,K=1024 $options
    tune best-matmul_256_256_32 20 matmul M=256,N=256,K=32 $options
    tune best-matmul_strided 22 matmul_strided M=1024,N=1024,K=1024 $options
    tune best-axpy 20 axpy N=67108864 $options
    tune best-gemv 18 gemv M=4096,N=4096 $options
    tune best-gesummv 18 gesummv M=4096,N=4096 $options
}

tiles() {
    local pins k
    mapfile -t pins < <(pins "$here/tiles.pins")
    for k in 16 32 8; do
        tune "tiles-$k" 200 matmul M=1024,N=1024,K=1024 --heuristic random --no-bound --evaluations "${TILES:-2000}" --seed 1 \
            "${pins[@]}" --pin "size(k.1)=$k"
    done
}

# Each matrix is read once, half a GiB to one, and has more rows than a GPU has work-items.
memory() {
    local options="--evaluations ${MEMORY_EVALUATIONS:-2000} --seed 1" seconds=${MEMORY_SECONDS:-100}
    tune memory-gemv "$seconds" gemv M=131072,N=2048 $options
    tune memory-gesummv "$seconds" gesummv M=65536,N=2048 $options
    tune memory-transpose "$seconds" transpose M=8192,N=8192 $options
    tune memory-axpy "$seconds" axpy N=67108864 $options
}

staged() {
    local options="--heuristic random --no-bound --evaluations ${STAGED_EVALUATIONS:-3000} --seed 1" seconds=${STAGED_SECONDS:-100}
    local pins kernel
    for kernel in gemv:M=131072,N=2048 gesummv:M=65536,N=2048 transpose:M=8192,N=8192; do
        mapfile -t pins < <(pins "$here/${kernel%%:*}.pins")
        tune "staged-${kernel%%:*}" "$seconds" "${kernel%%:*}" "${kernel#*:}" $options "${pins[@]}"
    done
}

tiny() {
    local options="--heuristic random --no-bound --evaluations ${TINY_EVALUATIONS:-1000} --seed 21" seconds=${TINY_SECONDS:-20}
    tune tiny-axpy "$seconds" axpy N=64 $options
    tune tiny-transpose "$seconds" transpose M=8,N=8 $options
    tune tiny-gemv "$seconds" gemv M=32,N=8 $options
    tune tiny-matmul "$seconds" matmul M=8,N=8,K=8 $options
}

small() {
    tune small-matmul "${SMALL_SECONDS:-60}" matmul M=256,N=256,K=32 --evaluations 3000 --seed "${SEED:-2}"
}

wide() {
    local options="--heuristic random --no-bound --evaluations ${WIDE:-100000} --seed 1" seconds=${WIDE_SECONDS:-400} pins
    mapfile -t pins < <(pins "$here/wide.pins")
    shared wide-matmul "$seconds" matmul "${WIDE_SIZES:-M=1024,N=1024,K=1024}" $options "${pins[@]}"
    shared wide-matmul_strided "$seconds" matmul_strided "${WIDE_SIZES:-M=1024,N=1024,K=1024}" $options "${pins[@]}"
}

# long_on KERNEL SIZES: one search on each device at once; the odd ones follow mean times, others successes
long_on() {
    local d k=${SEED:-1} heuristics=(tag uct) searches=()
    for d in $devices; do
        search_on "--device $d" "long-$1-$2-$k" "${LONG_SECONDS:-45}" "$1" "$2" --evaluations 10000 --seed $k \
            --heuristic "${heuristics[$((k % 2))]}" &
        searches+=($!)
        k=$((k + 1))
    done
    wait "${searches[@]}"
}

long() {
    local of
    for of in ${LONG:-matmul:M=256,N=256,K=32 axpy:N=67108864 matmul_strided:M=1024,N=1024,K=1024 matmul:M=1024,N=1024,K=1024}; do
        long_on "${of%%:*}" "${of#*:}"
    done
}

# Searches are dealt to the devices so that each has some of both kinds.
whole() {
    local runs=() seed place=($devices) d r
    for seed in ${SEEDS:-1 2 3 4 5}; do runs+=("$seed bound" "$seed none"); done
    for d in "${!place[@]}"; do
        for r in "${!runs[@]}"; do
            [ $(((r + r / ${#place[@]}) % ${#place[@]})) -eq "$d" ] && whole_run "${place[d]}" ${runs[r]}
        done &
    done
    wait
}

whole_run() { # DEVICE SEED bound|none
    local bound=
    [ "$3" = bound ] || bound=--no-bound
    search_on "--device $1" "whole-$3-$2" "${WHOLE_SECONDS:-135}" matmul \
        "${WHOLE_SIZES:-M=1024,N=1024,K=1024}" --evaluations 2000 --seed "$2" $bound
}

for part in $parts; do $part; done
rm -rf "$out"/*.db-* "$out/none"
tar -czf "$out.tar.gz" -C "$(dirname "$out")" "$(basename "$out")"
echo "written $out.tar.gz, $(stat -c %s "$out.tar.gz") bytes, after $SECONDS s"
