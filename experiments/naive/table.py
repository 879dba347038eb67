"""table.py REPORT.json ...: results of `thresh tune --json` beside the naive implementation, a line for each kernel and number
of evaluations. Exit status 1 if one is slower than naive by the quoted figures, or has none."""
import json
import os
import statistics
import sys


def read(path):
    with open(path) as report:
        return json.load(report)


def key(path):
    kernel, evaluations, _ = os.path.basename(path)[: -len(".json")].rsplit("-", 2)
    return kernel, int(evaluations)


def line(kernel, evaluations, reports):
    speedups = [r["speedup"] for r in reports if r["quoted"] and r["speedup"]]
    slower = sum(s < 1 for s in speedups)
    missing = len(reports) - len(speedups)
    origins = {}
    for r in reports:
        origins[r["best_from"]] = origins.get(r["best_from"], 0) + 1
    least, median = (min(speedups), statistics.median(speedups)) if speedups else (float("nan"),) * 2
    won = ", ".join(f"{n} {name}" for name, n in sorted(origins.items(), key=lambda o: -o[1]))
    print(f"| {kernel} | {evaluations} | {len(reports)} | {least:.2f} | {median:.2f} | {slower} | {missing} | {won} |")
    return slower + missing


def main(paths):
    groups = {}
    for path in paths:
        groups.setdefault(key(path), []).append(read(path))
    print("| kernel | evaluations | seeds | lowest speedup | median | slower than naive | not quoted | won by |")
    print("|---|---|---|---|---|---|---|---|")
    return sum([line(*group, reports) for group, reports in sorted(groups.items())])


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
