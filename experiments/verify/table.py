"""table.py REPORT.json...: what `thresh verify --json` said of several programs, as one table.

A program that is a sequence of kernels has a report for each of them, one after another in its file. A program without
a report is listed below the table, with what its log (REPORT.log) says.

A value of a choice is covered if it occurs in 20 verified texts of all kernels together. The others are listed: those
that propagation excludes before anything is decided, in every kernel, and those that are rarer.
"""
import json
import os
import sys
from collections import Counter

FAILURES = ("build_error", "launch_error", "wrong_result", "timeout", "crashed", "out_of_memory",
            "cut", "device_lost")


def reports_of(path):
    """The reports of a file, and whether it ends with a whole one."""
    reports, rest = [], open(path).read().lstrip()
    while rest:
        try:
            report, end = json.JSONDecoder().raw_decode(rest)
        except ValueError:
            return reports, False
        reports.append(report)
        rest = rest[end:].lstrip()
    return reports, bool(reports)


def last_words(path):
    """The last error of a program's log, or its last line. A line of the program and a caret may follow an error."""
    log = path.removesuffix(".json") + ".log"
    lines = [line.strip() for line in open(log, errors="replace")] if os.path.exists(log) else []
    lines = [line for line in lines if line]
    errors = [line for line in lines if "error:" in line]
    return (errors or lines or ["its log is empty or missing"])[-1]


def row(report):
    statuses = report["statuses"]
    covered = sum(v["texts"] >= report["least"] for v in report["values"])
    cells = [report["kernel"].split("/")[-1], report["sizes"], report["verified"], report["drawn"],
             report["duplicates"], report["dead_ends"], report["not_lowered"]]
    cells += [statuses.get(name, 0) for name in FAILURES]
    cells += [f'{covered} of {len(report["values"])}', f'{report["verified_per_s"]:.1f}']
    return "| " + " | ".join(str(c) for c in cells) + " |"


def print_rows(reports):
    head = ["kernel", "sizes", "verified", "drawn", "duplicates", "dead ends", "not lowered", *FAILURES,
            "values in 20 texts", "texts/s"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for report in reports:
        print(row(report))


def print_sums(reports, failures):
    looks = [f["right_unoptimized"] for f in failures if f.get("right_unoptimized") is not None]
    print(f'\n{sum(r["verified"] for r in reports)} distinct texts verified, {len(failures)} failures'
          + (f" ({sum(looks)} of {len(looks)} wrong results that were built again are right without the compiler's "
             "optimizations)" if looks else "")
          + f', on {", ".join(sorted({r["device"] for r in reports})) or "no device"}.')


def print_values(reports):
    texts, possible = Counter(), set()
    for report in reports:
        for v in report["values"]:
            texts[v["choice"], v["value"]] += v["texts"]
            if v["state"] != "excluded":
                possible.add((v["choice"], v["value"]))
    rare = [f"{choice} = {value}: {n}" for (choice, value), n in sorted(texts.items())
            if n < 20 and (choice, value) in possible]
    excluded = [f"{choice} = {value}" for choice, value in sorted(texts.keys() - possible)]
    print(f"{len(possible) - len(rare)} of {len(possible)} values of choices occur in 20 texts or more; the others: "
          + ("; ".join(rare) or "none") + ". Excluded on this device: " + ("; ".join(excluded) or "none") + ".")


def main(paths):
    files = [(path, *reports_of(path)) for path in paths]
    reports = [report for _, some, _ in files for report in some]
    failures = [failure for report in reports for failure in report["failures"]]
    partial = [(path, some) for path, some, whole in files if not whole]
    print_rows(reports)
    print_sums(reports, failures)
    print_values(reports)
    for failure in failures:
        print(f'- {failure["status"]}: {failure["message"].splitlines()[0]} ({failure["file"]})')
    for path, some in partial:
        name = os.path.basename(path).removesuffix(".json")
        print(f'- {"not finished" if some else "not run"}: {name}: {last_words(path)}')
    return 1 if failures or partial else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
