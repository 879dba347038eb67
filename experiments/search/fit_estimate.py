#!/usr/bin/python3
"""Fits the estimate of a GPU's time to pools: writes perfmodel/estimate_fitted.c.

    experiments/search/fit_estimate.py experiments/search/pools/*_h?00.pool.?z | clang-format >perfmodel/estimate_fitted.c

An implementation's features are logarithms, the rough estimate first (perfmodel/estimate.h), and exposed latency (latency()).
The logarithm of its time is taken as a number of its program, a weighted sum of the features, and a number from each of TREES
trees, in this order:

  - The sum: ridge regression. Weights shrink to those of the rough estimate alone (1, 0, 0, ...) with the force of SHRINK rows.
  - The trees: gradient boosting on what the sum leaves. A tree compares DEPTH features with a number each; the answers are the
    bits of the index of what it adds. Leaves shrink to 0 with the force of LEAF_SHRINK rows.

Each program has the weight of 1,000 rows, an implementation that takes k times as long as the best has 1/k of the best's, and
times above 8 times the best count as that.

Prints to the standard error, for each pool, how well the rough estimate orders it, and the sum and the whole when they are fitted
to the *other* pools: the rank correlation of all rows and of those within twice the best, and the best of the 20 that come first
over the best of the pool. Programs that read a pool estimate its implementations again (experiments/search/pool.c).
"""
import gzip
import lzma
import sys

import numpy as np

SHRINK, ROWS, LIMIT = 100, 1000, 3  # LIMIT: log2(8)
TREES, DEPTH, RATE, LEAF_SHRINK, THRESHOLDS = 100, 3, 0.15, 20, 31
RESOURCES, SLOWEST = 5, 60  # as perfmodel/estimate.c has them
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


def all_features(rows):
    """Of rows with the features of a pool: the rough estimate in the place of the first one, and latency at the end."""
    x = np.array(rows)
    cycles = np.exp2(np.minimum(x[:, 1:1 + RESOURCES], SLOWEST)) - 1
    x[:, 0] = np.log2(1 + np.sqrt((cycles**2).sum(1)))
    return np.column_stack([x, latency(x)])


def open_pool(path):
    return lzma.open(path, "rt") if path.endswith(".xz") else gzip.open(path, "rt")


def read(path):
    """Features and log2(times) of the timed rows of a pool, a kernel once."""
    features, times, seen, n = [], [], set(), 0
    with open_pool(path) as lines:
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
    return all_features(features), np.log2(times)


def weights(y):
    weight = np.exp2(y.min() - y)
    return weight * (ROWS / weight.sum())


def fit_sum(pools):
    n = pools[0][0].shape[1]
    squares, products = SHRINK * np.eye(n), np.zeros(n)
    for x, y in pools:
        weight = weights(y)
        rest = np.minimum(y, y.min() + LIMIT) - x[:, 0]
        rest = rest - np.average(rest, weights=weight)
        z = x - np.average(x, axis=0, weights=weight)
        squares += z.T @ (weight[:, None] * z)
        products += z.T @ (weight * rest)
    b = np.linalg.solve(squares, products)
    b[0] += 1
    return b.round(2)


def best_cut(bins, thresholds, leaf, leaves, weight, rest):
    """The feature and the threshold that divide all leaves best."""
    best = (-1, 0, 0)
    n = max(map(len, thresholds)) + 1
    for feature, of_feature in enumerate(thresholds):
        if len(of_feature) == 0:
            continue
        cell = leaf * n + bins[:, feature]
        below = np.bincount(cell, weight * rest, leaves * n).reshape(leaves, n).cumsum(1)
        rows = np.bincount(cell, weight, leaves * n).reshape(leaves, n).cumsum(1)
        above, more = below[:, -1:] - below, rows[:, -1:] - rows
        gain = (below**2 / (rows + LEAF_SHRINK) + above**2 / (more + LEAF_SHRINK)).sum(0)[:len(of_feature)]
        best = max(best, (gain.max(), feature, int(gain.argmax())))
    return best[1:]


def fit_trees(pools, b):
    """A list of (features, thresholds, numbers to add)."""
    x = np.vstack([p[0] for p in pools])
    weight = np.concatenate([weights(y) for _, y in pools])
    rest = []
    for (z, y) in pools:
        of_pool = np.minimum(y, y.min() + LIMIT) - z @ b
        rest.append(of_pool - np.average(of_pool, weights=weights(y)))
    rest = np.concatenate(rest)
    at = np.linspace(0, 1, THRESHOLDS + 2)[1:-1]
    thresholds = [np.unique(np.quantile(column, at).round(2)) for column in x.T]
    bins = np.stack([np.searchsorted(t, column, side="right") for t, column in zip(thresholds, x.T)], 1)
    trees = []
    for _ in range(TREES):
        leaf, cuts = np.zeros(len(rest), int), []
        for level in range(DEPTH):
            feature, i = best_cut(bins, thresholds, leaf, 1 << level, weight, rest)
            cuts.append((feature, thresholds[feature][i]))
            leaf = 2 * leaf + (bins[:, feature] > i)
        sums = np.bincount(leaf, weight * rest, 1 << DEPTH)
        add = (RATE * sums / (np.bincount(leaf, weight, 1 << DEPTH) + LEAF_SHRINK)).round(4)
        rest = rest - add[leaf]
        trees.append(([f for f, _ in cuts], [t for _, t in cuts], add))
    return trees


def estimate(b, trees, x):
    total = x @ b
    for features, thresholds, add in trees:
        leaf = np.zeros(len(x), int)
        for feature, threshold in zip(features, thresholds):
            leaf = 2 * leaf + (x[:, feature] >= threshold)
        total += add[leaf]
    return total


def ranks(v):
    order = np.empty(len(v))
    order[np.argsort(v, kind="stable")] = np.arange(len(v))
    return order


def quality(estimated, y):
    top = y < y.min() + 1
    correlation = [np.corrcoef(ranks(estimated[of]), ranks(y[of]))[0, 1] for of in (slice(None), top)]
    return "{:.2f} {:.2f} {:.2f}".format(*correlation, 2**(y[np.argsort(estimated)[:20]].min() - y.min()))


def print_qualities(paths, pools):
    print("| pool | rows | rough estimate: all, within 2, first 20 | sum | sum and trees |\n|---|---|---|---|---|", file=sys.stderr)
    for i, (path, (x, y)) in enumerate(zip(paths, pools)):
        others = pools[:i] + pools[i + 1:]
        b = fit_sum(others)
        cells = [quality(e, y) for e in (x[:, 0], x @ b, estimate(b, fit_trees(others, b), x))]
        print(f"| {path.split('/')[-1].split('.')[0]} | {len(y)} | " + " | ".join(cells) + " |", file=sys.stderr)


def print_c(b, trees):
    print("/* Generated: see the head of experiments/search/fit_estimate.py. */\n#include \"perfmodel/estimate_fitted.h\"\n")
    print("const double estimate_weights[ESTIMATE_FEATURES + 1] = {")
    for i in range(0, len(b), 8):
        print("    " + " ".join(f"{w + 0:g}," for w in b[i:i + 8]))
    print("};\n\nconst struct estimate_tree estimate_trees[ESTIMATE_TREES] = {")
    for features, thresholds, add in trees:
        cells = ["{" + ", ".join(f"{v + 0:g}" for v in list_) + "}" for list_ in (features, thresholds, add)]
        print(f"    {{{cells[0]}, {cells[1]},\n     {cells[2]}}},")
    print("};")


def main(paths):
    pools = [read(p) for p in paths]
    if len(pools) > 1:
        print_qualities(paths, pools)
    b = fit_sum(pools)
    print_c(b, fit_trees(pools, b))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: fit_estimate.py POOL... | clang-format >perfmodel/estimate_fitted.c")
    main(sys.argv[1:])
