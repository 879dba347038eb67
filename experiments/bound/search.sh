#!/bin/sh
# search.sh THRESH KERNEL.lift SIZES [PINS]: evaluations to come within 10 % of the best time of all, with and without the
# bound. A run that never gets there counts its whole budget. With RECORDED=FILE.db,FILE.db (gpu.sh's tiles-*.db) these
# timings stand for the device of DESCRIPTION, else it is measured; PINS is a file of pins.
set -e
thresh=$1 kernel=$2 sizes=$3 pins=$4
. "$(dirname "$0")/common.sh"
evaluations=${EVALUATIONS:-2000}
[ -z "$RECORDED" ] || DEVICE=
: >"$out/search.jsonl"
search() { # SEED MODE OPTION...: one search, its results as JSON lines
    seed=$1 mode=$2
    shift 2
    rm -f "$out"/search.db*
    [ $mode = bound ] || set -- "$@" --no-bound
    "$thresh" tune "$kernel" --size "$sizes" --evaluations "$evaluations" --seed "$seed" --quiet ${DEVICE:+--device "$DEVICE"} \
        ${RECORDED:+--recorded "$RECORDED" --description "$description"} --store "$out/search.db" --out "$out/search-best" \
        --json "$@" >/dev/null || [ $? -eq 1 ]
    "$thresh" store export "$out/search.db" | sed "s/^{/{\"mode\":\"$mode\",\"seed\":$seed,/" >>"$out/search.jsonl"
}
for seed in ${SEEDS:-1 2 3 4 5}; do
    for mode in bound none; do
        set -- "$seed" $mode
        [ -z "$pins" ] || while read -r pin; do set -- "$@" --pin "$pin"; done <<PINS
$(grep -v -e '^#' -e '^$' "$pins")
PINS
        search "$@"
    done
done
{
    echo "# $(date -u +%F) $(basename "$kernel") $sizes, $evaluations evaluations${RECORDED:+, recorded timings}"
    python3 - "$out/search.jsonl" "$evaluations" $(echo "$RECORDED" | tr , ' ') <<'PY'
import json, sqlite3, statistics, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
rows = [r for r in rows if r["number"] > 0 and r["status"] not in ("duplicate", "oversized")]
times = [r["median_ns"] for r in rows if r["median_ns"]]
for store in sys.argv[3:]:
    times += [t for (t,) in sqlite3.connect(store).execute("SELECT median_ns FROM evaluation WHERE status = 'ok'")]
best = min(times)
runs = {}
for r in rows:
    runs.setdefault((r["mode"], r["seed"]), []).append(r["median_ns"] or float("inf"))
reach = lambda times: next((i + 1 for i, t in enumerate(times) if t <= 1.1 * best), int(sys.argv[2]))
print("mode seed evaluations best_us total")
for (mode, seed), times in sorted(runs.items()):
    print(mode, seed, reach(times), "%.4g" % (min(times) * 1e-3), len(times))
medians = {m: statistics.median(reach(t) for (n, _), t in runs.items() if n == m) for m in ("bound", "none")}
print("# best of all %.4g us; median with %g, without %g, ratio %.3g"
      % (best * 1e-3, medians["bound"], medians["none"], medians["bound"] / medians["none"]))
PY
} | tee "$out/search.dat"
plot search <<PLOT
set style data points; set ylabel 'evaluations to within 10 % of the best'; set xlabel 'seed'; set yrange [0:*]
plot '< grep ^bound $out/search.dat' using 2:3 pt 7 title 'with the bound', '< grep ^none $out/search.dat' using 2:3 pt 6 title 'without'
PLOT
