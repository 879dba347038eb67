#!/bin/bash
# Runs the tests; failed assertions and tests stand again just before Criterion's summary.
#
#     tests/run.sh build/thresh-tests --timeout 300 -j2
#
# Criterion reports a failure when the test ends, minutes of output before its summary.
set -u -o pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log" | grep --line-buffered -v '^\[====\] Synthesis'
status=${PIPESTATUS[0]}
if [ "$status" != 0 ]; then
    echo "failed:"
    grep '^\[\(----\|FAIL\|CRASH\|ERR\) *\]' "$log" || tail -n 40 "$log"
fi
grep '^\[====\] Synthesis' "$log"
exit "$status"
