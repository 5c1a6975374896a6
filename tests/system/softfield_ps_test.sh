#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# softfield ps: what it shows of two processes, and of none. Usage: softfield_ps_test.sh SOFTFIELD PEER
set -u
softfield=$(realpath "$1") peer=$(realpath "$2")
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE SOFTFIELD_LOG XDG_RUNTIME_DIR
. "$(dirname "$0")/../support/expect.sh"
export SOFTFIELD_RUNTIME="$work/runtime" SOFTFIELD_FABRIC=shm
mkfifo "$work/server" "$work/client"

# await WHAT COMMAND...: until it succeeds.
await() {
	what=$1 tries=0
	shift
	until "$@" >/dev/null 2>&1 || [ "$tries" -ge 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	: >"$work/out" >"$work/err"
	check "$what" [ "$tries" -lt 600 ]
}

# shows EXPRESSION: of the processes p, by their program's state.
shows() {
	"$softfield" ps --json | python3 -c 'import json, sys; p = json.load(sys.stdin)["processes"]; assert eval(sys.argv[1])' "$1"
}

expect 'without a folder' 0 "$softfield" ps
out_has "^No process in the runtime folder $work/runtime runs a context"
expect 'without a folder, JSON' 0 "$softfield" ps --json
json_has 't == {"processes": []}'
expect 'an unknown option' 2 "$softfield" ps --all
err_has 'softfield ps: there is no option --all'
expect 'a wrong number of seconds' 2 "$softfield" ps --watch 0
err_has '--watch takes a number from 1 to 3600, not 0'

"$peer" server 'a name' <"$work/server" >"$work/server.out" &
server=$!
exec 3>"$work/server"
await 'the server starts' grep -q started "$work/server.out"
SOFTFIELD_NODE=host0 "$peer" client 'a name' <"$work/client" >"$work/client.out" 3>&- &
client=$!
exec 4>"$work/client"
await 'the client connects' grep -q connected "$work/client.out"
await 'both are shown with their connection' shows 'len(p) == 2 and all(c["connections"] for q in p for c in q["contexts"])'

expect 'two processes, JSON' 0 "$softfield" ps --json
json_has "sorted(q['pid'] for q in t['processes']) == sorted([$server, $client])"
json_has 'all(q["program"] == "status_peer" and len(q["engines"]) == 1 and q["left_out"] == 0 for q in t["processes"])'
json_has 'all(q["engines"][0]["calls"] > 0 and q["engines"][0]["last_call_ms"] < 60000 for q in t["processes"])'
json_has "[q.get('node') for q in sorted(t['processes'], key=lambda q: q['pid'] != $client)] == ['host0', None]"
json_has "{(q['pid'], c['kind'], c['name'], c['state']) for q in t['processes'] for c in q['contexts']} == \
{($server, 'comch server', 'a name', 'RUNNING'), ($client, 'comch client', 'a name', 'RUNNING')}"
json_has "{(q['pid'], k['peer'], k['program'], k['state']) for q in t['processes'] for c in q['contexts'] for k in c['connections']} == \
{($server, $client, 'status_peer', 'connected'), ($client, $server, 'status_peer', 'connected')}"
json_has 'all(c["in_flight"] == 0 and c["configured"] > 0 and c["device"].count("/") == 1 for q in t["processes"] for c in q["contexts"])'
expect 'two processes' 0 "$softfield" ps
out_has "^  $server +status_peer +$(id -un) +all +1 +1 +[0-9.]+ s"
out_has "^  $client +status_peer +$(id -un) +host0 +1 +1 +[0-9.]+ s"
out_has "^  $server +comch server +a name +dpu0/[^ ]+ +RUNNING +[0-9.]+ s +0 +0 of [0-9]+ +- +0 +(now|[0-9.]+ s)\$"
out_has "^  $client +comch client +a name +host0/[^ ]+ +RUNNING"
out_has "^  $client +comch client +a name +connected +[0-9.]+ s +$server +status_peer"

# Again and again, until its reader has seen two.
"$softfield" ps --json --watch 1 >"$work/watched" 2>&1 &
watch=$!
await 'ps --watch shows more than once' sh -c '[ "$(grep -c "^{.*}$" "$1")" -ge 2 ]' sh "$work/watched"
kill "$watch"

# A process that is killed leaves nothing; nor does one that ends.
kill -9 "$client"
wait "$client" 2>/dev/null
exec 4>&-
check 'the page of the killed one is still there' [ -e "$work/runtime/status.$client" ]
expect 'one process' 0 "$softfield" ps --json
json_has "[q['pid'] for q in t['processes']] == [$server]"
check 'its page is removed' [ ! -e "$work/runtime/status.$client" ]

# Pages that are none: of the dead they go, of the living they are left out.
echo nonsense >"$work/runtime/status.999999"
python3 - "$work/runtime/status.1" "$work/runtime/status.$server" "$work/hold" <<'END' &
import fcntl, sys, time
page = bytearray(open(sys.argv[2], 'rb').read())
page[44] = 255
with open(sys.argv[1], 'wb') as f:
    fcntl.lockf(f, fcntl.LOCK_EX)
    f.write(page)
    f.flush()
    open(sys.argv[3], 'w')
    time.sleep(60)
END
liar=$!
await 'a process with a page of its own making' [ -e "$work/hold" ]
expect 'strange pages' 0 "$softfield" ps --json
json_has "[q['pid'] for q in t['processes']] == [$server]"
check 'the dead one is removed' [ ! -e "$work/runtime/status.999999" ]
check 'the living one is not' [ -e "$work/runtime/status.1" ]
kill "$liar"

exec 3>&-
wait "$server"
check 'the server ends well' [ $? -eq 0 ]
check 'it leaves no page' [ ! -e "$work/runtime/status.$server" ]
expect 'nobody' 0 "$softfield" ps
out_has '^No process in the runtime folder'
check 'nor does anybody' sh -c '! ls "$1" | grep status' sh "$work/runtime"

echo "1..$number"
[ "$failed" -eq 0 ]
