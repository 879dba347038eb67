#!/bin/bash
# random.sh THRESH FOLDER: random implementations of every kernel on a processor against their bounds, in one store a kernel.
# Stopped and run again with the same FOLDER it goes on where it was; the kernels take turns of $SLICE seconds until each has
# $SAMPLES measured implementations (default 2000) or $MINUTES are over (default: no limit). Prints the counts so far; exit
# status 1 if some time is below its bound.
set -u
thresh=$1
folder=$2
kernels=$(dirname "$0")/../kernels
device=${DEVICE:-cpu}
samples=${SAMPLES:-2000}
slice=${SLICE:-120}
end=$((SECONDS + 60 * ${MINUTES:-1000000}))
mkdir -p "$folder"

sizes=(
    matmul:M=32,N=32,K=32
    axpy:N=65536
    gemv:M=128,N=256
    gesummv:M=64,N=128
    transpose:M=128,N=256
    batched_matmul:P=4,M=16,N=16,K=16
    matmul_strided:M=16,N=32,K=16
)

# audit KERNEL: implementations, violations and the largest bound / time of its store, or three zeros
audit() {
    [ -e "$folder/$1.db" ] || { echo 0 0 0; return; }
    "$thresh" audit "$folder/$1.db" --device "$device" --json --quiet 2>"$folder/$1.audit" | python3 -c '
import json, sys
text = sys.stdin.read()
j = json.loads(text) if text else {"measured": 0, "violations": 0, "bound_and_time": []}
print(j["measured"], j["violations"], "%.3f" % max([b / t for b, t in j["bound_and_time"] if b is not None], default=0))'
}

# turn KERNEL SIZES: a slice of its search, unless it has all
turn() {
    local resume=
    [ "$(audit "$1" | cut -d ' ' -f 1)" -lt "$samples" ] || return 1
    [ ! -e "$folder/$1.db" ] || resume=--resume
    timeout -s INT -k 60 "$slice" "$thresh" tune "$kernels/$1.lift" --size "$2" --device "$device" --heuristic random --no-bound \
        --evaluations $((3 * samples)) --seed "${SEED:-1}" --store "$folder/$1.db" $resume --out "$folder/$1" --json --quiet \
        >"$folder/$1.json" 2>"$folder/$1.log"
    [ -e "$folder/$1.db" ] || { echo "$1: nothing was recorded, see $folder/$1.log" >&2; exit 2; }
}

report() {
    local status=0 kernel n violations ratio
    echo "# $(date -u +%F) random implementations, $device: kernel implementations violations largest_bound_over_time"
    for kernel in "${sizes[@]}"; do
        read -r n violations ratio < <(audit "${kernel%%:*}")
        echo "${kernel%%:*} $n $violations $ratio"
        [ "$violations" -eq 0 ] || status=1
    done
    return $status
}

while [ $SECONDS -lt $end ]; do
    left=0
    for kernel in "${sizes[@]}"; do
        [ $SECONDS -lt $end ] && turn "${kernel%%:*}" "${kernel#*:}" && left=1
    done
    [ $left -eq 1 ] || break
done
report
