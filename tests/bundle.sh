#!/bin/sh
# bundle.sh BINARY DIR: copies the binary and the shared libraries it needs, but for libc's own, to DIR.
set -e
rm -rf "$2"
mkdir -p "$2"
cp "$1" "$2/"
ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$2/"
cp -r experiments/kernels perfmodel/devices "$2/"
echo "bundle: $2 (run with LD_LIBRARY_PATH=$2 $2/thresh)"
