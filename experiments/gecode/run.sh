#!/bin/sh
# run.sh THRESH: counts all solutions of the ordinary spaces with thresh and with Gecode, one after the other, eleven times
# each, and prints the median times, their ratio and that of the least. Exit status 1 if a count differs. Needs libgecode-dev and python3.
set -e
thresh=$1 here=$(dirname "$0") spaces=$(dirname "$0")/../../spacedsl/spaces
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c++ -O3 "$here/count.cpp" -o "$work/count" -lgecodeminimodel -lgecodesearch -lgecodeint -lgecodekernel -lgecodesupport
python3 - "$thresh" "$work" "$spaces" <<'PY'
import json, statistics, subprocess, sys
thresh, work, spaces = sys.argv[1:]
RUNS = 11

def grid(n):
    name = lambda i, k: f"n{i}.{k}"
    edges = [[name(i, k), name(i, k + 1), 1] for i in range(n) for k in range(n - 1)]
    edges += [[name(i, k), name(i + 1, k), 1] for i in range(n - 1) for k in range(n)]
    path = f"{work}/grid{n}.json"
    json.dump({"sets": {"Node": [name(i, k) for i in range(n) for k in range(n)]}, "properties": {"edge": edges}},
              open(path, "w"))
    return ["--data", path]

def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

cases = [("blocked_stencil", "blocked_stencil", None, []), ("gemm_tiles", "gemm_tiles", None, []),
         ("reduction", "reduction", None, []), ("colouring 4x4", "colouring", 4, grid(4)),
         ("colouring 5x5", "colouring", 5, grid(5)), ("queens 8", "queens", 8, ["--param", "n=8"]),
         ("queens 10", "queens", 10, ["--param", "n=10"]), ("queens 11", "queens", 11, ["--param", "n=11"]),
         ("queens 11, distinct", "queens_distinct", 11, ["--param", "n=11"])]
print(f"{'space':20} {'solutions':>10} {'thresh ms':>10} {'gecode ms':>10} {'ratio':>8} {'of least':>8} {'with setup':>10}")
equal = True
for title, model, size, arguments in cases:
    file = f"{spaces}/{model.split('_distinct')[0]}.space"
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(run([thresh, "space", "count", file, "--json"] + arguments))
        theirs.append(run([f"{work}/count", model] + ([str(size)] if size else [])))
    counts = {r["solutions"] for r in ours + theirs}
    equal = equal and len(counts) == 1
    mid = lambda rows, *keys: statistics.median(sum(r[k] for k in keys) for r in rows) * 1e3
    a, b = mid(ours, "elapsed_s"), mid(theirs, "elapsed_s")
    least = min(r["elapsed_s"] for r in theirs) / min(r["elapsed_s"] for r in ours)
    whole = mid(theirs, "elapsed_s", "setup_s") / mid(ours, "elapsed_s", "setup_s")
    print(f"{title:20} {'/'.join(map(str, sorted(counts))):>10} {a:10.3f} {b:10.3f} {b / a:7.1f}x {least:7.1f}x {whole:9.1f}x")
if not equal:
    sys.exit("the counts differ")
PY
