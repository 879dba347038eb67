#!/bin/sh
# run.sh THRESH: random implementations of every kernel, verified on a device (thresh verify), as a table for
# experiments/results/. Environment: SAMPLES (distinct texts a kernel, 450), SEED (1), DEVICE (substring; empty: the first),
# TIME (limit a kernel, 30m), OUT (folder of what failed and of the JSON reports, verify-out).
# Exit status 1 if anything was wrong. Needs python3.
set -e
thresh=$1
out=${OUT:-verify-out}
mkdir -p "$out"

verify() { # KERNEL SIZES
    "$thresh" verify "experiments/kernels/$1.lift" --size "$2" --samples "${SAMPLES:-450}" --seed "${SEED:-1}" \
        ${DEVICE:+--device "$DEVICE"} --time "${TIME:-30m}" --out "$out/$1" --json --quiet >"$out/$1.json" || true
}

verify matmul M=16,N=8,K=16
verify gemv M=16,N=32
verify transpose M=32,N=16
verify axpy N=64
verify gesummv M=8,N=16
verify matmul_strided M=8,N=8,K=16
verify batched_matmul P=4,M=8,N=8,K=8

python3 "$(dirname "$0")/table.py" "$out"/*.json
