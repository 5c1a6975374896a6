#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# RDMA's options of softfield perf, and softfield rdma bench, the other name of softfield perf rdma: short runs, what they print, what
# they reject. Usage: rdma_bench_test.sh SOFTFIELD
set -u
softfield=$1
. "$(dirname "$0")/../support/expect.sh"

bench() {
	wanted=$1
	shift
	expect "bench $*" "$wanted" timeout 60 "$softfield" rdma bench "$@"
}

# Every operation, both tests, as JSON.
for op in write read send write_imm cas faa; do
	sizes=8,3000
	case $op in cas | faa) sizes=8 ;; esac
	bench 0 --op $op --sizes $sizes --count 300 --depth 8 --receives 16 --json
	json_has "t['op'] == '$op' and [(r['part'], r['what'], r['size']) for r in t['results']] == [('rdma', '$op', s) for s in [$sizes]]"
	json_has "all(r['rounds'] == r['operations'] == 300 and r['ops_per_s'] > 0 for r in t['results'])"
	json_has "all(0 < r['min_ns'] <= r['p50_ns'] <= r['p90_ns'] <= r['p99_ns'] <= r['p99_9_ns'] <= r['max_ns'] for r in t['results'])"
done

# Other options.
bench 0 --op send --sizes 64:512 --count 200 --list 3 --receives 8 --depth 20 --json
json_has "[r['size'] for r in t['results']] == [64, 128, 256, 512] and t['list'] == 3"
bench 0 --op read --sizes 1K --count 200 --list 16 --test latency --json
json_has "len(t['results']) == 1 and t['results'][0]['size'] == 1024"
bench 0 --op send --sizes 64 --count 400 --connections 20 --idle 12 --json
json_has "t['connections'] == 20 and t['idle'] == 12 and t['connection_bytes'] > 0 and t['idle_progress_ns'] > 0"
for op in send write_imm read; do
	bench 0 --op $op --sizes 64 --count 200 --events --json
	json_has "t['mode'] == 'events'"
done
bench 0 --op write --sizes 8 --count 200 --events --test bandwidth
out_has '^rdma: 1 connection and 0 idle, lists of 1, events; a connection takes [0-9.]+ KiB'
out_has '^ +rdma +write +8 +200 +[0-9.]+ +[0-9.]+$'
for more in --progress --no-progress; do
	bench 0 --op write --test latency --size 8 --count 200 $more
	out_has '^ +rdma +write +8 +200 '
done
bench 0 --help
out_has '^Usage: softfield rdma bench'
cp "$work/out" "$work/help"
expect 'the help of perf' 0 "$softfield" perf --help
check 'both commands have the same options' [ "$(grep '^  -' "$work/help")" = "$(grep '^  -' "$work/out")" ]

# Without a count, the time decides; by either name of the command, on one device or on the first that has RDMA.
for command in 'perf rdma' 'rdma bench'; do
	# shellcheck disable=SC2086
	expect "$command" 0 timeout 60 "$softfield" $command --op read --size 64 --seconds 0.001 --device 03:00.0 --json -
	json_has "[(r['part'], r['what'], r['size']) for r in t['results']] == [('rdma', 'read', 64)] and t['seconds'] == 0.001"
done
# It needs no DPU, which the other parts do.
cat >"$work/host.json" <<'END'
{"nodes": [{"name": "here", "kind": "host"}], "devices": [{"node": "here", "pci": "0000:03:00.0", "ibdev": "mlx5_0", "iface": "p0"}]}
END
expect 'RDMA without a DPU' 0 env SOFTFIELD_TOPOLOGY="$work/host.json" timeout 60 "$softfield" perf rdma --size 8 --count 100 --json
json_has "len(t['results']) == 1"
expect 'Comch without a DPU' 1 env SOFTFIELD_TOPOLOGY="$work/host.json" "$softfield" perf comch
err_has 'the topology has no DPU'

# As a pair: the client tells the server what to measure.
"$softfield" rdma bench --server 0 >"$work/server.out" 2>"$work/server.err" &
server=$!
await 'the server listens' await_line $server "$work/server.err" '^listening on 127\.0\.0\.1:'
port=$(sed -n 's/^listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$work/server.err")
bench 0 --client "127.0.0.1:$port" --op write_imm --sizes 32 --count 200 --json
json_has "t['op'] == 'write_imm' and len(t['results']) == 1"
wait $server
status=$?
check "the server ends well (with $status)" [ "$status" -eq 0 ]
check 'the server prints no results' [ ! -s "$work/server.out" ]

# A server whose client does not speak the protocol.
"$softfield" rdma bench --server 0 >"$work/server.out" 2>"$work/server.err" &
server=$!
await 'another server listens' await_line $server "$work/server.err" '^listening on 127\.0\.0\.1:'
python3 - "$work/server.err" <<'END'
import re, socket, sys
found = re.search(r"127\.0\.0\.1:(\d+)", open(sys.argv[1]).read())
with socket.create_connection(("127.0.0.1", int(found[1]))) as peer:
    peer.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(4096))
    peer.recv(1)
END
wait $server
status=$?
check "a server of nonsense exits with 1 (it did with $status)" [ "$status" -eq 1 ]
check 'and says why' grep -q 'the other side does not run this release' "$work/server.err"

# Arguments that are rejected.
refused() {
	says=$1
	shift
	bench 2 "$@"
	err_has "$says"
}
refused '--op takes write, read, send, write_imm, cas or faa, not put' --op put
refused '--test takes latency' --test speed
refused '--sizes takes' --sizes 0
refused '--sizes takes' --sizes 8,
refused '--sizes takes' --sizes 64:8
refused '--sizes takes' --sizes 2G
refused 'with --test bandwidth' --count 5000000
refused '--count takes a number from 1 to 1000000000, not -1' --count -1
refused '--depth takes' --depth 5000
refused '--list takes' --list 17
refused '--cpus takes' --cpus 1
refused 'a receive has at most 6 buffers' --op send --list 7
refused 'fewer bytes than --list' --op read --list 16 --sizes 8
refused 'cas and faa have 8 bytes' --op cas --sizes 16
refused 'no event reports the arrival of a write' --op write --events
refused 'more than 1024 together' --connections 1000 --idle 25
refused '--client takes HOST:PORT' --client 1234
refused 'not both' --server 0 --client a:1
refused 'takes no argument' something
expect 'a device for Comch' 2 "$softfield" perf comch --device 03:00.0
err_has 'device is for rdma alone'
bench 1 --device 99:00.0 --count 1
err_has 'no device 99:00.0 with RDMA'
bench 1 --client 127.0.0.1:1
err_has 'cannot connect to 127.0.0.1:1'

echo "1..$number"
[ "$failed" -eq 0 ]
