#!/bin/sh
# search.sh THRESH KERNEL.lift SIZES: evaluations to come within 10 % of the best time of all runs, with and without the
# bound. Every run records its timings in a store; a run that never gets there counts its whole budget.
set -e
thresh=$1 kernel=$2 sizes=$3
. "$(dirname "$0")/common.sh"
evaluations=${EVALUATIONS:-300}
: >"$out/search.jsonl"
for seed in ${SEEDS:-1 2 3 4 5}; do
    for mode in bound none; do
        rm -f "$out/search.db"
        flag=
        [ $mode = none ] && flag=--no-bound
        "$thresh" tune "$kernel" --size "$sizes" --evaluations "$evaluations" --seed "$seed" $flag --quiet \
            ${DEVICE:+--device "$DEVICE"} --store "$out/search.db" --out "$out/search-best" --json >/dev/null
        "$thresh" store export "$out/search.db" | sed "s/^{/{\"mode\":\"$mode\",\"seed\":$seed,/" >>"$out/search.jsonl"
    done
done
{
    echo "# $(date -u +%F) $(basename "$kernel") $sizes, $evaluations evaluations"
    python3 - "$out/search.jsonl" "$evaluations" <<'PY'
import json, statistics, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
rows = [r for r in rows if r["number"] > 0 and r["status"] != "duplicate"]
best = min(r["median_ns"] for r in rows if r["median_ns"])
runs = {}
for r in rows:
    runs.setdefault((r["mode"], r["seed"]), []).append(r["median_ns"] or float("inf"))
reach = lambda times: next((i + 1 for i, t in enumerate(times) if t <= 1.1 * best), int(sys.argv[2]))
print("mode seed evaluations best_us")
for (mode, seed), times in sorted(runs.items()):
    print(mode, seed, reach(times), "%.4g" % (min(times) * 1e-3))
medians = {m: statistics.median(reach(t) for (n, _), t in runs.items() if n == m) for m in ("bound", "none")}
print("# median with %g, without %g, ratio %.3g" % (medians["bound"], medians["none"], medians["bound"] / medians["none"]))
PY
} | tee "$out/search.dat"
plot search <<PLOT
set style data points; set ylabel 'evaluations to within 10 % of the best'; set xlabel 'seed'; set yrange [0:*]
plot '< grep ^bound $out/search.dat' using 2:3 pt 7 title 'with the bound', '< grep ^none $out/search.dat' using 2:3 pt 6 title 'without'
PLOT
