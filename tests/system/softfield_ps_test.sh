#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# softfield ps: what it shows of two processes, and of none. Usage: softfield_ps_test.sh SOFTFIELD PEER
set -u
softfield=$(realpath "$1") peer=$(realpath "$2")
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE SOFTFIELD_LOG XDG_RUNTIME_DIR
. "$(dirname "$0")/../support/expect.sh"
export SOFTFIELD_RUNTIME="$work/runtime" SOFTFIELD_FABRIC=shm
mkfifo "$work/server" "$work/client"

# shows EXPRESSION: true if the expression holds for p, the processes in ps's JSON.
shows() {
	"$softfield" ps --json | python3 -c 'import json, sys; p = json.load(sys.stdin)["processes"]; assert eval(sys.argv[1])' "$1"
}

# Compares the members of the last JSON with docs/status.md.
check_members() {
	cp "$work/out" "$work/members.json"
	check 'docs/status.md tells of each member' python3 -c 'import re, sys
members, text = set(re.findall(r"\"(\w+)\":", open(sys.argv[1]).read())), open(sys.argv[2]).read()
sys.exit(", ".join(m for m in sorted(members - {"processes"}) if f"`{m}`" not in text) or None)' "$work/members.json" "$(dirname "$0")/../../docs/status.md"
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
await 'the server starts' await_line "$server" "$work/server.out" started
SOFTFIELD_NODE=host0 "$peer" client 'a name' <"$work/client" >"$work/client.out" 3>&- &
client=$!
exec 4>"$work/client"
await 'the client connects' await_line "$client" "$work/client.out" connected
await 'both are shown with their connection' wait_until shows 'len(p) == 2 and all(c["connections"] for q in p for c in q["contexts"])'

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
json_has 'all(set(c) >= {"kind", "state", "age_ms", "in_flight", "allocated", "configured"} for q in t["processes"] for c in q["contexts"])'
check_members
expect 'two processes' 0 "$softfield" ps
out_has "^  $server +status_peer +$(id -un) +all +1 +1 +[0-9.]+ (s|min)"
out_has "^  $client +status_peer +$(id -un) +host0 +1 +1 +[0-9.]+ (s|min)"
out_has "^  $server +comch server +a name +dpu0/[^ ]+ +RUNNING +[0-9.]+ (s|min) +0 +- +0 of [0-9]+ +- +0 +(now|[0-9.]+ (s|min))\$"
out_has "^  $client +comch client +a name +host0/[^ ]+ +RUNNING"
out_has "^  $client +comch client +a name +connected +[0-9.]+ (s|min) +$server +status_peer"

# Repeats until the reader has seen two reports.
"$softfield" ps --json --watch 1 >"$work/watched" 2>&1 &
watch=$!
await 'ps --watch repeats its report' wait_until sh -c '[ "$(grep -c "^{.*}$" "$1")" -ge 2 ]' sh "$work/watched"
kill "$watch"
wait "$watch" 2>/dev/null # else it may remove the page below

# The server's callback sleeps: its call does not return.
kill -USR2 "$client"
await 'a call that does not return' wait_until shows "any(q['pid'] == $server and q['engines'][0].get('inside_ms', 0) > 0 for q in p)"
expect 'a callback that sleeps' 0 "$softfield" ps
out_has "^  $server +comch server +a name .* inside, [0-9.]+ (s|min)\$"
out_has "^  $client +comch client +a name .* (now|[0-9.]+ (s|min))\$"
expect 'a callback that sleeps, JSON' 0 "$softfield" ps --json
json_has "[q['pid'] for q in t['processes'] if 'inside_ms' in q['engines'][0]] == [$server]"
check_members

# The page of a killed process is removed by the next ps; a process that exits removes its own.
kill -9 "$client"
wait "$client" 2>/dev/null
exec 4>&-
check 'the page of the killed process is still there' [ -e "$work/runtime/status.$client" ]
expect 'one process' 0 "$softfield" ps --json
json_has "[q['pid'] for q in t['processes']] == [$server]"
check 'its page is removed' [ ! -e "$work/runtime/status.$client" ]

# Invalid pages: those of dead processes are removed, those of running ones are left out.
echo nonsense >"$work/runtime/status.999999"
python3 - "$work/runtime/status.1" "$work/runtime/status.$server" >"$work/hold" <<'END' &
import fcntl, signal, sys
page = bytearray(open(sys.argv[2], 'rb').read())
page[44] = 255
with open(sys.argv[1], 'wb') as f:
    fcntl.lockf(f, fcntl.LOCK_EX)
    f.write(page)
    f.flush()
    print('held', flush=True)
    signal.pause()
END
liar=$!
await 'a process that writes an invalid page' await_line "$liar" "$work/hold" held
expect 'strange pages' 0 "$softfield" ps --json
json_has "[q['pid'] for q in t['processes']] == [$server]"
check 'the page of the dead process is removed' [ ! -e "$work/runtime/status.999999" ]
check 'the page of the running process is kept' [ -e "$work/runtime/status.1" ]
kill "$liar"

exec 3>&-
wait "$server"
check 'the server ends well' [ $? -eq 0 ]
check 'it leaves no page' [ ! -e "$work/runtime/status.$server" ]
expect 'nobody' 0 "$softfield" ps
out_has '^No process in the runtime folder'
check 'no process leaves a page' sh -c '! ls "$1" | grep status' sh "$work/runtime"

echo "1..$number"
[ "$failed" -eq 0 ]
