#!/bin/sh
# install.sh BUILD: installs into an empty folder and checks what is there: headers with which a plug-in compiles,
# manual pages and completion without faults, documents that cite only what is installed. `make uninstall` leaves no
# file.
set -e
build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
dest=$root/usr
bin=$dest/bin/thresh
faults=0
fault() {
    echo "install: $*" >&2
    faults=$((faults + 1))
}
unset MAKEFLAGS MFLAGS
"${MAKE:-make}" -s O="$build" DESTDIR="$root" PREFIX=/usr install

# A plug-in, from the installed headers and example alone; a header that includes another one that is not there.
(cd "$root" && cc -std=c11 -Wall -Werror -shared -fPIC -I "$dest/include/thresh" \
    -o greedy.so "$dest/share/doc/thresh/experiments/heuristics/greedy.c" -lm) || fault "greedy.c does not compile"
"$bin" heuristics "$root/greedy.so" | grep -q '^greedy' || fault "greedy.so does not load"
for header in $(cd "$dest/include/thresh" && find . -name '*.h'); do
    (cd "$root" && cc -std=c11 -Wall -Werror -fsyntax-only -I "$dest/include/thresh" -x c "$dest/include/thresh/$header") ||
        fault "$header does not compile alone"
done

# A machine without OpenCL starts it.
if readelf -d "$bin" | grep OpenCL; then fault "$bin needs the OpenCL library to start"; fi

# The example of the documentation.
"$bin" space count "$dest/share/doc/thresh/experiments/spaces/transpose.space" > /dev/null || fault "no example space"

# A page for each command, as roff wants it, that cites pages that are there.
for command in "" $("$bin" help | sed -n 's/^  \([a-z][a-z-]*\)\(  *[A-Z].*\)*$/-\1/p'); do
    page=$dest/share/man/man1/thresh$command.1
    test -s "$page" || { fault "no page thresh$command.1"; continue; }
    for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES "SEE ALSO"; do
        grep -q "^\.SH $section" "$page" || fault "thresh$command.1 has no $section"
    done
    if command -v groff > /dev/null; then
        complaints=$(groff -man -ww -Tutf8 "$page" 2>&1 > /dev/null)
        test -z "$complaints" || fault "thresh$command.1: $complaints"
    fi
    for cited in $(sed -n 's/^\.BR \(thresh[-\\a-z]*\) (1).*/\1/p' "$page" | tr -d '\\'); do
        test -e "$dest/share/man/man1/$cited.1" || fault "thresh$command.1 cites $cited(1)"
    done
done

# The unit of an agent, with the installed program; its user is made by hand.
unit="$dest/lib/systemd/system/thresh-agent@.service"
grep -q '^ExecStart=/usr/bin/thresh agent ' "$unit" || fault "the unit does not start the installed program"
if command -v systemd-analyze > /dev/null; then
    sed "s|=/usr/bin/thresh|=$bin|; /^Documentation/d" "$unit" > "$root/thresh-agent@test.service"
    complaints=$(systemd-analyze verify "$root/thresh-agent@test.service" 2>&1 | grep -F thresh-agent || :)
    rm "$root/thresh-agent@test.service"
    test -z "$complaints" || fault "the unit: $complaints"
fi

# What the shells make of the completion.
bash -n "$dest/share/bash-completion/completions/thresh" || fault "bash does not read the completion"
if command -v zsh > /dev/null; then
    zsh -n "$dest/share/zsh/site-functions/_thresh" || fault "zsh does not read the completion"
fi
touch "$root/k.lift" "$root/r.db" "$root/x.npy"
complete() {
    (cd "$root" && bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _thresh
        echo "${COMPREPLY[*]}"' "$dest/share/bash-completion/completions/thresh" "$@")
}
expect() {
    wanted=$1
    shift
    got=$(complete "$@")
    case " $got " in *" $wanted "*) ;; *) fault "completing '$*' gives '$got', not '$wanted'" ;; esac
}
expect tune thresh tu
expect --evaluations thresh tune --ev
expect k.lift thresh tune k
expect chen thresh estimate --method c
expect chen thresh estimate --method = c
expect x.npy thresh tune --input x = x
expect x.npy thresh tune k.lift --input x =
expect r.db thresh tune --store ""
expect roundrobin thresh tune --heuristic round
expect characterize thresh device ch
expect zsh thresh completion z
expect replay thresh help re

# Documents: files and folders that they name are beside them, below them, headers, or said to be in the repository.
docs=$dest/share/doc/thresh
for page in $(cd "$docs" && find . -name '*.md'); do
    folder=$docs/$(dirname "$page")
    for cited in $(grep -v 'repository' "$docs/$page" | grep -o '`[A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*`' | tr -d '`'); do
        case $cited in ./* | build/* | share/*) continue ;; esac
        test -e "$docs/$cited" || test -e "$folder/$cited" || test -e "$dest/include/thresh/$cited" ||
            fault "$page cites $cited"
    done
done
if cited=$(grep -rnE '(design|search) page|shared/design' "$dest/share" "$dest/include"); then fault "$cited"; fi
if strings "$bin" | grep -E 'design page|search page|[A-Za-z]+/README\.md'; then fault "$bin cites a page"; fi

"${MAKE:-make}" -s O="$build" DESTDIR="$root" PREFIX=/usr uninstall
rm -f "$root/greedy.so" "$root/k.lift" "$root/r.db" "$root/x.npy"
left=$(find "$root" ! -type d)
test -z "$left" || fault "uninstall leaves $left"
test $faults = 0
echo "install: as it should be"
