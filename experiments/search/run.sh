#!/bin/bash
# run.sh BUILD [POOL...]: compares searches on pools, without a device; prints Markdown.
#
#     experiments/search/run.sh build ../shared/spaces/*.csv.gz experiments/search/pools/*.pool.?z     (the default)
#     HEURISTICS="tag uct:c=2" SEEDS=20 experiments/search/run.sh build
#     OLD=before/search-bench experiments/search/run.sh build                                          two programs in turn
#
# A POOL is a pool (NAME.pool), or a table of all configurations of a space (NAME.csv), as it is or compressed (.gz, .xz).
# Environment: HEURISTICS (random uct tag tag:rollout=leaders+guess), SEEDS (50), EVALUATIONS (400), IN_FLIGHT (1), JOBS (2), OLD (another
# build's search-bench: its rows are called `old`, those of BUILD `new`), OUT (build/search: pools and courses are kept there).
set -e
if [ $# -lt 1 ] || [ ! -x "$1/search-bench" ]; then
    echo "usage: experiments/search/run.sh BUILD [POOL...]" >&2
    exit 2
fi
build=$1
shift
here=$(dirname "$0")
out=${OUT:-$build/search}
heuristics=${HEURISTICS:-random uct tag tag:rollout=leaders+guess}
seeds=${SEEDS:-50}
evaluations=${EVALUATIONS:-400}
[ $# -gt 0 ] || set -- "$here"/../../../shared/spaces/*.csv.gz "$here"/pools/*.pool.?z
mkdir -p "$out"
rm -rf "$out/courses"
mkdir "$out/courses"

pools=()
for file; do
    [ -e "$file" ] || continue
    name=$(basename "${file%.[gx]z}")
    plain=$file
    if [ "${file%.[gx]z}" != "$file" ]; then
        plain=$out/$name
        case $file in
        *.gz) gzip -dc "$file" ;;
        *.xz) xz -dc "$file" ;;
        esac >"$plain"
    fi
    if [ "${name%.csv}" != "$name" ]; then
        "$build/make-pool" "$plain" >"$out/${name%.csv}.pool"
        plain=$out/${name%.csv}.pool
    fi
    pools+=("$plain")
done
if [ ${#pools[@]} = 0 ]; then
    echo "run.sh: no pool" >&2
    exit 2
fi

more=()
[ -z "$IN_FLIGHT" ] || more=(--in-flight "$IN_FLIGHT") # programs before 2026-11-27 do not know it

# A job is a program, a pool and a heuristic; those of two programs alternate.
number=1000
for pool in "${pools[@]}"; do
    for heuristic in $heuristics; do
        for program in ${OLD:+old=$OLD} new=$build/search-bench; do
            number=$((number + 1))
            printf '%s\0' "$out/courses/$number" "${program#*=}" --label "${program%%=*}" --heuristic "$heuristic" \
                --seeds "$seeds" --evaluations "$evaluations" \
                "${more[@]}" "$pool"
        done
    done
done | xargs -0 -n $((11 + ${#more[@]})) -P "${JOBS:-2}" bash -c 'out=$1; shift; exec "$@" >"$out"' job

printf '%s seeds, %s evaluations\n' "$seeds" "$evaluations"
"$build/search-table" "$out"/courses/*
