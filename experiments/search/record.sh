#!/bin/bash
# record.sh BUILD OUT KERNEL.lift SIZES N: fills stores with about N evaluations of a program on this machine's device.
#
#     experiments/search/record.sh build pools/mm experiments/kernels/matmul.lift M=1024,N=1024,K=1024 3000
#
# A third are of random searches, the others of tag, uct, leaders+guess and roundrobin, each with a seed of its own. Nothing is
# pruned by a bound; launches are given up as in any search, after max(4 times the best, 20 ms). Each search is recorded in
# OUT/NUMBER.db. The command may be stopped and given again: it goes on with what is missing.
#
# Where BUILD has make-pool, OUT.pool.xz is made of the stores; a bundle (`make bundle`) has none: copy OUT to where there is one.
#
#     timeout 580 record.sh ...                  in slices, where a command may only take so long
#     DEVICE=gpu record.sh ...                   as --device
#     DESCRIPTION=FILE.json record.sh ...        of the device, for the bounds in the pool
#     SEED=100 record.sh ...                     other searches: seeds from 100 on (default 1)
set -e
if [ $# -ne 5 ] || [ ! -x "$1/thresh" ]; then
    echo "usage: experiments/search/record.sh BUILD OUT KERNEL.lift SIZES N" >&2
    exit 2
fi
build=$1 out=$2 kernel=$3 sizes=$4 n=$5
seed=${SEED:-1}
mkdir -p "$out"
# A bundle has its libraries beside it.
[ -e "$build/make-pool" ] || export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# STORE HEURISTIC EVALUATIONS SEED [--resume]
tune() {
    "$build/thresh" tune "$kernel" --size "$sizes" ${DEVICE:+--device "$DEVICE"} --heuristic "$2" --evaluations "$3" --seed "$4" \
        --no-bound --store "$1" --out "$out/best" --quiet "${@:5}" >"${1%.db}.log" 2>&1
}

# One search: NUMBER HEURISTIC EVALUATIONS. A store in which no search has begun yet (status 2) is put aside.
search() {
    local this=$((seed + $1)) status=2
    local store=$out/$this.db
    [ -e "${store%.db}.done" ] && return
    [ -s "$store" ] && { tune "$store" "$2" "$3" $this --resume && status=0 || status=$?; }
    if [ $status = 2 ]; then
        [ -e "$store" ] && mv "$store" "$store.old"
        tune "$store" "$2" "$3" $this && status=0 || status=$?
    fi
    if [ $status != 0 ]; then
        tail -n 3 "${store%.db}.log" >&2
        return 1
    fi
    touch "${store%.db}.done"
    echo "$2, seed $this: $3 evaluations"
}

part=$(((n + 11) / 12))
number=0
for round in 0 1; do
    for heuristic in random random tag uct tag:rollout=leaders+guess roundrobin; do
        search $number $heuristic $part
        number=$((number + 1))
    done
done

if [ -x "$build/make-pool" ]; then
    "$build/make-pool" ${DESCRIPTION:+--description "$DESCRIPTION"} "$out"/*.db | xz -9 >"$out.pool.xz"
    echo "$out.pool.xz"
else
    echo "the stores are complete; where make-pool is: build/make-pool $out/*.db | xz -9 > $out.pool.xz"
fi
