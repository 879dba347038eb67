#!/usr/bin/env python3
"""Kernel Tuner's strategies on tables of all configurations of a space, printed as search-bench prints searches:

    pip install kernel_tuner
    peer.py --strategies simulated_annealing,genetic_algorithm conv_a100.csv.gz > courses
    search-table courses more-courses

prints a line for each table, strategy and seed with its course, as search-bench does:

    conv_a100   kernel_tuner   genetic_algorithm   1   400   1:5.2 7:1.9 31:1.04

A strategy draws valid configurations only, without repetitions; those that fail count as evaluations. The
space is that of the table's rows, without constraints.
"""

import argparse
import csv
import gzip
import json
import os
import sys
import tempfile
import warnings

import kernel_tuner
import kernel_tuner.interface
from kernel_tuner.searchspace import Searchspace


def read_table(path):
    """Returns the names of the choices and the rows: (values, time in ns, or None if it failed)."""
    opens = gzip.open if path.endswith(".gz") else open
    with opens(path, "rt", newline="") as f:
        reader = csv.reader(f)
        names = next(reader)
        rows = []
        for row in reader:
            time = float(row[-1])
            rows.append((tuple(int(x) for x in row[:-1]), time if time > 0 else None))
    return names[:-1], rows


def cache_of(names, rows):
    """The table as a cache of Kernel Tuner, with times in ms."""
    entries = {}
    for values, time in rows:
        entry = dict(zip(names, values))
        if time is None:
            entry["time"] = "RuntimeFailedConfig"
            entry["__error__"] = "RuntimeFailedConfig"
        else:
            entry["time"] = time / 1e6
        entries[",".join(str(v) for v in values)] = entry
    params = {n: sorted({values[i] for values, _ in rows}) for i, n in enumerate(names)}
    return {
        "device_name": "recorded",
        "kernel_name": "recorded",
        "problem_size": 1,
        "tune_params_keys": names,
        "tune_params": params,
        "objective": "time",
        "cache": entries,
    }


def search(cache, path, strategy, seed, evaluations):
    """Returns the times of the configurations that a search evaluates, in order; None: it failed."""
    options = {"max_fevals": evaluations}
    results, _ = kernel_tuner.tune_kernel(
        "recorded",
        "__global__ void recorded() {}",
        1,
        [],
        cache["tune_params"],
        strategy=strategy,
        strategy_options=options,
        cache=path,
        simulation_mode=True,
        lang="CUDA",
        quiet=True,
        seed=seed,
    )
    times = {}
    for r in results:
        key = ",".join(str(r[n]) for n in cache["tune_params_keys"])
        times.setdefault(key, r["time"] if isinstance(r["time"], float) else None)
    return list(times.values())[:evaluations]


def course_of(times, optimum):
    best, course = None, []
    for i, time in enumerate(times):
        if time is not None and (best is None or time < best):
            best = time
            course.append("%d:%.6g" % (i + 1, best / optimum))
    return " ".join(course)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--evaluations", type=int, default=400)
    parser.add_argument("--strategies", default="random_sample,simulated_annealing,genetic_algorithm")
    parser.add_argument("tables", nargs="+")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    for table in args.tables:
        pool = os.path.basename(table).split(".")[0]
        cache = cache_of(*read_table(table))
        optimum = min(e["time"] for e in cache["cache"].values() if isinstance(e["time"], float))
        # Made anew for each search: it remembers which neighbours were drawn.
        kernel_tuner.interface.Searchspace = lambda *_, table=cache, **__: Searchspace(None, None, None, from_cache=table)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recorded.json")
            with open(path, "w") as f:
                json.dump(cache, f)
            for strategy in args.strategies.split(","):
                for seed in range(1, args.seeds + 1):
                    out, sys.stdout = sys.stdout, open(os.devnull, "w")
                    try:
                        times = search(cache, path, strategy, seed, args.evaluations)
                    finally:
                        sys.stdout.close()
                        sys.stdout = out
                    print(pool, "kernel_tuner", strategy, seed, args.evaluations, course_of(times, optimum), sep="\t",
                          flush=True)


if __name__ == "__main__":
    main()
