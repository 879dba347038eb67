#!/bin/sh
# page.sh THRESH BUILD [EVALUATIONS]: how long the page of a large store takes in headless Chromium (Debian: chromium,
# python3, curl).
# BUILD is the build folder of THRESH. The store has one search of a matrix product with EVALUATIONS rows (default 100000).
# Prints the time in which `thresh serve` has read the store, and of five loads: bytes of the page, and ms from the start of
# the navigation to its last byte, to the first content on the screen, and to the load event; the first load is with the
# browser's start.
set -e
thresh=$1
build=$2
n=${3:-100000}
out=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill -INT "$server" 2>/dev/null || true
    wait
    rm -rf "$out"
}
trap end EXIT
now() {
    date +%s%N
}

objects=$(find "$build/rel" -name '*.o' ! -name main.o ! -name spacec_main.o)
# shellcheck disable=SC2086,SC2046
gcc -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -I. -o "$out/make_store" experiments/scale/make_store.c $objects \
    $(pkg-config --libs msgpack libzmq libczmq sqlite3 jansson libmicrohttpd) -rdynamic -ldl -lpthread -lm
"$thresh" tune experiments/kernels/matmul.lift --size M=64,N=64,K=64 --evaluations 200 --quiet --store "$out/small.db" \
    --out "$out/best" >/dev/null
"$out/make_store" "$out/small.db" "$out/large.db" "$n"
echo "store: $n evaluations, $(stat -c %s "$out/large.db") bytes"

began=$(now)
"$thresh" serve "$out/large.db" --port 0 --quiet >"$out/url" &
server=$!
while ! [ -s "$out/url" ]; do sleep 0.01; done
echo "serve: listens after $((($(now) - began) / 1000000)) ms"
echo "five loads while the study of the search is being made, and five after it:"
python3 tests/e2e/chromium.py "$(cat "$out/url")" --loads 5
while ! curl -s "$(cat "$out/url")" | grep -q '<pre'; do sleep 0.1; done
echo "study: on the page $((($(now) - began) / 1000000)) ms after the start"
python3 tests/e2e/chromium.py "$(cat "$out/url")" --loads 5 --screenshot "${SHOT:-$out/page.png}" \
    'document.querySelectorAll("svg.progress path.best").length'
