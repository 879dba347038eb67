#!/bin/sh
# bench.sh THRESH: the figures of a machine, thresh beside its peers in one run. Environment: SIZE (512), SEEDS
# ("1 2 3 4 5"), EVALUATIONS (300), DEVICE (substring; empty: the first). Prints one table; redirect it into results/.
set -e
thresh=$1
size=${SIZE:-512}
evaluations=${EVALUATIONS:-300}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 experiments/peers/sgemm.c -o "$work/sgemm" \
    $(pkg-config --cflags --libs openblas) -lclblast -lOpenCL

tune() { # HEURISTIC SEED -> "best_ns naive_ns ok failed evaluations_per_s"
    "$thresh" tune experiments/kernels/matmul.lift --size "M=$size,N=$size,K=$size" --evaluations "$evaluations" \
        --heuristic "$1" --seed "$2" ${DEVICE:+--device "$DEVICE"} --out "$work/out-$1-$2" --json --quiet >"$work/json"
    python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); print(*(j[k] for k in ("best_ns","naive_ns","ok","failed","evaluations_per_s")))' "$work/json"
}

echo "# $(date -u +%F) matmul ${size}^3, $evaluations evaluations, $("$thresh" device list | sed -n 2p)"
echo "heuristic seed best_us naive_us naive/best openblas/best clblast/best ok failed evaluations/s"
for seed in ${SEEDS:-1 2 3 4 5}; do
    for heuristic in tag random; do
        set -- $(tune $heuristic "$seed")
        blas=$("$work/sgemm" openblas "$size" "$size" "$size")
        clblast=$("$work/sgemm" clblast "$size" "$size" "$size" "$DEVICE")
        echo "$heuristic $seed $* $blas $clblast" |
            awk '{ printf "%s %s %.1f %.1f %.2f %.3f %.2f %s %s %.2f\n", $1, $2, $3/1e3, $4/1e3, $4/$3, $8/$3, $9/$3, $5, $6, $7 }'
    done
done
"$thresh" descend experiments/kernels/matmul.lift --size M=1024,N=1024,K=1024 --samples 2000 --json
