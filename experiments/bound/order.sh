#!/bin/sh
# order.sh THRESH: the tree of the matrix product down to the first depth with over 1e5 candidates, and what the cut
# leaves of it, in the direct and in the reverse order of decisions.
set -e
thresh=$1
. "$(dirname "$0")/common.sh"
most=${DEPTH:-20}
direct=${DIRECT:-dim_kind,size,map_encoding,seat,outside,staged,mem_space,layout_order,pad,order,cache}
reverse=$(echo "$direct" | tr , '\n' | tac | paste -sd,)

row() { # NAME ORDER PINS SIZES CUT
    with_pins "$3" "$thresh" levels "$kernels/matmul.lift" --size "$4" --description "$description" --cut "$5" \
        --depth "$most" --samples "$samples" --order "$2" --json --quiet |
        python3 -c '
import json, sys
levels = json.load(sys.stdin)["levels"]
last = next((i for i, l in enumerate(levels) if l["nodes"] > 1e5), len(levels) - 1)
nodes, cut = (sum(l[k] for l in levels[: last + 1]) for k in ("nodes", "nodes_cut"))
print(sys.argv[1], levels[last]["depth"], "%.3g %.3g %s" % (nodes, cut, "%.3g" % (nodes / cut) if cut else "inf"))' "$1"
}

both() { # NAME SIZES CUT SOURCE PINS
    [ "$1($2)" = "matmul(M=1024,N=1024,K=1024)" ] || return 0
    row direct "$direct" "$5" "$2" "$3"
    row reverse "$reverse" "$5" "$2" "$3"
}

{
    head_line "section 5.5, matmul 1024^3, $samples descents"
    echo "order depth nodes nodes_cut factor"
    each both
} | tee "$out/order.dat"
plot order <<PLOT
set style data histograms; set style fill solid; set ylabel 'factor that the cut divides the tree by'; set key off
set yrange [0:*]
plot '$out/order.dat' skip 2 using 5:xtic(1)
PLOT
