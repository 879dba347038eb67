#!/bin/sh
# run.sh FOLDER SECONDS: fuzzes the two parsers for SECONDS each, from the seeds in git and from what earlier runs found
# (FOLDER/space, FOLDER/lift). A text that crashes, hangs or takes too much memory is left in FOLDER; exit status 1 then.
# Put it, made small, into tests/fuzz/space or tests/fuzz/lift when it is mended: each run starts with those.
folder=$1 seconds=$2 here=$(dirname "$0") status=0
run() {
    mkdir -p "$folder/$1"
    echo "fuzzing the .$1 parser for $seconds s"
    UBSAN_OPTIONS=print_stacktrace=1 "$folder/fuzz_$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=4096 -use_value_profile=1 -verbosity=0 -print_final_stats=1 -dict="$here/$1.dict" \
        -artifact_prefix="$folder/$1-" "$folder/$1" "$here/$1" "$2" </dev/null 2>"$folder/$1.log" || status=1
    grep -E 'number_of_executed_units|ERROR|SUMMARY|Test unit written' "$folder/$1.log"
}
run space spacedsl/spaces
run lift experiments/kernels
[ $status = 0 ] && echo "fuzz: no crash, no hang"
exit $status
