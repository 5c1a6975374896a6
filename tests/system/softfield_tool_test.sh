#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The softfield command from outside. Usage: softfield_tool_test.sh SOFTFIELD TOPOLOGIES
set -u
softfield=$1 topologies=$2
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0 failed=0

# expect NAME STATUS COMMAND...: runs it; what it printed is in $work/out and $work/err.
expect() {
	name=$1 wanted=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	status=$?
	check "$name exits with $wanted (it did with $status)" [ "$status" -eq "$wanted" ]
}

check() {
	what=$1
	shift
	number=$((number + 1))
	if "$@" >/dev/null; then
		echo "ok $number - $what"
	else
		failed=$((failed + 1))
		echo "not ok $number - $what"
		sed 's/^/# /' "$work/out" "$work/err"
	fi
}

out_has() { check "$name prints $1" grep -qE -- "$1" "$work/out"; }
out_lacks() { check "$name does not print $1" sh -c '! grep -qE -- "$1" "$2"' sh "$1" "$work/out"; }
err_has() { check "$name says $1" grep -qE -- "$1" "$work/err"; }
json_has() { check "$name: $1" python3 -c 'import json, sys; t = json.load(open(sys.argv[1])); assert eval(sys.argv[2])' "$work/out" "$1"; }

expect 'no command' 2 "$softfield"
err_has '^Usage: softfield'
expect 'unknown command' 2 "$softfield" frobnicate
err_has 'unknown command frobnicate'
expect 'help' 0 "$softfield" --help
out_has '^Usage: softfield'
expect 'version' 0 "$softfield" --version
out_has '^softfield [0-9.]+'
expect 'devices with a wrong flag' 2 "$softfield" devices --yaml
err_has 'no argument but --json'
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
err_has 'needs a program'
expect 'run with a wrong flag' 2 "$softfield" run --nod dpu0 -- true
err_has 'does not take --nod'
expect 'run of nothing' 127 "$softfield" run --node dpu0 -- "$work/nothing"
err_has 'cannot run .*/nothing: No such file'
expect 'run of a folder' 126 "$softfield" run --node dpu0 -- "$work"

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
