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


def read_peers(out):
    """Times of the peer, and of best kernels in graphs by their folder, ns."""
    peers, graphs = [], {}
    for path in glob.glob(f"{out}/peer-*.jsonl"):
        with open(path) as lines:
            for line in map(json.loads, lines):
                if line["peer"].startswith("own:"):
                    graphs[os.path.basename(line["peer"][len("own:"):])] = line["ns"]
                else:
                    peers.append(line["ns"])
    return peers, graphs


def figures(best, peer):
    """Cells: median, worst, and the peer's time over them; best in us, peer in ns."""
    median, worst = statistics.median(best), max(best)
    return [f"{median:.1f}", f"{worst:.1f}"] + ([f"{peer / 1e3 / x:.2f}" for x in (median, worst)] if peer else [])


def main(out, seeds, names):
    peers, graphs = read_peers(out)
    peer = statistics.median(peers) if peers else None
    ratios = ["peer / median", "peer / worst"] if peer else []
    head = ["us", *seeds, "median", "worst", *ratios, "s a search", "evaluations/s"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name in names:
        reports = [report(out, name, seed) for seed in seeds]
        best = [r["best_ns"] / 1e3 for r in reports if r]
        cells = [name] + [f'{r["best_ns"] / 1e3:.1f}' if r else "failed" for r in reports]
        if best:
            cells += figures(best, peer)
            cells += [f'{statistics.median(r["elapsed_s"] for r in reports if r):.0f}',
                      f'{statistics.median(r["evaluations_per_s"] for r in reports if r):.1f}']
        print("| " + " | ".join(cells) + " |")
        in_graphs = [graphs.get(f"{name}-{seed}") for seed in seeds]
        if any(in_graphs):
            cells = [f"{name}, graph"] + [f"{ns / 1e3:.1f}" if ns else "failed" for ns in in_graphs]
            cells += figures([ns / 1e3 for ns in in_graphs if ns], peer)
            print("| " + " | ".join(cells) + " | | |")
    if peer:
        print(f"\nPeer: {min(peers) / 1e3:.1f} to {max(peers) / 1e3:.1f} us.")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(), sys.argv[3:])
