#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The softfield command from outside. Usage: softfield_tool_test.sh SOFTFIELD TOPOLOGIES
set -u
softfield=$1 topologies=$2
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE
. "$(dirname "$0")/../support/expect.sh"

expect 'no command' 2 "$softfield"
err_has '^softfield: no command given'
expect 'unknown command' 2 "$softfield" frobnicate
err_has "^softfield: there is no command 'frobnicate'\$"
expect 'help' 0 "$softfield" --help
out_has '^Usage: softfield'
expect 'version' 0 "$softfield" --version
out_has '^softfield [0-9.]+'
expect 'devices with a wrong flag' 2 "$softfield" devices --yaml
err_has '^softfield devices: there is no option --yaml$'
err_has '^See `softfield devices --help`[.]$'
expect 'devices with a mistyped flag' 2 "$softfield" devices --jsno
err_has 'did you mean --json\?$'
expect 'doctor with an argument' 2 "$softfield" doctor yaml
err_has '^softfield doctor: takes no argument yaml'
expect 'a mistyped command' 2 "$softfield" topology chekc
err_has "^softfield topology: there is no command 'chekc'; did you mean check\?\$"
err_has '^See `softfield topology --help`[.]$'
expect 'full disk' 1 sh -c '"$0" --help >/dev/full' "$softfield"

expect 'devices' 0 "$softfield" devices
out_has '^  dpu0 +0000:03:00\.0 +pf +mlx5_0 +p0 '
out_has '^  host0 +0000:d8:00\.3 +vf .* dpu0/0000:03:00\.0$'
out_has '^  dpu0/0000:03:00\.1 +host0/0000:d8:00\.1 .* pf1hpf '
out_has '^  host0 +0000:b5:00\.0 '
expect 'devices of dpu0' 0 env SOFTFIELD_NODE=dpu0 "$softfield" devices
out_has 'As node dpu0 sees it'
out_has 'pf0vf1'
out_lacks '^  host0 +0000:(d8|b5)'
expect 'devices of host0' 0 env SOFTFIELD_NODE=host0 "$softfield" devices
out_has '^  host0 +0000:b5:00\.0 '
out_lacks 'Representors'
expect 'devices of an unknown node' 1 env SOFTFIELD_NODE=dpu9 "$softfield" devices
err_has 'no node is named dpu9; known nodes are host0, dpu0'

expect 'devices --json' 0 "$softfield" devices --json
json_has '[n["name"] for n in t["nodes"]] == ["host0", "dpu0"]'
json_has 'sum(not d["real"] for d in t["devices"]) == 6'
json_has '{r["pci"] for r in t["representors"] if r["on"] == "dpu0/0000:03:00.0"} == {"0000:d8:00.0", "0000:d8:00.2", "0000:d8:00.3"}'
json_has 'any(g["node"] == "host0" and g["pci"] == "0000:b5:00.0" for g in t["gpus"])'
expect 'devices --json of the Core guide' 0 env SOFTFIELD_TOPOLOGY="$topologies/core-guide.json" SOFTFIELD_NODE=dpu "$softfield" devices --json
json_has 't["self"] == "dpu"'
json_has 'len(t["representors"]) == 7'
json_has 'sorted(d.get("sf_index", -1) for d in t["devices"]) == [-1, -1, 0, 0]'

expect 'run' 0 "$softfield" run --node dpu0 -- sh -c 'echo "$SOFTFIELD_NODE $*"' sh a 'b c' --node x
out_has '^dpu0 a b c --node x$'
expect 'run without --' 3 "$softfield" run --node=host0 sh -c 'exit 3'
expect 'run on an unknown node' 1 "$softfield" run --node dpu7 -- true
err_has 'no node is named dpu7; known nodes are host0, dpu0'
expect 'run replaces the node' 0 env SOFTFIELD_NODE=nonsense "$softfield" run --node host0 -- sh -c 'echo $SOFTFIELD_NODE'
out_has '^host0$'
expect 'run without a node' 2 "$softfield" run -- true
err_has 'needs --node'
expect 'run without a program' 2 "$softfield" run --node dpu0 --
err_has 'needs \[--\] PROGRAM'
expect 'run with a wrong flag' 2 "$softfield" run --nod dpu0 -- true
err_has '^softfield run: there is no option --nod; did you mean --node\?$'
expect 'run with a flag that is mistyped before its value' 2 "$softfield" run --noed=dpu0 -- true
err_has 'there is no option --noed=dpu0; did you mean --node\?$'
expect 'run without the value of its flag' 2 "$softfield" run --node
err_has '^softfield run: --node needs a value$'
expect 'run with a flag in place of a value' 2 "$softfield" run --node --help
err_has 'needs a value, but the option --help follows'
expect 'a value for a flag that takes none' 2 "$softfield" devices --json=yes
err_has '[-]-json takes no value'
expect 'run of nothing' 127 "$softfield" run --node dpu0 -- "$work/nothing"
err_has 'cannot run .*/nothing: No such file'
expect 'run of a folder' 126 "$softfield" run --node dpu0 -- "$work"

expect 'explain a code' 0 "$softfield" explain DOCA_ERROR_BAD_STATE
out_has '^code +DOCA_ERROR_BAD_STATE \(18\): The object'
out_has '^causes +[a-z]'
out_has '^fix +[a-z]'
for code in bad_state Doca_Error_Bad_State 18; do
	expect "explain $code" 0 "$softfield" explain "$code"
	out_has '^code +DOCA_ERROR_BAD_STATE '
done
for code in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
	expect "explain $code" 0 "$softfield" explain "$code"
	out_has '^causes +[a-zA-Z]'
done
expect 'explain a code that does not exist' 1 "$softfield" explain 32
err_has '32 is not a DOCA error code'
expect 'explain a word' 1 "$softfield" explain frobnicate
err_has 'frobnicate is not a DOCA error code; give a name'
expect 'explain a misspelled code' 1 "$softfield" explain DOCA_ERROR_AGIN
err_has 'did you mean DOCA_ERROR_AGAIN[?]'
expect 'explain a misspelled code in short' 1 "$softfield" explain NOT_FUOND
err_has 'did you mean NOT_FOUND[?]'
expect 'explain nothing' 2 "$softfield" explain
err_has 'explain: needs CODE'
expect 'explain a rule' 0 "$softfield" explain sf-mmap-003
out_has '^rule +SF-MMAP-003$'
out_has '^means +a memory map is started before it is used$'
out_has '^fix +call doca_mmap_start first'
expect 'explain a report' 0 "$softfield" explain 'SF-BUF-007: buf (0x55d0c8): doca_task_submit: it has no data; fix: give it some'
out_has '^means +a buffer that is sent has data$'
expect 'explain a rule that does not exist' 1 "$softfield" explain SF-MMAP-999
err_has 'a rule such as SF-MMAP-003'
expect 'explain a log line' 0 "$softfield" explain \
	'[20:38:10:123456][4711][DOCA][ERR][consumer.c:12][consumer_check] consumer 3: the mmap is stopped; start it, and export it again'
out_has '^object +consumer 3$'
out_has '^cause +the mmap is stopped$'
out_has '^fix +start it, and export it again$'
out_has '^rule +an object is created, '
out_has '^logged by consumer_check, line 12 of consumer\.c$'
# A line as a program logs it, in both forms. The tool itself makes the mistake.
SOFTFIELD_LOG=error SOFTFIELD_TOPOLOGY="$work/none.json" "$softfield" rdma bench 2>"$work/lines" >"$work/out"
expect 'explain a line of the libraries' 0 "$softfield" explain "$(grep -m1 '\[ERR\]' "$work/lines")"
out_has '^cause +[a-z]'
out_has '^logged by [a-z_]+, line [0-9]+ of [a-z]+\.c$'
cp "$work/out" "$work/explained"
SOFTFIELD_LOG=error,json SOFTFIELD_TOPOLOGY="$work/none.json" "$softfield" rdma bench 2>"$work/lines" >"$work/out"
expect 'explain the same line as JSON' 0 "$softfield" explain "$(grep -m1 '^{' "$work/lines")"
check 'both say the same' cmp "$work/out" "$work/explained"
expect 'explain a line that the shell took apart' 0 "$softfield" explain pe is NULL: call doca_pe_create
out_has '^argument +pe$'
out_has '^fix +call doca_pe_create$'
expect 'explain a line of a program' 0 "$softfield" explain 'mmap failed: DOCA_ERROR_NOT_PERMITTED'
out_has '^code +DOCA_ERROR_NOT_PERMITTED '
expect 'explain a strange line' 0 "$softfield" explain "$(printf 'a \033[1m line: \377 {[][]')"
out_has '^cause +\? \{\[\]\[\]$'
expect 'explain broken heads' 0 "$softfield" explain '[a][b][c][d] [e'
expect 'explain broken JSON' 0 "$softfield" explain '{"message": {}, "line": "x" }'

expect 'topology show' 0 "$softfield" topology show
cp "$work/out" "$work/shown.json"
expect 'topology check of what is shown' 0 "$softfield" topology check "$work/shown.json"
out_has 'shown\.json: ok, 2 nodes, 6 devices, 4 representors, 1 GPU$'
for file in "$topologies"/*.json; do
	expect "topology check ${file##*/}" 0 "$softfield" topology check "$file"
done
sed 's/d8:00\.3/d8:00/' "$work/shown.json" >"$work/bad.json"
expect 'topology check of a bad file' 1 "$softfield" topology check "$work/bad.json"
err_has 'bad\.json: devices\[2\]\.vfs\[1\]\.pci: "d8:00" is not a PCI address'
expect 'devices with a bad file' 1 env SOFTFIELD_TOPOLOGY="$work/bad.json" "$softfield" devices
err_has 'devices\[2\]\.vfs\[1\]\.pci'
expect 'topology check of no file' 1 "$softfield" topology check "$work/none.json"
err_has 'none\.json: No such file'
expect 'topology alone' 2 "$softfield" topology
expect 'topology check alone' 2 "$softfield" topology check

echo "1..$number"
[ "$failed" -eq 0 ]
