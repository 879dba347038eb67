#!/bin/sh
# tightness.sh THRESH KERNEL.lift SIZES | THRESH STORE.db: distribution of bound / measured time.
set -e
thresh=$1
. "$(dirname "$0")/common.sh"
status=0
if [ $# -eq 3 ]; then
    "$thresh" audit "$2" --size "$3" --samples "$samples" ${DEVICE:+--device "$DEVICE"} --json --quiet >"$out/tightness.json" || status=$?
else
    "$thresh" audit "$2" ${DESCRIPTION:+--description "$DESCRIPTION"} --json --quiet >"$out/tightness.json" || status=$?
fi
[ $status -le 1 ] || exit $status
python3 - "$out/tightness.json" >"$out/tightness.dat" <<'PY'
import json, sys
j = json.load(open(sys.argv[1]))
ratios = sorted(b / t for b, t in j["bound_and_time"])
good = sorted(b / t for b, t in j["bound_and_time"] if t <= 3 * j["best_ns"])
print("# ratio share_of_all share_of_good; %d measured, %d violations" % (len(ratios), j["violations"]))
for i in range(0, 101):
    share = lambda x: sum(r <= i / 100 for r in x) / len(x)
    print("%.2f %.4f %.4f" % (i / 100, share(ratios), share(good)))
PY
field '"%d measured, %d violations, bound / time: median %.3g (%.3g to %.3g), within 3x of the best: median %.3g of %d" % (j["measured"], j["violations"], j["tightness"][1], j["tightness"][0], j["tightness"][2], j["tightness_good"][1], j["good"])' <"$out/tightness.json"
plot tightness <<PLOT
set xlabel 'bound / measured time'; set ylabel 'share of implementations'; set key left top; set xrange [0:1]; set yrange [0:1]
plot '$out/tightness.dat' using 1:2 with lines lw 2 title 'all', '' using 1:3 with lines lw 2 title 'within 3x of the best'
PLOT
exit $status
