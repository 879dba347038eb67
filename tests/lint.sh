#!/bin/sh
# Layout and header checks: clang-format decides layout, each header compiles alone, nothing unfinished by its own words.
# $1: the build folder, whose gen/ has the generated headers (default build).
gen=${1:-build}/gen
status=0
files=$(git ls-files '*.c' '*.h')
if ! bad=$(clang-format --dry-run --Werror $files 2>&1); then
    echo "$bad" | grep 'error:' | head -20
    echo "lint: run: clang-format -i \$(git ls-files '*.c' '*.h')"
    status=1
fi
for h in $(git ls-files '*.h'); do
    if ! gcc -std=c11 -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 -I. -I"$gen" -Wall -Wextra -Werror \
        $(pkg-config --cflags msgpack libzmq sqlite3 jansson) -fsyntax-only -x c "$h"; then
        echo "lint: $h does not compile alone"
        status=1
    fi
done
if git grep -nE '(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)' -- '*.c' '*.h' '*.space' '*.lift'; then
    echo "lint: unfinished by its own words"
    status=1
fi
[ $status = 0 ] && echo "lint: clean"
exit $status
