"""reach.py BUDGET STORE... <LINES: evaluations to come within 10 % of the best time, with the bound and without.

LINES are exports of searches, each with its "mode" (bound or none) and "seed" (search.sh makes them). The best time is the least
of them and of the stores. A search that never gets there counts its budget."""
import json
import sqlite3
import statistics
import sys

MODES = ("bound", "none")


def times_of(lines):
    """Times in ns of each search's evaluations, in their order; infinity for one that failed."""
    searches = {}
    for line in lines:
        row = json.loads(line)
        if row["number"] > 0 and row["status"] not in ("duplicate", "oversized"):
            searches.setdefault((row["mode"], row["seed"]), []).append(row["median_ns"] or float("inf"))
    return searches


def recorded(store):
    return [ns for (ns,) in sqlite3.connect(store).execute("SELECT median_ns FROM evaluation WHERE status = 'ok'")]


def main():
    budget, stores = int(sys.argv[1]), sys.argv[2:]
    searches = times_of(sys.stdin)
    best = min(min(times) for times in list(searches.values()) + [recorded(s) for s in stores])
    reach = {key: next((i + 1 for i, ns in enumerate(times) if ns <= 1.1 * best), budget) for key, times in searches.items()}
    print("mode seed evaluations best_us total")
    for (mode, seed), times in sorted(searches.items()):
        print(mode, seed, reach[mode, seed], "%.4g" % (min(times) * 1e-3), len(times))
    of = {mode: [n for (m, _), n in reach.items() if m == mode] for mode in MODES}
    medians, means = ([mean(of[mode]) for mode in MODES] for mean in (statistics.median, statistics.mean))
    print("# best of all %.4g us; median with %g, without %g, ratio %.3g; means %.4g and %.4g, ratio %.3g"
          % (best * 1e-3, *medians, medians[0] / medians[1], *means, means[0] / means[1]))


main()
