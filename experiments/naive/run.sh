#!/bin/sh
# run.sh THRESH: searches of every kernel of experiments/kernels beside its naive implementation, as a table: whether any
# result is slower than naive by the quoted figures, and by how much results are faster. Environment: EVALUATIONS (a list,
# "30 300"), SEEDS ("1 2 3 4 5"), KERNELS (all of the list below), SIZES (of all of them, instead of those below), SCALE
# (small: sizes that take seconds on two cores), DEVICE (substring; empty: the first), OUT (folder of the JSON reports,
# naive-out). Reports that are there are not measured again, so that it goes on where it was interrupted.
# Exit status 1 if a result is slower than naive. Needs python3.
set -e
thresh=$1
here=$(dirname "$0")
out=${OUT:-naive-out}
mkdir -p "$out"

# The sizes that the heads of the kernels name as those measured here; small: for two cores.
sizes() { # KERNEL
    case $1-$SCALE in
    axpy-small) echo N=1048576 ;;
    axpy-*) echo N=67108864 ;;
    batched_gemv-*) echo P=16,M=256,N=256 ;;
    batched_matmul-small) echo P=8,M=64,N=64,K=64 ;;
    batched_matmul-*) echo P=64,M=128,N=128,K=128 ;;
    bias_relu-small) echo M=512,N=512 ;;
    bias_relu-*) echo M=1024,N=1024 ;;
    gemv-small | gesummv-small | transpose-small) echo M=1024,N=1024 ;;
    gemv-* | gesummv-* | transpose-*) echo M=4096,N=4096 ;;
    layer_norm-small) echo M=128,N=128 ;;
    layer_norm-*) echo M=256,N=256 ;;
    matmul-small) echo M=128,N=128,K=128 ;;
    matmul-*) echo M=512,N=512,K=512 ;;
    matmul_strided-small) echo M=64,N=64,K=64 ;;
    matmul_strided-*) echo M=1024,N=1024,K=1024 ;;
    softmax-small) echo M=64,N=128 ;;
    softmax-*) echo M=256,N=1024 ;;
    stencil-small) echo N=255 ;;
    stencil-*) echo N=511 ;;
    *) echo "run.sh: unknown kernel '$1'" >&2 && exit 2 ;;
    esac
}

tune() { # KERNEL EVALUATIONS SEED
    report=$out/$1-$2-$3.json
    [ ! -s "$report" ] || return 0
    size=$(sizes "$1")
    "$thresh" tune "$here/../kernels/$1.lift" --size "${SIZES:-$size}" --evaluations "$2" --seed "$3" \
        ${DEVICE:+--device "$DEVICE"} --out "$out/$1-$2-$3" --json --quiet >"$report.new"
    mv "$report.new" "$report"
}

for kernel in ${KERNELS:-axpy batched_gemv batched_matmul bias_relu gemv gesummv layer_norm matmul matmul_strided softmax \
    stencil transpose}; do
    sizes "$kernel" >/dev/null
    for evaluations in ${EVALUATIONS:-30 300}; do
        for seed in ${SEEDS:-1 2 3 4 5}; do
            tune "$kernel" "$evaluations" "$seed"
        done
    done
done
python3 "$here/table.py" "$out"/*.json
