#!/bin/sh
# ssh_machines.sh THRESH FOLDER: `thresh tune --launch ssh:` across two network namespaces that a veth pair joins: the
# coordinator in one, a real sshd with a host key of its own in the other, which gets the bundle and the key over ssh. In
# the middle of a second search the coordinator is killed: its agent leaves. Exit status 77: this needs root, ip(8) and
# sshd.
set -e
thresh=$1 folder=$2 a=thresh-c-$$ b=thresh-d-$$ server='' coordinator=''
sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || exit 77
[ "$(id -u)" = 0 ] && ip netns add "$a" 2>/dev/null || exit 77
trap 'kill $coordinator $server 2>/dev/null || :; ip netns del "$a"; ip netns del "$b" 2>/dev/null || :' EXIT
ip netns add "$b" && ip link add "vc$$" netns "$a" type veth peer name "vd$$" netns "$b" || exit 77
for side in "c $a 1" "d $b 2"; do
    # shellcheck disable=SC2086
    set -- $side
    ip -n "$2" addr add "10.78.0.$3/24" dev "v$1$$"
    ip -n "$2" link set "v$1$$" up
done

# sshd wants this folder of root even if no user is separated.
[ -d /run/sshd ] || mkdir -m 755 /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$folder/host_key"
ssh-keygen -q -t ed25519 -N '' -f "$folder/user_key"
cat >"$folder/sshd_config" <<EOF
ListenAddress 10.78.0.2:2222
HostKey $folder/host_key
AuthorizedKeysFile $folder/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
SetEnv XDG_CACHE_HOME=$folder/cache POCL_CACHE_DIR=$folder/pocl THRESH_LOCKS=${THRESH_LOCKS:-}
EOF
ip netns exec "$b" "$sshd" -D -f "$folder/sshd_config" -E "$folder/sshd.log" &
server=$!
echo "[10.78.0.2]:2222 $(cat "$folder/host_key.pub")" >"$folder/known_hosts"
cat >"$folder/ssh_config" <<EOF
Port 2222
User root
IdentityFile $folder/user_key
IdentitiesOnly yes
UserKnownHostsFile $folder/known_hosts
GlobalKnownHostsFile none
EOF
for _ in $(seq 100); do
    ip netns exec "$a" ssh -F "$folder/ssh_config" -o BatchMode=yes 10.78.0.2 true 2>"$folder/ssh.err" && break
    sleep 0.1
done

mkdir "$folder/bundle"
cp "$thresh" "$folder/bundle/thresh"
"$thresh" keys new "$folder/keys" >/dev/null
echo '10.78.0.2 agents=1 device=cpu # over the veth pair' >"$folder/hosts"
tune() {
    exec ip netns exec "$a" "$thresh" tune experiments/kernels/axpy.lift --size N=4096 --out "$folder/out" \
        --listen tcp://10.78.0.1:7000 --keys "$folder/keys" --launch "ssh:$folder/hosts,bundle=$folder/bundle,ssh=ssh -F $folder/ssh_config" "$@"
}
fail() {
    cat "$folder/tune.err" "$folder/sshd.log"
    echo "$*" && exit 1
}
agents() { ip netns pids "$b" | xargs -r -n1 -I{} cat "/proc/{}/comm" 2>/dev/null | grep -c '^thresh$' || :; }
(tune --evaluations 3) >"$folder/tune.out" 2>"$folder/tune.err" || fail "the search failed"
grep -q 'copied the bundle' "$folder/tune.err" || fail "the bundle was not copied"
grep -q speedup "$folder/tune.out" || fail "no result"
[ "$(agents)" = 0 ] || fail "an agent was left behind"

(tune --evaluations 100000 --store "$folder/s.db") >"$folder/tune.out" 2>"$folder/tune.err" &
coordinator=$!
for _ in $(seq 300); do
    grep -q connected "$folder/tune.err" && break
    sleep 0.1
done
grep -q connected "$folder/tune.err" || fail "no agent connected to the second search"
grep -q 'copied the bundle' "$folder/tune.err" && fail "the bundle was copied again"
[ "$(agents)" -ge 1 ] || fail "no agent runs beyond the connection"
kill -9 $coordinator
for _ in $(seq 300); do
    [ "$(agents)" = 0 ] && exit 0
    sleep 0.1
done
fail "the agent did not leave with its coordinator"
