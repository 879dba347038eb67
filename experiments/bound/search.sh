#!/bin/sh
# search.sh THRESH KERNEL.lift SIZES [PINS]: evaluations to come within 10 % of the best time of all, with and without the
# bound. A run that never gets there counts its whole budget. With RECORDED=FILE.db,FILE.db (gpu.sh's tiles-*.db, wide-*.db)
# these timings stand for the device of DESCRIPTION, else it is measured; PINS is a file of pins. OPTIONS go to all searches.
# search.sh THRESH FOLDER: the same of the searches that gpu.sh recorded there, whole-*.db.
set -e
thresh=$1 kernel=$2 sizes=$3 pins=$4
. "$(dirname "$0")/common.sh"
evaluations=${EVALUATIONS:-2000}
[ -z "$RECORDED" ] || DEVICE=
: >"$out/search.jsonl"
add() { # SEED MODE STORE: a search's results as JSON lines
    "$thresh" store export "$3" | sed "s/^{/{\"mode\":\"$2\",\"seed\":$1,/" >>"$out/search.jsonl"
}
search() { # SEED MODE OPTION...
    seed=$1 mode=$2
    shift 2
    rm -f "$out"/search.db*
    [ $mode = bound ] || set -- "$@" --no-bound
    "$thresh" tune "$kernel" --size "$sizes" --evaluations "$evaluations" --seed "$seed" --quiet ${DEVICE:+--device "$DEVICE"} \
        ${RECORDED:+--recorded "$RECORDED" --description "$description"} --store "$out/search.db" --out "$out/search-best" \
        --json $OPTIONS "$@" >/dev/null || [ $? -eq 1 ]
    add "$seed" $mode "$out/search.db"
}
searches() {
    for seed in ${SEEDS:-1 2 3 4 5}; do
        for mode in bound none; do
            set -- "$seed" $mode
            [ -z "$pins" ] || while read -r pin; do set -- "$@" --pin "$pin"; done <<PINS
$(grep -v -e '^#' -e '^$' "$pins")
PINS
            search "$@"
        done
    done
}
stores() {
    for store in "$kernel"/whole-*-*.db; do
        name=${store##*/whole-} name=${name%.db}
        add "${name#*-}" "${name%-*}" "$store"
    done
}
if [ -d "$kernel" ]; then stores; else searches; fi
{
    echo "# $(date -u +%F) $(basename "$kernel")${sizes:+ $sizes}, $evaluations evaluations${RECORDED:+, recorded timings}"
    python3 "$here/reach.py" "$evaluations" $(echo "$RECORDED" | tr , ' ') <"$out/search.jsonl"
} | tee "$out/search.dat"
plot search <<PLOT
set style data points; set ylabel 'evaluations to within 10 % of the best'; set xlabel 'seed'; set yrange [0:*]
plot '< grep ^bound $out/search.dat' using 2:3 pt 7 title 'with the bound', '< grep ^none $out/search.dat' using 2:3 pt 6 title 'without'
PLOT
