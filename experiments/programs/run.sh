#!/bin/sh
# run.sh THRESH [LIST]: tunes the programs of LIST (programs.txt) and compares each with its peer in the same run.
#
#     DEVICE=gpu experiments/programs/run.sh build/thresh > table.md
#
# A line of LIST is: kernel, sizes, peer, evaluations. Peers are PyTorch's kernels (torch_peers.py), or CLBlast's
# (PEERS=experiments/programs/clblast_peers.sh), timed before and after all searches; `-` stands for no peer. Prints a table as
# Markdown; the ratio is the peer's time over ours: above 1, ours is faster.
# Environment: DEVICE (part of the device's name), SEED (1), OUT (build/programs: results and logs), PYTHON (python3), PEERS.
set -e
if [ ! -x "$1" ]; then
    echo "usage: experiments/programs/run.sh THRESH [LIST]" >&2
    exit 2
fi
thresh=$1 here=$(dirname "$0")
list=${2:-$here/programs.txt}
out=${OUT:-build/programs}
seed=${SEED:-1}
mkdir -p "$out"

rows() { sed 's/#.*//' "$list" | awk 'NF == 4'; }

peers() { # FILE: times of all peers
    rows | awk '$3 != "-" { print $3 }' | sort -u | xargs -r ${PEERS:-"${PYTHON:-python3}" "$here/torch_peers.py"} >"$1" 2>"$1.log" || {
        echo "run.sh: no peers: see $1.log" >&2
        : >"$1"
    }
}

peers "$out/before.jsonl"
rows | while read -r kernel sizes peer evaluations; do
    name=$kernel-$(echo "$sizes" | tr ',=' '-_')-$seed
    echo "run.sh: $kernel $sizes" >&2
    "$thresh" tune "experiments/kernels/$kernel.lift" --size "$sizes" ${DEVICE:+--device "$DEVICE"} --evaluations "$evaluations" \
        --seed "$seed" --out "$out/$name" --json --quiet >"$out/$name.json" 2>"$out/$name.log" ||
        echo "run.sh: $kernel $sizes failed: see $out/$name.log" >&2
done
peers "$out/after.jsonl"
rows | "${PYTHON:-python3}" "$here/table.py" "$out" "$seed"
