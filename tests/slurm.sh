#!/bin/bash
# slurm.sh THRESH [EVALUATIONS]: a search over a Slurm cluster of four nodes on this machine, whose agents the launcher
# `slurm` starts. In the middle one node is killed with all that runs on it, and then the coordinator; the search goes on
# with --resume. At the end every evaluation is in the store once, and those from before are as they were.
#
# The cluster is slurmctld, four slurmd and munged, with all files in a folder of its own and ports of loopback. It does
# not touch a Slurm that is installed. Needs root, since slurmd does; packages slurm-wlm, munge, sqlite3, pocl-opencl-icd.
set -eu
thresh=$(realpath "$1")
evaluations=${2:-160}
kernel=$(realpath experiments/kernels/matmul.lift)
nodes=4
folder=$(mktemp -d /tmp/thresh-slurm-XXXXXX)
chmod 755 "$folder"
export SLURM_CONF=$folder/slurm.conf
export PATH=$PATH:/usr/sbin
pids=()
base=$((20000 + $$ % 10000))
port=$((base + 10))

# Processes of a node: those whose environment names it, and the slurmstepd above them.
node_processes() {
    for environ in /proc/[0-9]*/environ; do
        [ -r "$environ" ] || continue
        pid=${environ#/proc/}
        pid=${pid%/environ}
        names=$(tr '\0' '\n' 2>/dev/null <"$environ" | grep -cx -e "SLURMD_NODENAME=$1" -e "SLURM_CLUSTER_NAME=thresh$$") || continue
        [ "$names" = 2 ] || continue
        echo "$pid"
        parent=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status" 2>/dev/null) || continue
        ! grep -q slurmstepd "/proc/$parent/comm" 2>/dev/null || echo "$parent"
    done 2>/dev/null | sort -un
}

finish() {
    status=$?
    set +e
    for i in $(seq 1 $nodes); do
        # shellcheck disable=SC2046
        kill -9 $(node_processes "n$i") 2>/dev/null
    done
    kill -9 "${pids[@]}" 2>/dev/null
    wait 2>/dev/null
    if [ $status != 0 ]; then
        tail -n 20 "$folder"/*.log "$folder/jobs"/*.err 2>/dev/null
        echo "slurm: failed; files are in $folder"
    else
        rm -rf "$folder"
    fi
    exit $status
}
trap finish EXIT
trap 'exit 1' INT TERM

# Waits until a command succeeds: WHAT SECONDS COMMAND...
await() {
    local what=$1 end=$((SECONDS + $2))
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || { echo "slurm: $what: not within the time" && exit 1; }
        sleep 0.2
    done
}

# ---- the cluster ----

mkdir -m 755 "$folder/spool" "$folder/state" "$folder/jobs"
mkdir -m 700 "$folder/munge"
dd if=/dev/urandom of="$folder/munge/key" bs=1 count=128 2>/dev/null
chmod 400 "$folder/munge/key"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge.socket" --num-threads=2 \
    --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" --log-file="$folder/munge/log" >"$folder/munged.log" 2>&1 &
pids+=($!)

cat >"$SLURM_CONF" <<EOF
ClusterName=thresh$$
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
CredType=cred/munge
SlurmctldPort=$base
SlurmdSpoolDir=$folder/spool/%n
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdTimeout=3
MessageTimeout=2
KillWait=5
$(for i in $(seq 1 $nodes); do
    echo "NodeName=n$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((base + i)) CPUs=1 State=UNKNOWN"
done)
PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=60 State=UP
EOF
# Slurm marks processes by these; a session of another job must not be taken for ours.
for name in $(compgen -e | grep '^SLURM' | grep -v '^SLURM_CONF$'); do unset "$name"; done

start_node() {
    mkdir -p "$folder/spool/n$1"
    slurmd -D -N "n$1" -f "$SLURM_CONF" >"$folder/slurmd-n$1.log" 2>&1 &
    slurmd[$1]=$!
    pids+=($!)
}
await munged 20 test -S "$folder/munge.socket"
slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.log" 2>&1 &
pids+=($!)
slurmd=()
for i in $(seq 1 $nodes); do start_node "$i"; done
idle() { [ "$(sinfo --noheader --Node --format=%T 2>/dev/null | grep -c '^idle$')" = "$1" ]; }
await "nodes are up" 60 idle $nodes
echo "slurm: $nodes nodes are up"

# ---- the search ----

cd "$folder/jobs"
"$thresh" keys new keys >/dev/null
search() {
    "$thresh" tune "$kernel" --size M=64,N=64,K=64 --evaluations "$evaluations" --store s.db --out out \
        --listen "tcp://127.0.0.1:$port" --keys keys --json "$@" \
        --launch "slurm:$nodes,address=127.0.0.1,partition=main,time=30m,option=--exclusive"
}
# Numbers above 0 are candidates of the search. Texts that repeat an earlier one, or are too long, are rows but no
# evaluations.
counted="number > 0 and status not in ('duplicate', 'oversized')"
rows() {
    local n
    n=$(sqlite3 -cmd '.timeout 5000' s.db "select count(*) from evaluation where $counted" 2>/dev/null) || n=0
    echo "${n:-0}"
}
has_rows() { [ "$(rows)" -ge "$1" ]; }
connected() { [ "$(sqlite3 -cmd '.timeout 5000' s.db 'select count(distinct agent) from evaluation where number > 0 and agent > 0' 2>/dev/null || echo 0)" -ge "$1" ]; }
begun=$SECONDS
# The subshell is replaced, so that its number is the coordinator's.
(
    eval "$(declare -f search | sed 's/"\$thresh" tune/exec "$thresh" tune/')"
    search >tune1.out 2>tune1.err
) &
coordinator=$!
pids+=($!)
await "a quarter of the evaluations, by all agents" 200 eval 'has_rows $((evaluations / 4)) && connected $nodes'
echo "slurm: $(rows) evaluations by $nodes agents after $((SECONDS - begun)) s; killing node n2"

mapfile -t victims < <(node_processes n2)
[ ${#victims[@]} -ge 2 ] || { echo "slurm: nothing runs on n2" && exit 1; }
kill -9 "${slurmd[2]}" "${victims[@]}"
before=$(rows)
await "evaluations without the node" 120 has_rows $((evaluations / 2))
kill -0 $coordinator || { echo "slurm: the coordinator ended with the node" && exit 1; }
kill -9 $coordinator
wait $coordinator 2>/dev/null || :
dump="select number, actions, status, median_ns, samples, agent from evaluation order by number"
sqlite3 s.db "$dump" >before.txt
left=$(rows)
echo "slurm: $before evaluations when n2 was killed (${#victims[@]} processes); $left when the coordinator was killed after $((SECONDS - begun)) s"
[ "$left" -lt "$evaluations" ] || { echo "slurm: the search was over already; try more evaluations" && exit 1; }
down() { sinfo --noheader --Node --nodes=n2 --format=%T | grep -q down; }
await "Slurm sees that the node is gone" 60 down
echo "slurm: Slurm takes n2 for down after $((SECONDS - begun)) s; resuming"
start_node 2 # as a machine that was restarted
search --resume >tune2.out 2>tune2.err || { echo "slurm: the resumed search failed" && exit 1; }
echo "slurm: resumed at $left evaluations, complete after $((SECONDS - begun)) s"

# ---- what must be so ----

fail() { echo "slurm: $*" && exit 1; }
[ "$(rows)" = "$evaluations" ] || fail "$(rows) evaluations instead of $evaluations"
grep -q "\"evaluations\": *$evaluations\b" tune2.out || fail "the report has another number of evaluations"
[ "$(sqlite3 s.db 'select count(*) - count(distinct number) from evaluation')" = 0 ] || fail "a number is there twice"
[ "$(sqlite3 s.db "select count(*) - count(distinct kernel_hash) from evaluation where $counted")" = 0 ] ||
    fail "a kernel was measured twice"
sqlite3 s.db "$dump" >after.txt
[ "$(comm -23 <(sort before.txt) <(sort after.txt) | wc -l)" = 0 ] || fail "evaluations from before the restart are gone or changed"
sqlite3 -separator ' ' s.db "select status, count(*) from evaluation where number > 0 group by status" | sed 's/^/slurm: status /'
echo "slurm: agents that evaluated: $(sqlite3 s.db 'select count(distinct agent) from evaluation where number > 0 and agent > 0')"
gone() { ! squeue --noheader | grep -q .; }
await "the queue is empty" 60 gone
grep -h ^launcher tune1.err tune2.err | sed 's/^/slurm: /'
echo "slurm: as it should be"
