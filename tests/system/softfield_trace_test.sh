#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# softfield trace, and what SOFTFIELD_TRACE keeps: of a run, a process that is killed, a stall, and processes that are asked for it.
# Usage: softfield_trace_test.sh SOFTFIELD PEER PROTOC [LIBRARY]: LIBRARY has probes
set -u
softfield=$(realpath "$1") peer=$(realpath "$2") protoc=$3 library=${4:-}
if ! [ -x "$protoc" ]; then
	echo '1..0 # SKIP protoc, which reads timelines here, is not installed'
	exit 0
fi
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE SOFTFIELD_LOG SOFTFIELD_TRACE XDG_RUNTIME_DIR
perfetto=$(dirname "$(realpath "$0")")/perfetto.py
. "$(dirname "$0")/../support/expect.sh"
export SOFTFIELD_RUNTIME="$work/runtime" SOFTFIELD_FABRIC=shm

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

# runs NUM: so many processes are to be seen.
runs() {
	[ "$("$softfield" ps --json | grep -c own_pid)" = "$1" ]
}

# shown WHAT FILE: what Perfetto would show of it, for json_has.
shown() {
	expect "$1" 0 python3 "$perfetto" "$protoc" "$2"
}

# Two processes and their messages. Each has a flow, from the submit by the peer's delivery to both ends.
expect 'a run of two processes' 0 env SOFTFIELD_TRACE="$work/run" "$softfield" rdma bench --op send --test latency --sizes 64 --count 100
expect 'their timelines are put together' 0 "$softfield" trace --convert "$work"/run.* -o "$work/run.pftrace"
out_has 'run.pftrace: 2 processes, [4-9] threads, [0-9]+ events in [0-9.]+ s$'
shown 'it can be read' "$work/run.pftrace"
json_has 'len(t["processes"]) == 2 and t["threads"].count("softfield-agent") == 2'
json_has 'all(t["names"][n] == t["names"]["BEGIN rdma send"] >= 200 for n in ("BEGIN callback: rdma send", "INSTANT send", "BEGIN deliver: send")) and all(t["names"].get(n) for n in ("BEGIN rdma: RUNNING", "BEGIN rdma: IDLE", "BEGIN connect", "BEGIN callback: rdma receive"))'
json_has 'len(t["flows"]) >= t["names"]["BEGIN rdma send"] and all(f["processes"] == 2 for f in t["flows"] if "send" in f["steps"])'
json_has 't["open"] == 0 and all(sorted(f["steps"]) == ["callback: rdma receive", "callback: rdma send", "deliver: send", "rdma send", "send"] and f["steps"][:2] == ["rdma send", "send"] for f in t["flows"] if "send" in f["steps"])'
expect 'a run by TCP' 0 env SOFTFIELD_FABRIC=tcp SOFTFIELD_TRACE="$work/tcp" "$softfield" rdma bench --op send --test latency --sizes 64 --count 100
expect 'its timelines are put together' 0 "$softfield" trace --convert "$work"/tcp.* -o "$work/tcp.pftrace"
shown 'it can be read, too' "$work/tcp.pftrace"
json_has 'len(t["flows"]) >= 200 and all(f["processes"] == 2 and len(f["steps"]) == 5 for f in t["flows"] if "send" in f["steps"])'

# A process that is killed, and what it had begun.
mkfifo "$work/server" "$work/client"
SOFTFIELD_TRACE="$work/killed" "$peer" server 'a name' <"$work/server" >"$work/server.out" &
server=$!
exec 3>"$work/server"
await 'the server starts' grep -q started "$work/server.out"
kill -9 "$server"
wait "$server" 2>/dev/null
exec 3>&-
expect 'the timeline of a process that was killed' 0 "$softfield" trace --convert "$work/killed.$server" -o "$work/killed.pftrace"
shown 'it can be read' "$work/killed.pftrace"
json_has "t['processes'] == [$server] and t['names'].get('BEGIN comch server: RUNNING') == 1 and t['open'] > 0"

# Processes that are asked, while they run: one that keeps its timeline anyway, and one that does not.
"$peer" server 'a name' <"$work/server" >"$work/server.out" &
server=$!
exec 3>"$work/server"
await 'a server starts' grep -q started "$work/server.out"
SOFTFIELD_TRACE="$work/client-of" "$peer" client 'a name' <"$work/client" >"$work/client.out" 3>&- &
client=$!
exec 4>"$work/client"
await 'a client connects' grep -q connected "$work/client.out"
await 'both are seen' runs 2
"$softfield" trace --all -o "$work/live.pftrace" >"$work/live.out" 2>&1 3>&- 4>&- &
tracer=$!
await 'the server begins its timeline' [ -s "$work/runtime/trace.$server" ]
mkfifo "$work/second"
"$peer" client 'a name' <"$work/second" >"$work/second.out" 3>&- 4>&- &
second=$!
exec 5>"$work/second"
await 'a second client connects' grep -q connected "$work/second.out"
exec 4>&- 5>&- # both leave
wait "$client" "$second"
kill -INT "$tracer"
wait "$tracer"
check 'it is written at the end' [ $? = 0 ]
shown 'it can be read' "$work/live.pftrace"
json_has "set(t['processes']) >= {$server, $client} and t['names'].get('BEGIN comch client: IDLE') == 1 and t['names'].get('BEGIN connect') == 1"
check 'nobody is asked any more' [ ! -e "$work/runtime/trace-request.$server" ]

# A stall keeps the timeline as it is then.
kill -USR1 "$server" # it progresses no more
SOFTFIELD_STALL_MS=200 SOFTFIELD_LOG=warning SOFTFIELD_TRACE="$work/stalled" "$peer" client 'a name' >"$work/client.out" 2>"$work/client.err" \
	<"$work/client" 3>&- &
client=$!
exec 4>"$work/client"
await 'the report of a stall names it' grep -q "; timeline: $work/stalled.$client.stall\$" "$work/client.err"
expect 'the timeline of a stall' 0 "$softfield" trace --convert "$work/stalled.$client.stall" -o "$work/stalled.pftrace"
shown 'it can be read' "$work/stalled.pftrace"
json_has 't["names"].get("BEGIN comch client: STARTING") == 1 and "BEGIN comch client: RUNNING" not in t["names"]'
kill -9 "$client"
exec 4>&- 3>&-
wait "$server"
check 'a file of the runtime folder goes with its process' [ ! -e "$work/runtime/trace.$server" ]

# has_events NUM: each timeline in the runtime folder has so many, in its first ring.
has_events() {
	for timeline in "$work"/runtime/trace.*; do
		[ "$(od -An -tu8 -j16384 -N8 "$timeline")" -ge "$1" ] || return 1
	done
}

# Contexts that run are switched over. What two busy processes do is too much to look at one by one.
"$softfield" rdma bench --op send --test latency --sizes 64 --count 100000000 --events >/dev/null 2>&1 &
busy=$!
await 'two processes are busy' runs 2
"$softfield" trace --all -o "$work/busy.pftrace" >"$work/busy.out" 2>&1 &
tracer=$!
await 'both write' has_events 1000
kill -INT "$tracer"
wait "$tracer"
check 'both are in it' grep -q 'busy.pftrace: 2 processes' "$work/busy.out"
for what in 'rdma send' 'callback: rdma send' 'callback: rdma receive' 'deliver: send'; do
	check "what they do has \"$what\"" grep -qaF "$what" "$work/busy.pftrace"
done
kill "$busy"

if [ -n "$library" ]; then
	readelf -n "$library" >"$work/out" 2>&1
	for probe in submit send deliver complete callback__end state arm wake awake work; do
		check "there is a probe $probe" grep -qx "    Name: $probe" "$work/out"
	done
fi

expect 'a file that is none' 1 "$softfield" trace --convert "$work/run.pftrace" -o "$work/none.pftrace"
err_has 'run.pftrace is no timeline of this version'
expect 'a process that is none' 1 "$softfield" trace 1 -t 1 -o "$work/none.pftrace"
err_has 'process 1 runs no context in this runtime folder'
expect 'no process' 2 "$softfield" trace
expect 'a wrong time' 2 "$softfield" trace 1 -t 0
mkdir "$work/place"
expect 'a folder that is not there' 0 env SOFTFIELD_TRACE="$work/nowhere/run" SOFTFIELD_LOG=error "$softfield" rdma bench --op send --test latency --sizes 64 --count 10
err_has "no timeline in $work/nowhere/run.[0-9]+: No such file or directory"
echo "1..$number"
[ "$failed" -eq 0 ]
