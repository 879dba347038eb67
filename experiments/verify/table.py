"""table.py REPORT.json...: what `thresh verify --json` said of several kernels, as one table.

A value of a choice is covered if it occurs in 20 verified texts of all kernels together. The others are listed: those
that propagation excludes before anything is decided, in every kernel, and those that are rarer.
"""
import json
import os
import sys
from collections import Counter

FAILURES = ("build_error", "launch_error", "wrong_result", "timeout", "crashed", "out_of_memory",
            "cut", "device_lost")


def row(report):
    statuses = report["statuses"]
    covered = sum(v["texts"] >= report["least"] for v in report["values"])
    cells = [report["kernel"].split("/")[-1], report["sizes"], report["verified"], report["drawn"],
             report["duplicates"], report["dead_ends"], report["not_lowered"]]
    cells += [statuses.get(name, 0) for name in FAILURES]
    cells += [f'{covered} of {len(report["values"])}', f'{report["verified_per_s"]:.1f}']
    return "| " + " | ".join(str(c) for c in cells) + " |"


def main(paths):
    empty = [path for path in paths if os.path.getsize(path) == 0]
    reports = [json.load(open(path)) for path in paths if path not in empty]
    texts, possible = Counter(), set()
    for report in reports:
        for v in report["values"]:
            texts[v["choice"], v["value"]] += v["texts"]
            if v["state"] != "excluded":
                possible.add((v["choice"], v["value"]))
    head = ["kernel", "sizes", "verified", "drawn", "duplicates", "dead ends", "not lowered", *FAILURES,
            "values in 20 texts", "texts/s"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for report in reports:
        print(row(report))
    failed = sum(len(r["failures"]) for r in reports)
    print(f'\n{sum(r["verified"] for r in reports)} distinct texts verified, {failed} failures, on {reports[0]["device"]}.')
    rare = [f"{choice} = {value}: {n}" for (choice, value), n in sorted(texts.items())
            if n < 20 and (choice, value) in possible]
    excluded = [f"{choice} = {value}" for choice, value in sorted(texts.keys() - possible)]
    print(f"{len(possible) - len(rare)} of {len(possible)} values of choices occur in 20 texts or more; the others: "
          + ("; ".join(rare) or "none") + ". Excluded on this device: " + ("; ".join(excluded) or "none") + ".")
    for report in reports:
        for failure in report["failures"]:
            print(f'- {failure["status"]}: {failure["message"].splitlines()[0]} ({failure["file"]})')
    for path in empty:
        print(f"- no report: {path}")
    return 1 if failed or empty else 0


sys.exit(main(sys.argv[1:]))
