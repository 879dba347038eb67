#!/bin/sh
# run.sh [THRESH [EVALUATIONS]]: tunes a matrix product for two sizes, exports the best kernels as a C header, and
# compiles and runs matmul.c with it, for both sizes and for one that was not tuned.
set -e
thresh=${1:-build/thresh}
here=$(dirname "$0")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for size in M=64,N=64,K=64 M=128,N=64,K=32; do
    "$thresh" tune "$here/../kernels/matmul.lift" --size $size --evaluations "${2:-30}" --store "$out/mm.db" \
        --out "$out/best" --quiet > /dev/null 2>&1
done
"$thresh" export "$out/mm.db" --out "$out/best.h"
${CC:-cc} -std=c99 -Wall -Wextra -Wconversion -Werror -O2 -I"$out" "$here/matmul.c" -lOpenCL -lm -o "$out/matmul"
"$out/matmul" 64 64 64
"$out/matmul" 128 64 32
"$out/matmul" 256 64 32 || test $? = 3
