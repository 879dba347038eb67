#!/bin/sh
# Another user's program: it reads the decisions as one JSON object from standard input and answers with JSON. It computes
# a made-up cost instead of running something, so a search over it takes a moment.
input=$(cat)
value() { printf '%s' "$input" | sed -n "s/.*\"$1\":\"\{0,1\}\([A-Z0-9]*\).*/\1/p"; }
rows=$(value tile_rows) columns=$(value tile_columns) unroll=$(value unroll)
[ "$(value order)" = WRITE ] && penalty=0 || penalty=500
[ $((rows * columns)) -le 2048 ] || { echo '{"error": "this device has no room for such a tile"}'; exit 0; }
echo "{\"time_ns\": $((10000 / rows + 8000 / columns + 100 * rows * columns / 64 + 1000 / unroll + penalty))}"
