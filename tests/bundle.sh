#!/bin/sh
# bundle.sh BUILD DIR: copies thresh, the shared libraries it needs, but for libc's own, and its manual pages,
# completion, kernels and examples to DIR.
set -e
rm -rf "$2"
mkdir -p "$2"
cp "$1/thresh" "$2/"
ldd "$1/thresh" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$2/"
cp -r "$1/share" experiments/kernels experiments/spaces experiments/heuristics perfmodel/devices "$2/"
echo "bundle: $2 (run with LD_LIBRARY_PATH=$2 $2/thresh)"
