#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Usage: urom_devices_test.sh DAEMON PROGRAM. Two network namespaces with two veth pairs between them. The daemon's address, the
# service file's line and UCX_NET_DEVICES select the pair that a service's messages use; the bytes are counted at the devices.
# Skipped where namespaces are not permitted. The environment's UROM_PLUGIN_PATH names the plugins.
set -u
. "$(dirname "$0")/../support/wait.sh"
daemon=$1 program=$2
# Other users become root in a user namespace, where that is permitted.
if [ "$(id -u)" != 0 ] && [ -z "${UROM_DEVICES_INSIDE:-}" ]; then
	unshare -rnm true 2>/dev/null || { echo 'skipped: no namespaces for this user here'; exit 77; }
	UROM_DEVICES_INSIDE=1 exec unshare -rnm sh -c 'mount -t tmpfs none /run && exec "$0" "$@"' "$0" "$@"
fi
work=$(mktemp -d)
daemon_pid=''
near=sfc$$ far=sfd$$
cleanup()
{
	[ -z "$daemon_pid" ] || kill "$daemon_pid" 2>/dev/null
	wait
	ip netns del "$near" 2>/dev/null
	ip netns del "$far" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

join_namespaces()
{
	ip netns add "$near" && ip netns add "$far" || return
	for i in 0 1; do
		ip link add "v$i" netns "$near" type veth peer name "w$i" netns "$far" && ip -n "$near" addr add "10.213.8$i.1/24" dev "v$i" &&
			ip -n "$far" addr add "10.213.8$i.2/24" dev "w$i" && ip -n "$near" link set "v$i" up && ip -n "$far" link set "w$i" up || return
	done
	ip -n "$near" link set lo up && ip -n "$far" link set lo up
}
join_namespaces 2>"$work/why" || { echo "skipped: network namespaces are not permitted here: $(cat "$work/why")"; exit 77; }
links_are_up()
{
	[ "$(ip netns exec "$far" cat /sys/class/net/w0/operstate /sys/class/net/w1/operstate | tr '\n' ' ')" = 'up up ' ]
}
wait_until links_are_up
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/secret"
chmod 600 "$work/secret"
export UROM_SECRET_FILE=$work/secret SOFTFIELD_RUNTIME=$work/runtime SOFTFIELD_NODE=host0 DOCA_UROM_SERVICE_FILE=$work/services

received() { ip netns exec "$far" cat "/sys/class/net/w$1/statistics/rx_bytes"; }

start_daemon() # ADDRESS [VARIABLE=VALUE]...
{
	local address=$1
	shift
	: >"$work/daemon"
	env "$@" ip netns exec "$near" "$daemon" --bind "$address" --port 0 >"$work/daemon" 2>&1 &
	daemon_pid=$!
	await_line "$daemon_pid" "$work/daemon" 'listening on'
	port=$(sed -n 's/.*listening on .* port \([0-9]*\).*/\1/p' "$work/daemon")
}

stop_daemon()
{
	kill "$daemon_pid" && wait "$daemon_pid" || { echo "FAILED: $1: the daemon ended with $?"; cat "$work/daemon"; failed=1; }
	daemon_pid=''
}

failed=0
# The kernel's own packets to neighbours are a few hundred bytes; those of four workers are thousands.
through() # PAIR FIELD VARIABLE
{
	start_daemon "10.213.8$1.1"
	echo "localhost dpu 10.213.8$1.1:$port d8:00.0 $2" >"$work/services"
	local own=$1 other=$((1 - $1)) own_before other_before
	own_before=$(received "$own") other_before=$(received "$other")
	env ${3:+"UCX_NET_DEVICES=$3"} ip netns exec "$far" "$program" --end >"$work/out" 2>&1 || { cat "$work/out" "$work/daemon"; failed=1; }
	local by_own=$(($(received "$own") - own_before)) by_other=$(($(received "$other") - other_before))
	echo "pair $1, field $2, variable ${3:-unset}: $by_own bytes through it, $by_other through the other"
	[ "$by_own" -gt 4000 ] && [ "$by_other" -lt 1000 ] || { echo "FAILED: not through pair $1"; failed=1; }
	stop_daemon "pair $1"
}
through 0 w0 ''
through 1 w1 ''
through 1 w0 w1 # the variable takes precedence over the file
through 0 w0,w1 '' # the daemon has only the network of its address
through 1 w0,w1 ''

# The daemon and its workers listen only on the daemon's address.
start_daemon 10.213.81.1
echo "localhost dpu 10.213.81.1:$port d8:00.0 w1" >"$work/services"
: >"$work/out"
ip netns exec "$far" stdbuf -oL "$program" >"$work/out" 2>&1 &
program_pid=$!
await_line "$program_pid" "$work/out" 'group 1 has 2 workers'
"$(dirname "$0")/urom_listeners.py" 10.213.81.1 5 "$daemon_pid" || failed=1
kill -INT "$program_pid" && wait "$program_pid" || { echo 'FAILED: the client of listeners'; cat "$work/out"; failed=1; }
stop_daemon 'listeners'

# A client from a network that the daemon may not use is rejected, and the daemon keeps running.
start_daemon 10.213.80.1 UCX_NET_DEVICES=v1
echo "localhost dpu 10.213.80.1:$port d8:00.0 w0,w1" >"$work/services"
ip netns exec "$far" "$program" --end >"$work/out" 2>&1 && { echo 'FAILED: a client by the wrong network was served'; failed=1; }
grep -q 'cannot be reached' "$work/out" || { echo 'FAILED: it does not say that the service cannot be reached:'; cat "$work/out"; failed=1; }
stop_daemon 'a client by the wrong network'
exit $failed
