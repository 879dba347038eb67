#!/bin/sh
# series.sh KERNEL SIZES VARIANT...: searches of several variants with the same seeds, in turn, as a table for experiments/results/.
#
#     GPUS=2 PEER=matmul:1024,1024,1024 experiments/search/series.sh experiments/kernels/matmul.lift M=1024,N=1024,K=1024 \
#         old=before/thresh new=build/thresh 'more=build/thresh --heuristic tag:draws=900,generations=8'
#
# A VARIANT is a name, a program, and options of `thresh tune`. Seed after seed all variants are searched; with GPUS=2 every second seed
# on the second GPU (CUDA_VISIBLE_DEVICES), each with its share of the cores. PEER is timed on each GPU before and after (experiments/programs/torch_peers.py), and
# then, in turn with PEER and in the same way as PEER, each best kernel: launches in a CUDA graph have no gaps, those that OpenCL's
# events time are some us apart. These are the rows "graph".
# Environment: SEEDS ("1 2 3 4 5 6 7 8 9 10"), EVALUATIONS (300), DEVICE (part of the device's name; empty: the first), GPUS (1),
# PEER (none), OUT (build/series: reports, logs, stores), PYTHON (python3).
set -e
if [ $# -lt 3 ]; then
    echo "usage: experiments/search/series.sh KERNEL SIZES NAME='THRESH [OPTION...]'..." >&2
    exit 2
fi
kernel=$1 sizes=$2
shift 2
here=$(dirname "$0")
out=${OUT:-build/series}
seeds=${SEEDS:-1 2 3 4 5 6 7 8 9 10}
gpus=${GPUS:-1}
cores=$(($(nproc) / gpus)) pinned=
rm -rf "$out"
mkdir -p "$out"

peer() { # GPU: appends the time of PEER
    [ -z "$PEER" ] || CUDA_VISIBLE_DEVICES=$1 "${PYTHON:-python3}" "$here/../programs/torch_peers.py" "$PEER" >>"$out/peer-$1.jsonl"
}

search() { # SEED VARIANT
    name=${2%%=*}
    to=$out/$name-$1
    # The program and its options are words of the variant.
    # shellcheck disable=SC2086
    set -- "$1" ${2#*=}
    seed=$1 thresh=$2
    shift 2
    # shellcheck disable=SC2086
    $pinned "$thresh" tune "$kernel" --size "$sizes" --seed "$seed" --evaluations "${EVALUATIONS:-300}" ${DEVICE:+--device "$DEVICE"} "$@" \
        --store "$to.db" --out "$to" --json --quiet >"$to.json" 2>"$to.log" || echo "series.sh: $to failed: see $to.log" >&2
}

graphs() { # GPU VARIANT...: times the best kernels of this GPU
    gpu=$1 i=0 names=
    shift
    for seed in $seeds; do
        if [ $((i % gpus)) = "$gpu" ]; then
            for variant; do
                [ ! -s "$out/${variant%%=*}-$seed/best.json" ] || names="$names own:$out/${variant%%=*}-$seed $PEER"
            done
        fi
        i=$((i + 1))
    done
    # shellcheck disable=SC2086
    CUDA_VISIBLE_DEVICES=$gpu "${PYTHON:-python3}" "$here/../programs/torch_peers.py" $names >>"$out/peer-$gpu.jsonl"
}

on_gpu() { # GPU VARIANT...: every GPUS-th seed
    gpu=$1 i=0
    shift
    [ "$gpus" = 1 ] || export CUDA_VISIBLE_DEVICES="$gpu"
    share=$((gpu * cores))-$(((gpu + 1) * cores - 1))
    [ "$gpus" = 1 ] || ! taskset -c "$share" true 2>/dev/null || pinned="taskset -c $share"
    peer "$gpu"
    for seed in $seeds; do
        if [ $((i % gpus)) = "$gpu" ]; then
            for variant; do search "$seed" "$variant"; done
        fi
        i=$((i + 1))
    done
    peer "$gpu"
    [ -z "$PEER" ] || graphs "$gpu" "$@" || echo "series.sh: the best kernels were not timed in graphs" >&2
}

gpu=0
while [ "$gpu" -lt "$gpus" ]; do
    on_gpu "$gpu" "$@" &
    gpu=$((gpu + 1))
done
wait

names=
for variant; do names="$names ${variant%%=*}"; done
# shellcheck disable=SC2086
"${PYTHON:-python3}" "$here/series.py" "$out" "$seeds" $names
