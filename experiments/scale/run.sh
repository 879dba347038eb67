#!/bin/bash
# What one coordinator does with 1 to 4,000 simulated agents, as two tables.
#
#     make bench-scale                   into standard output; some four minutes
#     EVALUATIONS=300 experiments/scale/run.sh build
#
# First a hub alone, without a search: results a second, processor time, memory, and how long an agent waits
# for its next job. Then searches for a matrix product of 64^3: evaluations a second, drawing included.
set -eu
build=${1:-build}
evaluations=${EVALUATIONS:-1500}
ulimit -n 20000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for agents in 1 10 100 1000 4000; do
    echo "hub, $agents agents of 8 jobs, 1 ms each:"
    timeout 60 "$build/simulate" hub "$agents" 8 1 5 | sed 's/^/    /'
done

TIMEFORMAT='    %R s, processor time %U s and %S s in the system'
for agents in 1 10 100 1000; do
    echo "search, $agents agents of 2 jobs, 1 ms each, $evaluations evaluations:"
    (
        while [ ! -S "$folder/socket" ]; do sleep 0.1; done
        exec timeout 300 "$build/simulate" agents "ipc://$folder/socket" "$agents" 2 1
    ) | sed 's/^/    /' &
    time timeout 300 "$build/thresh" tune experiments/kernels/matmul.lift --size M=64,N=64,K=64 \
        --listen "ipc://$folder/socket" --evaluations "$evaluations" --no-bound --quiet \
        --store "$folder/$agents.db" -o "$folder/out" >"$folder/log" || cat "$folder/log"
    wait
    rm -f "$folder/socket"
done
