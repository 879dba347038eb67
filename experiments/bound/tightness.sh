#!/bin/sh
# tightness.sh THRESH KERNEL.lift SIZES | THRESH STORE.db[=BEST_NS]...: distribution of bound / measured time, of several stores
# together too. Good is what comes within 3x of the best: the store's own, or a better one that is known of its kernel.
# DESCRIPTION names the description of a device that is not here.
set -e
thresh=$1
. "$(dirname "$0")/common.sh"
status=0
found=$out/tightness.json
: >"$found"
if [ -f "$2" ] && [ "${2%.lift}" != "$2" ]; then
    "$thresh" audit "$2" --size "$3" --samples "$samples" ${DEVICE:+--device "$DEVICE"} --json --quiet >>"$found" || status=$?
    set -- "$2"
else
    shift
    for store in "$@"; do
        "$thresh" audit "${store%%=*}" ${DESCRIPTION:+--description "$DESCRIPTION"} --json --quiet >>"$found" || status=$?
        [ $status -le 1 ] || exit $status
    done
fi
[ $status -le 1 ] || exit $status
python3 - "$found" "$@" >"$out/tightness.dat" <<'PY'
import json, statistics, sys
text, decoder, audits, at = open(sys.argv[1]).read(), json.JSONDecoder(), [], 0
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    audit, at = decoder.raw_decode(text, at)
    audits.append(audit)
names = sys.argv[2:]
known = [float(name.partition("=")[2] or "inf") for name in names]
ratios, good = [], []
def say(name, ratios, good, violations):
    print("# %s: %d measured, %d violations, bound / time: median %.3f (%.3f to %.3f), within 3x of the best: median %.3f of %d" % (
        name, len(ratios), violations, statistics.median(ratios), min(ratios), max(ratios), statistics.median(good), len(good)))
for j, best, name in zip(audits, known, names):
    if j["best_ns"] is None:
        sys.exit("%s: has times of several programs or devices" % name)
    best = min(best, j["best_ns"])
    one = [(b / t, t <= 3 * best) for b, t in j["bound_and_time"] if b is not None]
    say(name, [r for r, _ in one], [r for r, near in one if near], j["violations"])
    ratios += [r for r, _ in one]
    good += [r for r, near in one if near]
if len(audits) > 1:
    say("all", ratios, good, sum(j["violations"] for j in audits))
for i in range(0, 101):
    share = lambda x: sum(r <= i / 100 for r in x) / len(x)
    print("%.2f %.4f %.4f" % (i / 100, share(ratios), share(good)))
PY
grep '^#' "$out/tightness.dat"
plot tightness <<PLOT
set xlabel 'bound / measured time'; set ylabel 'share of implementations'; set key left top; set xrange [0:1]; set yrange [0:1]
plot '$out/tightness.dat' using 1:2 with lines lw 2 title 'all', '' using 1:3 with lines lw 2 title 'within 3x of the best'
PLOT
exit $status
