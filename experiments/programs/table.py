"""table.py OUT SEED: the table of run.sh, from the reports in OUT and the rows of the list on standard input."""
import json
import os
import sys


def peers(path):
    with open(path) as lines:
        return {row["peer"]: row["ns"] for row in map(json.loads, lines)}


def microseconds(ns):
    return "" if ns is None else f"{ns / 1e3:.4g}"


def main(out, seed):
    before, after = peers(f"{out}/before.jsonl"), peers(f"{out}/after.jsonl")
    print("| program | sizes | evaluations | naive us | best us | speedup | peer | peer us | peer / best |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in sys.stdin:
        kernel, sizes, peer, evaluations = row.split()
        path = f"{out}/{kernel}-{sizes.replace(',', '-').replace('=', '_')}-{seed}.json"
        report = {}
        if os.path.exists(path) and os.path.getsize(path):
            with open(path) as file:
                report = json.load(file)
        best, naive = report.get("best_ns"), report.get("naive_ns")
        times = [t[peer] for t in (before, after) if peer in t]
        theirs = sum(times) / len(times) if times else None
        speedup = f"{naive / best:.2f}" if best and naive else ""
        ratio = f"{theirs / best:.2f}" if best and theirs else ""
        print(f"| {kernel} | {sizes} | {evaluations} | {microseconds(naive)} | {microseconds(best)} | {speedup} "
              f"| {peer} | {microseconds(theirs)} | {ratio} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
