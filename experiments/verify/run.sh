#!/bin/sh
# run.sh THRESH [LIST]: random implementations of every program of LIST (kernels.txt), verified on a device (thresh verify), as a
# table for experiments/results/.
#
#     JOBS=2 SAMPLES=300 experiments/verify/run.sh build/thresh > table.md
#
# Environment: SAMPLES (distinct texts a program, 300), SEED (1), DEVICE (substring; empty: the first), TIME (limit a program, 30m),
# JOBS (programs at a time, 1), RUNNERS (of each program; empty: as many as verify takes), GPUS (NVIDIA GPUs that take programs in
# turn; empty: all on DEVICE), OUT (folder of what failed, of logs and of the JSON reports, verify-out). Exit status 1 if anything
# was wrong, or if a program has no report. Needs python3.
set -e
if [ ! -x "$1" ]; then
    echo "usage: experiments/verify/run.sh THRESH [LIST]" >&2
    exit 2
fi
here=$(dirname "$0")
list=${2:-$here/kernels.txt}
export THRESH_BINARY="$1" SAMPLES="${SAMPLES:-300}" SEED="${SEED:-1}" TIME="${TIME:-30m}" OUT="${OUT:-verify-out}" DEVICE RUNNERS GPUS
mkdir -p "$OUT"

# A line of the list: KERNEL SIZES [PIN [ALLOW]]. A failure is in the report; table.py says so.
sed 's/#.*//' "$list" | awk 'NF >= 2' | xargs -P "${JOBS:-1}" -L 1 --process-slot-var=SLOT sh -c '
    [ -z "$GPUS" ] || export CUDA_VISIBLE_DEVICES=$((SLOT % GPUS))
    name=$OUT/$1-$(echo "$2" | tr ",=" "-_")${3:+-pinned}${4:+-$4}
    "$THRESH_BINARY" verify "experiments/kernels/$1.lift" --size "$2" ${3:+--pin "$3"} ${4:+--allow "$4"} --samples "$SAMPLES" --seed "$SEED" \
        ${DEVICE:+--device "$DEVICE"} ${RUNNERS:+--runners "$RUNNERS"} --time "$TIME" --out "$name" --json --quiet >"$name.json" 2>"$name.log" ||
        echo "run.sh: $1 $2: exit status $?, see $name.log" >&2
    exit 0' verify

python3 "$here/table.py" "$OUT"/*.json
