#!/bin/sh
# bench.sh THRESH [PART...]: the figures of a machine. Parts, by default all of them:
#
#   matmul512  a matrix product of 512^3: searches with tag, with random, and with random on equal terms (the rollout policies
#              of tag), seeds 1 to 5, 300 evaluations; then the best of each, the naive implementation and the peers, in 11 rounds
#              of random order, nothing building. Ratios are taken within a round; quoted is the median over the rounds, then
#              median and range over the seeds.
#   rate64     evaluations a second at 64^3
#   descents   random descents a second in the space of 1024^3
#
# Environment: SEEDS ("1 2 3 4 5"), HEURISTICS ("tag random random:rollout=prior+bound+leaders+guess": as --heuristic takes them),
# EVALUATIONS (300), ROUNDS (11), SIZE (512), DEVICE (part of the name; empty: the first), OUT (build/bench). Prints Markdown for experiments/results/; OUT keeps each search's JSON, store and files, every
# measurement of the rounds (rounds.txt: round, name, ns) and the figures as JSON lines (figures.jsonl).
set -e
if [ ! -x "$1" ]; then
    echo "usage: experiments/bench.sh THRESH [matmul512] [rate64] [descents]" >&2
    exit 2
fi
thresh=$1
shift
seeds=${SEEDS:-1 2 3 4 5}
heuristics=${HEURISTICS:-tag random random:rollout=prior+bound+leaders+guess}
evaluations=${EVALUATIONS:-300}
size=${SIZE:-512}
out=${OUT:-build/bench}
kernel=experiments/kernels/matmul.lift
mkdir -p "$out"

note() { echo "bench: $*" >&2; }

# A heuristic as part of a file's name: a plug-in has a path.
label() { echo "${1#./}" | tr / _; }

key() { sed -n "s/^ *\"$2\": \([^,]*\),\{0,1\}$/\1/p" "$1"; } # FILE KEY -> its number

tune() { # NAME SIZE options...: files OUT/NAME.json, OUT/NAME.db, OUT/NAME/
    name=$1 n=$2
    shift 2
    rm -f "$out/$name.db"*
    "$thresh" tune "$kernel" --size "M=$n,N=$n,K=$n" ${DEVICE:+--device "$DEVICE"} --out "$out/$name" \
        --store "$out/$name.db" --json --quiet "$@" >"$out/$name.json"
}

# The peers that this machine has the packages for.
build_peers() {
    peers=
    for peer in openblas:libopenblas-dev clblast:libclblast-dev; do
        name=${peer%%:*}
        libraries="-l$name"
        if [ "$name" = openblas ]; then libraries=$(pkg-config --cflags --libs openblas 2>/dev/null || echo "$libraries"); fi
        if cc -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 -o "$out/$name" \
            experiments/peers/peer.c "experiments/peers/$name.c" $libraries -lOpenCL 2>"$out/$name.log"; then
            peers="$peers $name"
        else
            note "$name is left out: it does not build; package ${peer##*:} (see $out/$name.log)"
        fi
    done
}

measure() { # NAME -> ns of one launch or call
    case $1 in
    openblas | clblast) "$out/$1" "$size" "$size" "$size" "$DEVICE" ;;
    naive) "$thresh" replay "$out/$(label "${heuristics%% *}")-${seeds%% *}.db" --number 0 --json >"$out/replay.json" && key "$out/replay.json" median_ns ;;
    *) "$thresh" replay "$out/$1/best.json" --json >"$out/replay.json" && key "$out/replay.json" median_ns ;;
    esac
}

# Median and range over the seeds of the median over the rounds of REFERENCE / HEURISTIC-seed.
ratios() { # HEURISTIC REFERENCE
    awk -v h="$1-" -v ref="$2" '
        function median(x, n,   i, j, t) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && x[j - 1] > x[j]; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
            return n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
        }
        $3 > 0 { ns[$1, $2] = $3; if ($1 > rounds) rounds = $1; if (index($2, h) == 1) names[$2] = 1 }
        END {
            for (name in names) {
                m = 0
                for (r = 1; r <= rounds; r++)
                    if (((r, name) in ns) && ((r, ref) in ns)) one[++m] = ns[r, ref] / ns[r, name]
                if (m) all[++n] = median(one, m)
            }
            if (!n) exit
            mid = median(all, n)
            printf "%.3g %.3g %.3g\n", mid, all[1], all[n]
        }' "$out/rounds.txt"
}

figure() { # HEURISTIC REFERENCE: a row of the table, a line of JSON
    set -- "$1" "$2" $(ratios "$1" "$2")
    [ $# -eq 5 ] || return 0
    echo "| $1 | $2 | $3 | $4 to $5 |"
    echo "{\"part\": \"matmul$size\", \"heuristic\": \"$1\", \"reference\": \"$2\", \"ratio\": $3, \"low\": $4, \"high\": $5}" \
        >>"$out/figures.jsonl"
}

search_row() { # NAME
    j="$out/$1.json"
    echo "| $1 | $(key "$j" ok) | $(key "$j" failed) | $(key "$j" cut) | $(key "$j" found_at) |" \
        "$(printf '%.3g | %.3g' "$(key "$j" speedup)" "$(key "$j" evaluations_per_s)") |"
}

matmul512() {
    build_peers
    names="naive$peers"
    for seed in $seeds; do
        for heuristic in $heuristics; do
            note "$heuristic, seed $seed"
            search=$(label "$heuristic")-$seed
            tune "$search" "$size" --heuristic "$heuristic" --seed "$seed" --evaluations "$evaluations" ||
                note "$heuristic, seed $seed: the search failed"
            if [ -f "$out/$search/best.json" ]; then names="$names $search"; fi
        done
    done
    : >"$out/rounds.txt"
    for round in $(seq "${ROUNDS:-11}"); do
        note "round $round"
        for name in $(printf '%s\n' $names | shuf); do
            echo "$round $name $(measure "$name" || true)" >>"$out/rounds.txt"
        done
    done
    printf '\n## matmul %s^3, %s evaluations, seeds %s\n\n' "$size" "$evaluations" "$seeds"
    echo "| search | ok | failed | cut | found at | naive / best at its end | evaluations a second |"
    echo "|---|---|---|---|---|---|---|"
    for name in $names; do
        if [ -f "$out/$name.json" ]; then search_row "$name"; fi
    done
    printf '\n| heuristic | reference | reference / best, median over the seeds | range |\n|---|---|---|---|\n'
    for heuristic in $heuristics; do
        for reference in naive $peers; do
            figure "$(label "$heuristic")" "$reference"
        done
    done
}

rate64() {
    tune rate64 64 --evaluations 200 --seed 1
    rate=$(key "$out/rate64.json" evaluations_per_s)
    printf '\n## Rate at 64^3\n\n%s evaluations a second (200 evaluations, seed 1)\n' "$rate"
    echo "{\"part\": \"rate64\", \"evaluations_per_s\": $rate}" >>"$out/figures.jsonl"
}

descents() {
    "$thresh" descend "$kernel" --size M=1024,N=1024,K=1024 --samples 1000 --json >"$out/descents.json"
    rate=$(key "$out/descents.json" descents_per_s)
    printf '\n## Descents at 1024^3\n\n%s descents a second, %s decisions a second\n' "$rate" \
        "$(key "$out/descents.json" decisions_per_s)"
    echo "{\"part\": \"descents\", \"descents_per_s\": $rate}" >>"$out/figures.jsonl"
}

[ $# -gt 0 ] || set -- rate64 descents matmul512
for part; do
    case $part in
    matmul512 | rate64 | descents) ;;
    *)
        echo "bench: no such part: $part (matmul512, rate64, descents)" >&2
        exit 2
        ;;
    esac
done
: >"$out/figures.jsonl"
echo "# $(date -u +%F), $("$thresh" device list | head -1)"
for part; do
    "$part"
done
