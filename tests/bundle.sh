#!/bin/sh
# bundle.sh BUILD DIR: copies thresh, the shared libraries it needs, but for libc's own, and its manual pages,
# completion, kernels and examples to DIR. The OpenCL library is not among those that ldd names, since thresh loads it
# when a device is asked for; the one that this machine's linker would find is copied, too.
set -e
rm -rf "$2"
mkdir -p "$2"
cp "$1/thresh" "$2/"
ldd "$1/thresh" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$2/"
opencl=$(/sbin/ldconfig -p | awk '$1 == "libOpenCL.so.1" && /x86-64/ { print $NF; exit }')
if [ -n "$opencl" ]; then
    cp -L "$opencl" "$2/libOpenCL.so.1"
else
    echo "bundle: no libOpenCL.so.1 here: machines that measure need their own (on Debian: ocl-icd-libopencl1)" >&2
fi
cp -r "$1/share" experiments/kernels experiments/spaces experiments/heuristics perfmodel/devices "$2/"
echo "bundle: $2 (run with LD_LIBRARY_PATH=$2 $2/thresh)"
