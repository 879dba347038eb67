#!/usr/bin/python3
"""Weights of the estimate of a GPU's time (FITTED of perfmodel/estimate.c), from pools.

    experiments/search/fit_estimate.py experiments/search/pools/*_h100.pool.gz

An implementation's features are logarithms, the rough estimate first (perfmodel/estimate.h), and exposed latency (latency()).
The logarithm of its time is taken as their weighted sum and a number of its program. Ridge regression: each program has the weight of 1,000 rows, an
implementation that takes k times as long as the best has 1/k of the best's, and times above 8 times the best count as
that. Weights shrink to those of the rough estimate alone (1, 0, 0, ...) with the force of SHRINK rows.

Prints, for each pool, how well weights fitted to the *other* pools order it: the rank correlation of all rows and of those
within twice the best, and the best of the 20 that come first over the best of the pool; then the weights of all pools, as C.
"""
import gzip
import sys

import numpy as np

SHRINK, ROWS, LIMIT = 100, 1000, 3  # LIMIT: log2(8)
RESOURCES = 5
UNITS = 132  # of the devices of all pools
GROUPS, ITEMS, REGISTERS, LOCAL_BYTES = (1 + RESOURCES + i for i in range(4))


def latency(x):
    """As perfmodel/estimate.c has it: little where many bundles of work-items are resident."""
    groups, items, registers, local = (np.exp2(x[:, i]) - 1 for i in (GROUPS, ITEMS, REGISTERS, LOCAL_BYTES))
    registers = 8 * np.ceil(np.minimum(255, registers + 24) / 8)
    bundles = np.ceil(np.maximum(1, items.round()) / 32)
    fit = np.minimum.reduce([np.full(len(x), 32), 64 // bundles, 65536 // (registers * bundles * 32),
                             233472 // (local.round() + 1024), np.ceil(groups.round() / UNITS)])
    return np.log2(1 + 8 / (bundles * np.maximum(1, fit)))


def read(path):
    """Features, the rough estimate first, and log2(times) of the timed rows of a pool, a kernel once."""
    features, times, seen, n = [], [], set(), 0
    with gzip.open(path, "rt") as lines:
        for line in lines:
            field = line.rstrip("\n").split("\t")
            if field[0] == "features":
                n = int(field[1])
            elif field[0] == "row" and field[1] == "ok" and field[4] not in seen:
                seen.add(field[4])
                features.append([float(x) for x in field[5:5 + n]])
                times.append(float(field[2]))
    if n == 0 or not times:
        sys.exit(f"fit_estimate.py: {path}: no features or no times")
    x = np.array(features)
    cycles = np.exp2(x[:, 1:1 + RESOURCES]) - 1
    x[:, 0] = np.log2(1 + np.sqrt((cycles**2).sum(1)))
    return np.column_stack([x, latency(x)]), np.log2(times)


def fit(pools):
    n = pools[0][0].shape[1]
    squares, products = SHRINK * np.eye(n), np.zeros(n)
    for x, y in pools:
        weight = np.exp2(y.min() - y)
        weight *= ROWS / weight.sum()
        rest = np.minimum(y, y.min() + LIMIT) - x[:, 0]
        rest = rest - np.average(rest, weights=weight)
        z = x - np.average(x, axis=0, weights=weight)
        squares += z.T @ (weight[:, None] * z)
        products += z.T @ (weight * rest)
    b = np.linalg.solve(squares, products)
    b[0] += 1
    return b


def ranks(v):
    order = np.empty(len(v))
    order[np.argsort(v, kind="stable")] = np.arange(len(v))
    return order


def quality(b, x, y):
    estimate, top = x @ b, y < y.min() + 1
    correlation = [np.corrcoef(ranks(estimate[of]), ranks(y[of]))[0, 1] for of in (slice(None), top)]
    return (*correlation, 2**(y[np.argsort(estimate)[:20]].min() - y.min()))


def main(paths):
    pools = [read(p) for p in paths]
    rough = np.zeros(pools[0][0].shape[1])
    rough[0] = 1
    print("| pool | rows | rough estimate: all, within 2, first 20 | fitted to the other pools |\n|---|---|---|---|")
    for i, path in enumerate(paths):
        others = pools[:i] + pools[i + 1:]
        cells = ["{:.2f} {:.2f} {:.2f}".format(*quality(b, *pools[i]))
                 for b in [rough] + ([fit(others)] if others else [])]
        print(f"| {path.split('/')[-1].split('.')[0]} | {len(pools[i][1])} | " + " | ".join(cells) + " |")
    print("\n" + ", ".join(f"{b:.2f}" for b in fit(pools)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: fit_estimate.py POOL.pool.gz...")
    main(sys.argv[1:])
