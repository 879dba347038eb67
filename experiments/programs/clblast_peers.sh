#!/bin/sh
# clblast_peers.sh PEER...: CLBlast's times of products and convolutions, a line each, as torch_peers.py prints them.
#
#     experiments/programs/clblast_peers.sh matmul:512,512,512 conv:1,64,128,112
#     {"peer": "matmul:512,512,512", "ns": 12345678}
#
# Builds experiments/peers/clblast.c (package libclblast-dev). Environment: DEVICE (part of the device's name).
set -e
here=$(dirname "$0")/../peers
program=$(mktemp)
trap 'rm -f "$program"' EXIT
cc -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 -o "$program" "$here/peer.c" "$here/clblast.c" \
    -lclblast -lOpenCL
for peer; do
    sizes=$(echo "${peer#*:}" | tr , ' ')
    case $peer in
    matmul:*) ns=$("$program" $sizes "$DEVICE") ;;
    conv:1,*) # batch, channels, kernels, size
        set -- $sizes
        ns=$("$program" conv "$3" "$4" "$2" "$DEVICE")
        ;;
    *)
        echo "clblast_peers.sh: no such peer: $peer" >&2
        exit 2
        ;;
    esac
    echo "{\"peer\": \"$peer\", \"ns\": $ns}"
done
