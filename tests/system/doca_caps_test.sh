#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# doca_caps from outside. Usage: doca_caps_test.sh DOCA_CAPS TOPOLOGIES LIBRARY...
set -u
caps=$1 topologies=$2
shift 2
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE
. "$(dirname "$0")/../support/expect.sh"

expect 'help' 0 "$caps" --help
out_has '^Usage: doca_caps'
expect 'version' 0 "$caps" -v
out_has '^doca_caps [0-9.]+'
expect 'unknown flag' 2 "$caps" --yaml
err_has '^doca_caps: there is no option --yaml$'
expect 'an address missing' 2 "$caps" --pci-addr
err_has '^doca_caps: -p, --pci-addr needs a value$'
expect 'an argument' 2 "$caps" 03:00.0
err_has 'takes no argument 03:00\.0'
expect 'no PCI address' 2 "$caps" -p mlx5_0
err_has 'not a PCI address .* mlx5_0'
expect 'no such device' 1 "$caps" -p 7f:00.0
err_has 'no device has the PCI address 7f:00\.0'
expect 'no such library' 2 "$caps" --lib frobnicate
err_has "there is no library 'frobnicate'\$"
expect 'a mistyped library' 2 "$caps" --lib comhc
err_has "there is no library 'comhc'; did you mean comch\?\$"
expect 'full disk' 1 sh -c '"$0" >/dev/full' "$caps"

expect 'everything' 0 "$caps"
out_has '^PCI: 0000:03:00\.0$'
out_has '^  iface_name +p0$'
out_has '^  0000:d8:00\.3 +VF +pf0vf1 +SFLD'
out_has '^  comch +server +supported$'
out_has '^  comch +server +unsupported$'
out_has '^  clock +nic_dpa_timer +unsupported$'
expect 'devices' 0 "$caps" --list-devs
out_has '^PCI: 0000:d8:00\.1$'
out_has '^  mac_addr +02:5f:'
out_lacks 'CAPABILITY|Representors'
expect 'representors' 0 "$caps" --list-rep-devs
out_has '^  0000:d8:00\.0 +PF +pf0hpf'
out_lacks 'CAPABILITY|mac_addr'
expect 'libraries' 0 "$caps" --list-libs
out_has '^  comch_consumer +[0-9]+$'
out_lacks 'PCI'
expect 'libraries of a wrong topology' 0 env SOFTFIELD_TOPOLOGY=/nonexistent "$caps" --list-libs
expect 'devices of a wrong topology' 1 env SOFTFIELD_TOPOLOGY=/nonexistent "$caps"
err_has '/nonexistent'
expect 'one device' 0 "$caps" --pci-addr 0000:D8:00.2
out_has '^PCI: 0000:d8:00\.2$'
out_has '^  pci_func_type +VF$'
check "$name is all" [ "$(grep -c '^PCI:' "$work/out")" = 1 ]
expect 'one library' 0 "$caps" -p 03:00.0 -b clock
out_has '^  clock +nic_real_time +supported$'
out_lacks '^  comch|mac_addr'
expect 'what a host sees' 0 env SOFTFIELD_NODE=host0 "$caps"
out_lacks '0000:03:00|^  comch +server +supported'

expect 'JSON' 0 "$caps" --json
json_has 'len(t["devices"]) == 6'
json_has '[len(d["representors"]) for d in t["devices"]] == [3, 1, 0, 0, 0, 0]'
json_has 'all(type(d[name]) is int for d in t["devices"] + t["devices"][0]["representors"] for name in ("vhca_id", "active_rate") if name in d)'
json_has 'len([d for d in t["devices"] + t["devices"][0]["representors"] if "vhca_id" in d]) == 9 and "active_rate" in t["devices"][0]'
json_has 'all(r["hotplug"] is False for d in t["devices"] for r in d["representors"])'
json_has 'len({len(d["capabilities"]) for d in t["devices"]}) == 1'
json_has 'all("error" not in c or c["value"] is None for d in t["devices"] for c in d["capabilities"])'
json_has 'all(c.get("error") in (None, "DOCA_ERROR_NOT_SUPPORTED") for d in t["devices"] for c in d["capabilities"])'
json_has '[c["value"] for d in t["devices"] for c in d["capabilities"] if (c["library"], c["name"]) == ("comch", "server")] == [True, True] + [False] * 4'
for topology in "$topologies"/*.json; do
	expect "JSON of $(basename "$topology")" 0 env SOFTFIELD_TOPOLOGY="$topology" "$caps" --json
	json_has 'len(t["devices"]) > 0'
	json_has 'all(c.get("error") in (None, "DOCA_ERROR_NOT_SUPPORTED") for d in t["devices"] for c in d["capabilities"])'
done

# Every capability query that the libraries export is in the table.
expect 'JSON of everything' 0 "$caps" --json
python3 -c 'import json, sys; [print(c["function"]) for c in json.load(open(sys.argv[1]))["devices"][0]["capabilities"]]' "$work/out" |
	sort -u >"$work/known"
for library in "$@"; do
	nm -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//' | grep -E '^doca_.*_cap_|^doca_mmap_advise_task_.*_get_max' | sort -u >"$work/exported"
	check "$(basename "$library") has capabilities" [ -s "$work/exported" ]
	comm -23 "$work/exported" "$work/known" >"$work/out"
	check "doca_caps knows those of $(basename "$library")" [ ! -s "$work/out" ]
done

echo "1..$number"
[ "$failed" = 0 ]
