# Shared by the scripts of this folder: paths, kernels, plots.
here=$(dirname "$0")
kernels=$here/../kernels
description=${DESCRIPTION:-$here/../../perfmodel/devices/nvidia-h200.json}
samples=${SAMPLES:-1000}
out=${OUT:-.}
mkdir -p "$out"

field() { python3 -c 'import json,sys; j=json.load(sys.stdin); print(eval(sys.argv[1], {"j": j}))' "$1"; }

# each COMMAND...: runs "COMMAND name sizes cut source pins order" for every kernel of kernels.txt
each() {
    grep -v '^#' "$here/kernels.txt" | while read -r name sizes cut source pins order; do
        "$@" "$name" "$sizes" "$cut" "$source" "$pins" "$order" </dev/null
    done
}

# with_pins PINS COMMAND...: adds --pin for each of the pins
with_pins() {
    pins=$1
    shift
    while [ -n "$pins" ]; do
        set -- "$@" --pin "${pins%%;*}"
        case $pins in *\;*) pins=${pins#*;} ;; *) pins= ;; esac
    done
    "$@"
}

# plot NAME: gnuplot commands from standard input, with the output set
plot() {
    command -v gnuplot >/dev/null || { cat >/dev/null; echo "# no gnuplot: $1.svg is not drawn" >&2; return; }
    { echo "set terminal svg size 800,500; set output '$out/$1.svg'"; cat; } | gnuplot
}

head_line() { echo "# $(date -u +%F) $1, $(basename "$description")"; }
