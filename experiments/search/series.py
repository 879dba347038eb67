"""series.py OUT "SEED SEED..." NAME...: the table of series.sh, of the reports in OUT."""
import glob
import json
import os
import statistics
import sys


def report(out, name, seed):
    path = f"{out}/{name}-{seed}.json"
    if not os.path.exists(path) or not os.path.getsize(path):
        return None
    with open(path) as file:
        return json.load(file)


def main(out, seeds, names):
    peers = []
    for path in glob.glob(f"{out}/peer-*.jsonl"):
        with open(path) as lines:
            peers += [json.loads(line)["ns"] for line in lines]
    peer = statistics.median(peers) if peers else None
    ratios = ["peer / median", "peer / worst"] if peer else []
    head = ["us", *seeds, "median", "worst", *ratios, "s a search", "evaluations/s"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name in names:
        reports = [report(out, name, seed) for seed in seeds]
        best = [r["best_ns"] / 1e3 for r in reports if r]
        cells = [name] + [f'{r["best_ns"] / 1e3:.1f}' if r else "failed" for r in reports]
        if best:
            median, worst = statistics.median(best), max(best)
            cells += [f"{median:.1f}", f"{worst:.1f}"]
            cells += [f"{peer / 1e3 / x:.2f}" for x in (median, worst)] if peer else []
            cells += [f'{statistics.median(r["elapsed_s"] for r in reports if r):.0f}',
                      f'{statistics.median(r["evaluations_per_s"] for r in reports if r):.1f}']
        print("| " + " | ".join(cells) + " |")
    if peer:
        print(f"\nPeer: {min(peers) / 1e3:.1f} to {max(peers) / 1e3:.1f} us.")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(), sys.argv[3:])
