#!/bin/sh
# page.sh THRESH [SHOT.png]: the page of a running search in a real browser (headless Chromium; Debian: chromium, python3).
# Loads the page, checks that it has its curves, and that it follows the search without being loaded again; keyboard and
# screen readers are checked as far as a program can. Takes a screenshot.
set -e
thresh=$1
shot=${2:-build/page.png}
out=$(mktemp -d)
server=
search=
end() {
    [ -z "$server" ] || kill -INT "$server" 2>/dev/null || true
    [ -z "$search" ] || kill -INT "$search" 2>/dev/null || true
    wait
    rm -rf "$out"
}
trap end EXIT

tune() {
    "$thresh" tune experiments/kernels/matmul.lift --size M=64,N=64,K=64 --quiet --store "$out/page.db" --out "$out/best" "$@" \
        >/dev/null
}

tune --evaluations 20
"$thresh" serve "$out/page.db" --port 0 --quiet >"$out/url" &
server=$!
while ! [ -s "$out/url" ]; do sleep 0.1; done
tune --evaluations 60 --resume &
search=$!

# What has to be true. What a reader opens and focuses before the page changes is so afterwards. `live` is on the page only after the script has heard of the search's new evaluations.
live='Number(document.querySelector("#head dd:nth-of-type(1)") && [...document.querySelectorAll("#head div")]
    .find(d => d.firstChild.textContent === "Evaluations").lastChild.textContent) >= 60'
opened='(d => { d.open = true; d.firstChild.focus(); return true; })(document.getElementById("steps-1"))'
still='document.getElementById("steps-1").open && document.activeElement === document.querySelector("#steps-1 summary")'
studied='document.querySelector("#search-1 pre") && document.querySelector("svg.progress .bound")'
curves='[...document.querySelectorAll("#search-1 svg.progress")].every(s =>
    s.querySelector("path.best").getTotalLength() > 50 && s.querySelector("path.dots").getAttribute("d").length > 100 &&
    s.querySelector("path.best").getBoundingClientRect().width > 100)'
named='[...document.querySelectorAll("svg")].every(s => s.getAttribute("aria-hidden") ||
    (s.getAttribute("role") === "img" && document.getElementById(s.getAttribute("aria-labelledby").split(" ")[0]).textContent))'
said='document.getElementById("headline").getAttribute("aria-live") === "polite" &&
    document.getElementById("headline").textContent.includes("speedup")'

python3 tests/e2e/chromium.py "$(cat "$out/url")" --wait "$opened" --wait "$live" --wait "$studied" --screenshot "$shot" \
    'document.querySelectorAll("#search-1 svg.progress").length' "$curves" "$named" "$said" "$still" \
    'document.getElementById("link").textContent' 'performance.getEntriesByType("navigation").length' >"$out/said"
cat >"$out/expected" <<END
2
true
true
true
true
"Live."
1
END
diff "$out/expected" "$out/said"
echo "page: the curves are there; screenshot in $shot"
