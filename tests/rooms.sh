#!/bin/sh
# The shape of the house: who may include whom, and how long a file may be.
#
# The rooms are listed below, lowest first. A file includes headers of its own room and of rooms above it in the
# list, never of one below: mcts/tree.c may include core/space/space.h, core/space/space.h may not include mcts/tree.h.
# Headers may not include each other in a circle. A header has at most 300 lines. A source file has at most 500;
# one that has more says why in its first 25 lines, after the words "Over 500 lines:".
rooms='core/base core/codec core/keys core/space core/space/data core/space/formula core/space/ground core/space/engine
core/space/names core/space/count core/lift core/backbone core/codegen core/pipeline spacedsl mcts perfmodel agent
coordinator coordinator/sequence coordinator/report coordinator/web coordinator/launch coordinator/campaign coordinator/cli'
files=$(git ls-files 'core/*.[ch]' 'spacedsl/*.[ch]' 'mcts/*.[ch]' 'perfmodel/*.[ch]' 'agent/*.[ch]' 'coordinator/*.[ch]')
status=0

# "FILE INCLUDED" of every include of a file of the project, generated ones aside.
includes() {
    grep -H '^#include "' $files | sed 's/:#include "/ /; s/".*//' | grep '/.* .*/'
}

upward=$(includes | awk -v rooms="$rooms" '
    BEGIN { n = split(rooms, room) }
    function rank(file,    i, best) {
        for (i = 1; i <= n; i++)
            if (index(file, room[i] "/") == 1 && (!best || length(room[i]) > length(room[best]))) best = i
        return best
    }
    rank($1) < rank($2) || !rank($1) || !rank($2) { print "rooms: " $1 " includes " $2 }')
if [ -n "$upward" ]; then
    echo "$upward"
    echo "rooms: a room may include only those before it in the list of tests/rooms.sh"
    status=1
fi

if ! circle=$(includes | awk '$1 ~ /\.h$/' | tsort 2>&1 >/dev/null); then
    echo "$circle" | sed 's/^tsort: /rooms: circle of headers: /'
    status=1
fi

for f in $files; do
    lines=$(wc -l <"$f")
    case $f in
    *.h)
        [ "$lines" -le 300 ] || { echo "rooms: $f has $lines lines, a header at most 300" && status=1; }
        ;;
    *)
        if [ "$lines" -gt 500 ] && ! head -n 25 "$f" | grep -q 'Over 500 lines:'; then
            echo "rooms: $f has $lines lines; over 500 its head says why ('Over 500 lines: ...')"
            status=1
        fi
        ;;
    esac
done
[ $status = 0 ] && echo "rooms: clean"
exit $status
