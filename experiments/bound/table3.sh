#!/bin/sh
# table3.sh THRESH: nodes at depth 10 and implementations, with and without the cut.
set -e
thresh=$1
. "$(dirname "$0")/common.sh"
depth=${DEPTH:-10}

# log10 of the implementations, with an optional cut
leaves() {
    pins=$1
    shift
    with_pins "$pins" "$thresh" estimate "$@" --samples "$samples" --json --quiet | field '"%.1f" % j["log10"] if j["log10"] is not None else "none"'
}

row() { # NAME SIZES CUT PINS ORDER TREE
    name=$1 sizes=$2 cut=$3 pins=$4 order=${ORDER:-$5} tree=$6
    set -- "$kernels/$name.lift" --size "$sizes" --description "$description" --order "$order"
    nodes=$(with_pins "$pins" "$thresh" levels "$@" --cut "$cut" --depth "$depth" --samples "$samples" --json --quiet |
        field '"%.3g %.3g %.1f" % (lambda x: (x["nodes"], x["nodes_cut"], 100 * x["share"]))(j["levels"][-1])')
    echo "$name($sizes)" "$tree" "$cut" $nodes "$(leaves "$pins" "$@")" "$(leaves "$pins" "$@" --cut "$cut" --depth "$depth")"
}

both() { # NAME SIZES CUT SOURCE PINS ORDER
    row "$1" "$2" "$3" "" "$6" all-levels
    row "$1" "$2" "$3" "$5" "$6" paper-levels
}

{
    head_line "table 3, depth $depth, $samples descents, order ${ORDER:-of kernels.txt}"
    echo "kernel tree cut_ns nodes nodes_cut percent log10_leaves log10_leaves_cut"
    each both
} | tee "$out/table3.dat"
plot table3 <<PLOT
set style data histograms; set style fill solid; set ylabel 'nodes at depth $depth left by the cut, %'
set xtics rotate by -20; set key off; set yrange [0:100]
plot '$out/table3.dat' skip 2 using 6:xtic(stringcolumn(1).' '.stringcolumn(2))
PLOT
