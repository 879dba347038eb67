#!/bin/sh
# bench_policies.sh THRESH FOLDER: heuristics with the same rollout policies, without a device.
#
# FOLDER has recorded spaces: NAME.space, and NAME_*.csv.gz with a column for each choice and `time_ns` (0 or less: the
# configuration failed). Each space is first read into a store OUT/NAME.db, once. Then every heuristic searches it with every list
# of policies, with the same seeds and the same number of evaluations, each answered from the store:
#
#     thresh tune --space NAME.space --recorded OUT/NAME.db --heuristic tag:rollout=leaders+guess --seed 1 --evaluations 100
#
# Prints, as Markdown, the best time found divided by the best time of the space (1: found it): median and range over the seeds.
#
# Environment: SPACES (all of the folder), HEURISTICS ("random uct tag ./OUT/greedy.so", the last one compiled from
# experiments/heuristics/greedy.c), POLICIES ("uniform leaders guess leaders+guess"), SEEDS (1 to 10), EVALUATIONS (100),
# OUT (build/bench-policies). These spaces declare no prior and no bound, so the policies `prior` and `bound` do nothing there.
set -e
if [ ! -x "$1" ] || [ ! -d "$2" ]; then
    echo "usage: experiments/bench_policies.sh THRESH FOLDER" >&2
    exit 2
fi
thresh=$1
folder=$2
out=${OUT:-build/bench-policies}
policies=${POLICIES:-uniform leaders guess leaders+guess}
seeds=${SEEDS:-$(seq 10)}
evaluations=${EVALUATIONS:-100}
spaces=${SPACES:-$(for f in "$folder"/*.space; do basename "$f" .space; done)}
mkdir -p "$out"
if [ -z "$HEURISTICS" ]; then
    cc -std=c11 -O2 -shared -fPIC -I. -o "$out/greedy.so" experiments/heuristics/greedy.c -lm
    HEURISTICS="random uct tag ./${out#./}/greedy.so"
fi

# Reads all configurations of a space into OUT/NAME.db: an exhaustive search whose command looks them up.
record() { # NAME
    gzip -dc "$folder/$1"_*.csv.gz | tr -d '\r' >"$out/$1.csv"
    keys=$(head -1 "$out/$1.csv" | sed 's/,time_ns$//; s/[^,]*/{&}/g')
    printf '#!/bin/sh\nexec grep -m1 -oP "^$1,\\K.*" "%s"\n' "$out/$1.csv" >"$out/lookup-$1.sh"
    chmod +x "$out/lookup-$1.sh"
    "$thresh" tune --space "$folder/$1.space" --command "$out/lookup-$1.sh $keys" --heuristic random --runners 2 \
        --evaluations 1000000 --store "$out/$1.part" --quiet >"$out/$1.log"
    mv "$out/$1.part" "$out/$1.db"
}

least() { awk -F, '{ t = $NF + 0 } NR > 1 && t > 0 && (!m || t < m) { m = t } END { printf "%.9g", m }'; }

search() { # NAME SPEC SEED -> best time in ns
    "$thresh" tune --space "$folder/$1.space" --recorded "$out/$1.db" --heuristic "$2" --seed "$3" \
        --evaluations "$evaluations" --json --quiet | sed -n '/"search_ns"/{s/^ *"search_ns": \([^,]*\),\{0,1\}$/\1/p;q;}'
}

# Median and range of numbers, one a line.
summary() {
    sort -g | awk '{ x[NR] = $1 } END {
        m = NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2
        printf "%.2f (%.2f to %.2f)", m, x[1], x[NR] }'
}

for space in $spaces; do
    [ -f "$out/$space.db" ] || record "$space"
    best=$(gzip -dc "$folder/$space"_*.csv.gz | least)
    printf '\n## %s: best found / best of the space after %s evaluations, %s seeds: median (range)\n\n| heuristic |' \
        "$space" "$evaluations" "$(echo $seeds | wc -w)"
    for policy in $policies; do printf ' %s |' "$policy"; done
    printf '\n|---|'
    for policy in $policies; do printf -- '---|'; done
    for heuristic in $HEURISTICS; do
        printf '\n| %s |' "$(basename "$heuristic" .so)"
        for policy in $policies; do
            figures=$(for seed in $seeds; do
                search "$space" "$heuristic:rollout=$policy" "$seed" | awk -v b="$best" '{ print $1 / b }'
            done | tee -a "$out/$space.txt" | summary)
            printf ' %s |' "$figures"
        done
    done
    echo
done
