#!/bin/sh
# Layout and header checks: clang-format decides layout, each header compiles alone, nothing unfinished by its own words.
# $1: the build folder, whose gen/ has the generated headers (default build).
gen=${1:-build}/gen
status=0
files=$(git ls-files '*.c' '*.h')
if ! bad=$(echo "$files" | xargs -n 40 -P "$(nproc)" clang-format --dry-run --Werror 2>&1); then
    echo "$bad" | grep 'error:' | head -20
    echo "lint: run: clang-format -i \$(git ls-files '*.c' '*.h')"
    status=1
fi
export gen flags="$(pkg-config --cflags msgpack libzmq sqlite3 jansson)"
git ls-files '*.h' | xargs -n 1 -P "$(nproc)" sh -c '
    gcc -std=c11 -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 -I. -I"$gen" -Wall -Wextra -Werror $flags \
        -fsyntax-only -x c "$0" || { echo "lint: $0 does not compile alone" && exit 1; }' || status=1
if git grep -nE '(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)' -- '*.c' '*.h' '*.space' '*.lift'; then
    echo "lint: unfinished by its own words"
    status=1
fi
[ $status = 0 ] && echo "lint: clean"
exit $status
