#!/bin/sh
# run.sh THRESH: random implementations of every kernel, verified on a device (thresh verify), as a table for
# experiments/results/. Environment: SAMPLES (distinct texts a kernel, 450), SEED (1), DEVICE (substring; empty: the first),
# TIME (limit a kernel, 30m), OUT (folder of what failed and of the JSON reports, verify-out).
# Exit status 1 if anything was wrong. Needs python3.
set -e
thresh=$1
out=${OUT:-verify-out}
mkdir -p "$out"

verify() { # KERNEL SIZES SAMPLES [PIN]
    kernel=$1 sizes=$2 samples=$3
    shift 3
    name=$kernel${1:+-pinned}
    "$thresh" verify "experiments/kernels/$kernel.lift" --size "$sizes" --samples "$samples" --seed "${SEED:-1}" \
        ${1:+--pin "$1"} ${DEVICE:+--device "$DEVICE"} --time "${TIME:-30m}" --out "$out/$name" --json --quiet \
        >"$out/$name.json" || true
}

verify batched_matmul P=4,M=8,N=8,K=8 "${SAMPLES:-450}"
verify matmul M=16,N=8,K=16 "${SAMPLES:-450}"
verify matmul_strided M=8,N=8,K=16 "${SAMPLES:-450}"
verify gemv M=16,N=32 "${SAMPLES:-450}"
verify gesummv M=8,N=16 "${SAMPLES:-450}"
verify transpose M=32,N=16 "${SAMPLES:-450}"
verify axpy N=64 "${SAMPLES:-450}"
# Regions in global memory are those of more than a quarter of local memory.
verify gemv M=2,N=131072 40 'staged(x)=YES'

python3 "$(dirname "$0")/table.py" "$out"/*.json
