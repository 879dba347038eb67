#!/bin/sh
# two_machines.sh THRESH FOLDER: a search across two network namespaces that a veth pair joins: the coordinator in
# one, an agent with a key in the other, and one whose key is not admitted. Exit status 77: this needs root and ip(8).
coordinator=''
thresh=$1 folder=$2 a=thresh-a-$$ b=thresh-b-$$
[ "$(id -u)" = 0 ] && ip netns add "$a" 2>/dev/null || exit 77
trap 'kill $coordinator 2>/dev/null || :; ip netns del "$a"; ip netns del "$b" 2>/dev/null || :' EXIT
ip netns add "$b" && ip link add "va$$" netns "$a" type veth peer name "vb$$" netns "$b" || exit 77
set -e
for side in "a $a 1" "b $b 2"; do
    # shellcheck disable=SC2086
    set -- $side
    ip -n "$2" addr add "10.77.0.$3/24" dev "v$1$$"
    ip -n "$2" link set "v$1$$" up
done
"$thresh" keys new "$folder/keys" --agent node >/dev/null
"$thresh" keys new "$folder/stranger" >/dev/null
"$thresh" keys new "$folder/keys" --agent revoked >/dev/null
rm "$folder/keys/agents/revoked.key"
ip netns exec "$a" "$thresh" tune experiments/kernels/axpy.lift --size N=4096 --evaluations 3 --out "$folder/out" \
    --listen tcp://10.77.0.1:7000 --keys "$folder/keys" >"$folder/tune.out" 2>"$folder/tune.err" &
coordinator=$!
refused() {
    if ip netns exec "$b" "$thresh" agent --connect tcp://10.77.0.1:7000 "$@" --quiet 2>"$folder/agent.err"; then
        echo "not refused: $*" && exit 1
    fi
}
refused --key "$folder/keys/agents/revoked.key_secret"
grep -q 'does not admit' "$folder/agent.err"
refused --key "$folder/stranger/agents/agent.key_secret"
refused
ip netns exec "$b" "$thresh" agent --connect tcp://10.77.0.1:7000 --key "$folder/keys/agents/node.key_secret" --quiet
wait $coordinator || { cat "$folder/tune.err" && exit 1; }
grep -q 'refused 10.77.0.2: its key .* is not admitted' "$folder/tune.err"
grep -q 'refused 10.77.0.2:[0-9]*: what it sent is not encrypted' "$folder/tune.err"
grep -q 'refused 10.77.0.2:[0-9]*: it .* no key' "$folder/tune.err"
grep speedup "$folder/tune.out"
