#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# softfield perf from outside: one short run of everything, a pair, and what it rejects. Usage: softfield_perf_test.sh SOFTFIELD
set -u
softfield=$1
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE SOFTFIELD_GPU
. "$(dirname "$0")/../support/expect.sh"
perf() { timeout 60 "$softfield" perf --seconds 0.001 "$@"; }

expect 'all parts' 0 perf all --size 8,3000 --json "$work/json" --csv "$work/csv" --plot "$work/plot.svg"
out_has '^ +comch +producer to consumer +3000 '
out_has '^ +gpu +kernel echo, (software|CUDA) GPU +8 '
cp "$work/json" "$work/out"
json_has '[(r["part"], r["size"]) for r in t["results"]] == [(p, s) for p in ["comch", "dma", "rdma", "sync_event", "gpu"] for s in ([8] if p == "sync_event" else [8, 3000])]'
json_has 'all(0 < r["min_ns"] <= r["p50_ns"] <= r["p90_ns"] <= r["p99_ns"] <= r["p99_9_ns"] <= r["max_ns"] for r in t["results"])'
json_has 'all(r["ops_per_s"] > 0 and abs(r["bytes_per_s"] / r["ops_per_s"] / r["size"] - 1) < 0.01 for r in t["results"])'
python3 - "$work/csv" "$work/plot.svg" >"$work/out" 2>"$work/err" <<'END'
import csv, sys, xml.etree.ElementTree as xml
rows = list(csv.DictReader(open(sys.argv[1])))
svg = xml.parse(sys.argv[2]).getroot()
texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
circles = len(list(svg.iter("{http://www.w3.org/2000/svg}circle")))
print(len(rows), rows[0]["part"], all(float(row["p50_ns"]) > 0 for row in rows), texts.count("sync_event"), circles)
END
name='CSV and plot' && out_has '^9 comch True 1 18$'

expect 'one part, latency only, to the standard output' 0 perf rdma --op read --test latency --size 64 --json -
json_has '[(r["part"], r["what"], r["size"], "ops_per_s" in r) for r in t["results"]] == [("rdma", "read", 64, False)]'
expect 'JSON without a file' 0 perf sync_event --test latency --json
json_has 'len(t["results"]) == 1'
expect 'a fixed count' 0 perf dma --size 8 --count 50 --json
json_has '[(r["rounds"], r["operations"]) for r in t["results"]] == [(50, 50)]'

# On a terminal, and only there, it shows its progress, and clears the line at the end.
cat >"$work/terminal.py" <<'END'
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
shown = b""
try:
    while part := os.read(ours, 4096):
        shown += part
except OSError: # the other end is closed
    pass
print(repr(shown))
sys.exit(process.wait())
END
for command in 'perf rdma' 'rdma bench' 'perf dma'; do
	# shellcheck disable=SC2086
	expect "$command on a terminal" 0 timeout 60 python3 "$work/terminal.py" "$softfield" $command --size 8,64 --seconds 0.001
	out_has '  0 of 2 measured, 0 s.* 2 of 2 measured, [0-9]+ s; last [a-z]+, 64 bytes.*x1b\[K.$'
	# shellcheck disable=SC2086
	expect "$command elsewhere" 0 timeout 60 "$softfield" $command --size 8 --seconds 0.001
	check 'it shows no progress' [ ! -s "$work/err" ]
done

expect 'a topology without a GPU' 1 env SOFTFIELD_TOPOLOGY="$(dirname "$0")/../../topologies/core-guide.json" "$softfield" perf gpu
err_has 'perf: gpu: the topology has no GPU on the host'

# As a pair: the client tells the server what to measure.
"$softfield" run --node host0 -- "$softfield" perf --server 0 2>"$work/server" &
server=$!
await 'the server listens' await_line $server "$work/server" '^listening on 127\.0\.0\.1:'
port=$(sed -n 's/^listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$work/server")
expect 'a client' 0 "$softfield" run --node dpu0 -- "$softfield" perf dma --seconds 0.001 --size 8 --client "127.0.0.1:$port"
out_has '^ +dma +copy to the host +8 '
expect 'its server' 0 wait $server
# A server whose client does not speak the protocol.
"$softfield" perf --server 0 2>"$work/server" &
server=$!
await 'another server listens' await_line $server "$work/server" '^listening on 127\.0\.0\.1:'
python3 - "$work/server" <<'END'
import re, socket, sys
found = re.search(r"127\.0\.0\.1:(\d+)", open(sys.argv[1]).read())
try:
    with socket.create_connection(("127.0.0.1", int(found[1]))) as peer:
        peer.sendall(b"sffperf2" + b"\xff" * 4096)
        while peer.recv(4096):
            pass
except ConnectionResetError: # it has left some bytes unread
    pass
END
expect 'a server of nonsense' 1 wait $server
check 'it says why' grep -q 'the client requests an impossible test' "$work/server"

refused() {
	says=$1
	shift
	expect "perf $*" 2 "$softfield" perf "$@"
	err_has "$says"
	check 'in one line, and one about the help' [ "$(wc -l <"$work/err")" = 2 ]
}
refused "there is no part 'frob'\$" frob
refused "there is no part 'comhc'; did you mean comch\?\$" comhc
refused 'takes no argument dma' comch dma
refused '--seconds takes a number' --seconds 0
refused '--size takes up to 32 sizes' --size 0
refused '--size takes up to 32 sizes from 1 to 64M' --size 1G
refused 'is comch a part, or the file of --json' --json comch
refused 'cas and faa have 8 bytes' rdma --op cas --size 64
refused 'did you mean --seconds' --secons 1
expect 'nobody there' 1 perf --client 127.0.0.1:1
err_has 'cannot connect to 127\.0\.0\.1:1'
expect 'a size that DMA does not copy' 1 perf dma --size 4M
err_has 'perf: dma: the device copies at most [0-9]+ bytes, not 4194304'
expect 'a file that cannot be written' 1 perf sync_event --json "$work/none/x"
err_has 'cannot write .*/none/x: No such file'

echo "1..$number"
[ "$failed" -eq 0 ]
