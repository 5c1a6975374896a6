#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# softfield trace, and what SOFTFIELD_TRACE records: a run, a process that is killed, a stall, and running processes on request.
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

# runs NUM: true if ps shows that many processes.
runs() {
	[ "$("$softfield" ps --json | grep -c own_pid)" = "$1" ]
}

# starts PID: a context of the process is STARTING.
starts() {
	"$softfield" ps --json | python3 -c 'import json, sys
assert any(p["own_pid"] == int(sys.argv[1]) and any(c.get("state") == "STARTING" for c in p["contexts"]) for p in json.load(sys.stdin)["processes"])' \
		"$1" 2>>"$work/starts.err"
}

# shown WHAT FILE: what Perfetto would show of the file, for json_has.
shown() {
	expect "$1" 0 python3 "$perfetto" "$protoc" "$2"
}

# Two processes and their messages. Each message has a flow, from the submit through the peer's delivery to both completions.
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

# A kernel's messages have flows in both directions, too.
expect 'a run with a kernel' 0 env SOFTFIELD_GPU=soft SOFTFIELD_TRACE="$work/gpu" "$softfield" perf gpu --test latency --size 64 --seconds 0.001
expect 'its timelines are put together' 0 "$softfield" trace --convert "$work"/gpu.* -o "$work/gpu.pftrace"
shown 'it can be read, too' "$work/gpu.pftrace"
json_has 'any(f["processes"] == 2 and "deliver: to a kernel" in f["steps"] and "to a kernel" in f["steps"] for f in t["flows"])'
json_has 'any(f["processes"] == 2 and "deliver: from a kernel" in f["steps"] and "from a kernel" in f["steps"] for f in t["flows"])'

# A ring that a real GPU's kernel writes: without a count, times by the GPU's clock, and events that may be torn.
cat >"$work/kernel.py" <<'END'
import struct, sys
RINGS, RING = 16384, 4096 + 32768 * 32
data = bytearray(open(sys.argv[1], "rb").read())
number, = struct.unpack_from("<I", data, 24)
begin_ns, = struct.unpack_from("<Q", data, 40)
at = RINGS + number * RING
data[at:at + RING] = bytes(RING)
struct.pack_into("<I", data, 24, number + 1)
struct.pack_into("<QQII16sIIQQQQ", data, at, 0, 1, 0, 0, b"consumer 7", 1, 1, 5000, begin_ns, 5000, begin_ns)
for slot, ticks, kind, torn in ((0, 6000, 9, 0), (32767, 7000, 8, 0), (5, 8000, 8, 1)):
    check = (ticks ^ ticks >> 5 ^ ticks >> 13) & 0xff ^ torn
    struct.pack_into("<QQQIHBB", data, at + 4096 + slot * 32, ticks, 0, 77, 64, 0, kind, check)
open(sys.argv[2], "wb").write(data)
END
for file in "$work"/run.[0-9]*; do break; done
expect 'a ring of a kernel' 0 python3 "$work/kernel.py" "$file" "$work/kernel.1"
expect 'its timeline' 0 "$softfield" trace --convert "$work/kernel.1" -o "$work/kernel.pftrace"
shown 'it can be read, too' "$work/kernel.pftrace"
json_has 't["names"].get("INSTANT deliver: to a kernel") == 1 and t["names"].get("INSTANT from a kernel") == 1'
json_has 'any(f["steps"] == ["deliver: to a kernel", "from a kernel"] for f in t["flows"])'

# A process that is killed, with operations that it had begun.
mkfifo "$work/server" "$work/client"
SOFTFIELD_TRACE="$work/killed" "$peer" server 'a name' <"$work/server" >"$work/server.out" &
server=$!
exec 3>"$work/server"
await 'the server starts' await_line "$server" "$work/server.out" started
kill -9 "$server"
wait "$server" 2>/dev/null
exec 3>&-
expect 'the timeline of a process that was killed' 0 "$softfield" trace --convert "$work/killed.$server" -o "$work/killed.pftrace"
shown 'it can be read' "$work/killed.pftrace"
json_has "t['processes'] == [$server] and t['names'].get('BEGIN comch server: RUNNING') == 1 and t['open'] > 0"

# Running processes on request: one that records its timeline anyway, and one that does not.
"$peer" server 'a name' <"$work/server" >"$work/server.out" &
server=$!
exec 3>"$work/server"
await 'a server starts' await_line "$server" "$work/server.out" started
SOFTFIELD_TRACE="$work/client-of" "$peer" client 'a name' <"$work/client" >"$work/client.out" 3>&- &
client=$!
exec 4>"$work/client"
await 'a client connects' await_line "$client" "$work/client.out" connected
await 'both are seen' wait_until runs 2
"$softfield" trace --all -o "$work/live.pftrace" >"$work/live.out" 2>&1 3>&- 4>&- &
tracer=$!
await 'the server begins its timeline' wait_until [ -s "$work/runtime/trace.$server" ]
mkfifo "$work/second"
"$peer" client 'a name' <"$work/second" >"$work/second.out" 3>&- 4>&- &
second=$!
exec 5>"$work/second"
await 'a second client connects' await_line "$second" "$work/second.out" connected
exec 4>&- 5>&- # both exit
wait "$client" "$second"
kill -INT "$tracer"
wait "$tracer"
check 'it is written at the end' [ $? = 0 ]
shown 'it can be read' "$work/live.pftrace"
json_has "set(t['processes']) >= {$server, $client} and t['names'].get('BEGIN comch client: IDLE') == 1 and t['names'].get('BEGIN connect') == 1"
check 'the request is removed' [ ! -e "$work/runtime/trace-request.$server" ]

# A stall saves the timeline as it is at that moment.
kill -USR1 "$server" # it stops progressing
SOFTFIELD_STALL_MS=200 SOFTFIELD_LOG=warning SOFTFIELD_TRACE="$work/stalled" "$peer" client 'a name' >"$work/client.out" 2>"$work/client.err" \
	<"$work/client" 3>&- &
client=$!
exec 4>"$work/client"
await 'the report of a stall names it' await_line "$client" "$work/client.err" "; timeline: $work/stalled.$client.stall\$"
expect 'the timeline of a stall' 0 "$softfield" trace --convert "$work/stalled.$client.stall" -o "$work/stalled.pftrace"
shown 'it can be read' "$work/stalled.pftrace"
json_has 't["names"].get("BEGIN comch client: STARTING") == 1 and "BEGIN comch client: RUNNING" not in t["names"]'

# A timeline that begins while a process hangs shows in which operation it hangs.
"$peer" client 'a name' >"$work/hung.out" 2>&1 </dev/null 3>&- 4>&- &
hung=$!
await 'a client waits for the server' wait_until starts "$hung"
expect 'a timeline that begins now' 0 "$softfield" trace "$hung" "$server" -t 2 -o "$work/hung.pftrace"
out_has "^process $hung \(status_peer\): comch client is in STARTING for [0-9.]+ s\$"
shown 'it can be read' "$work/hung.pftrace"
json_has 't["names"].get("BEGIN STARTING") == t["names"].get("BEGIN RUNNING") == 1 and "BEGIN comch client: STARTING" not in t["names"]'
kill -9 "$hung" "$client"
exec 4>&- 3>&-
wait "$server"
check 'a process removes its file in the runtime folder' [ ! -e "$work/runtime/trace.$server" ]

# A callback that sleeps since before the timeline began is named all the same.
"$peer" server 'a name' <"$work/server" >"$work/server.out" &
server=$!
exec 3>"$work/server"
await 'a server starts again' await_line "$server" "$work/server.out" started
"$peer" client 'a name' <"$work/client" >"$work/client.out" 3>&- &
client=$!
exec 4>"$work/client"
await 'its client connects' await_line "$client" "$work/client.out" connected
kill -USR2 "$client"
await "the server's callback sleeps" await_line "$server" "$work/server.out" asleep
await 'its call is seen' wait_until sh -c '"$1" ps | grep -q " inside, "' sh "$softfield"
expect 'a timeline that begins in a callback' 0 "$softfield" trace --all -t 2 -o "$work/asleep.pftrace"
out_has "^process $server \(status_peer\): doca_pe_progress is in comch server and has not returned for [0-9.]+ s\$"
out_lacks "^process $client"
shown 'it can be read' "$work/asleep.pftrace"
json_has 't["names"].get("INSTANT doca_pe_progress is in comch server and has not returned", 0) >= 1'
exec 3>&-
wait "$server"
exec 4>&-
wait "$client"

# has_events NUM TIMELINES: true if as many timelines are in the runtime folder, each with that many events in one of its first rings.
has_events() {
	timelines=0
	for timeline in "$work"/runtime/trace.*; do
		most=0
		for ring in 0 1 2 3; do
			head=$(od -An -tu8 -j$((16384 + ring * 1052672)) -N8 "$timeline" 2>/dev/null)
			[ "${head:-0}" -le "$most" ] || most=$((head))
		done
		[ "$most" -ge "$1" ] || return 1
		timelines=$((timelines + 1))
	done
	[ "$timelines" -eq "$2" ]
}

# Contexts that already run start to record. Two busy processes record too many events to check each of them.
"$softfield" perf rdma --op send --test latency --size 64 --seconds 60 --events >/dev/null 2>&1 &
busy=$!
await 'two processes are busy' wait_until runs 2
"$softfield" trace --all -o "$work/busy.pftrace" >"$work/busy.out" 2>&1 &
tracer=$!
await 'both write' wait_until has_events 1000 2
kill -INT "$tracer"
wait "$tracer"
check 'both are in the timeline' grep -q 'busy.pftrace: 2 processes' "$work/busy.out"
for what in 'rdma send' 'callback: rdma send' 'callback: rdma receive' 'deliver: send' 'before the timeline began'; do
	check "the timeline has \"$what\"" grep -qaF "$what" "$work/busy.pftrace"
done
kill "$busy"

if [ -n "$library" ]; then
	readelf -n "$library" >"$work/out" 2>&1
	for probe in submit send deliver complete callback__end state arm wake awake work; do
		check "there is a probe $probe" grep -qx "    Name: $probe" "$work/out"
	done
fi

expect 'a file that is no timeline' 1 "$softfield" trace --convert "$work/run.pftrace" -o "$work/none.pftrace"
err_has 'run.pftrace is not a timeline of this version'
expect 'a process without Softfield' 1 "$softfield" trace 1 -t 1 -o "$work/none.pftrace"
err_has 'process 1 runs no context in this runtime folder'
expect 'no process' 2 "$softfield" trace
expect 'a wrong time' 2 "$softfield" trace 1 -t 0
mkdir "$work/place"
expect 'a folder that is not there' 0 env SOFTFIELD_TRACE="$work/nowhere/run" SOFTFIELD_LOG=error "$softfield" rdma bench --op send --test latency --sizes 64 --count 10
err_has "no timeline in $work/nowhere/run.[0-9]+: No such file or directory"
echo "1..$number"
[ "$failed" -eq 0 ]
