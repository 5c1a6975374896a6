#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a UROM sample with a service of its own. Usage: urom_samples_test.sh [--namespaces] DAEMON COMMAND ['interrupt: TEXT'] ['expect: TEXT'...]
#   COMMAND          a shell's command; names of files come by the environment, where blanks do no harm
#   --namespaces     the daemon in one network namespace, the command in another, joined by a veth pair; skipped where not permitted
#   interrupt: TEXT  SIGINT is sent when the command has printed the line
#   expect: TEXT     a line that it must print
# The environment's UROM_PLUGIN_PATH says where plugins are. The daemon must end with 0 after SIGTERM.
# They may break no rule of docs/validation.md.
set -u
. "$(dirname "$0")/../support/wait.sh"
namespaces=
# Other users become root in a user namespace, where that is permitted.
if [ "$1" = --namespaces ] && [ "$(id -u)" != 0 ] && [ -z "${UROM_SAMPLES_INSIDE:-}" ]; then
	unshare -rnm true 2>/dev/null || { echo 'skipped: no namespaces for this user here'; exit 77; }
	UROM_SAMPLES_INSIDE=1 exec unshare -rnm sh -c 'mount -t tmpfs none /run && exec "$0" "$@"' "$0" "$@"
fi
[ "$1" = --namespaces ] && { namespaces=1; shift; }
daemon=$1 command=$2
shift 2
work=$(mktemp -d)
daemon_pid='' command_pid=''
near=sfa$$ far=sfb$$
cleanup()
{
	[ -z "$command_pid" ] || kill "$command_pid" 2>/dev/null
	[ -z "$daemon_pid" ] || kill "$daemon_pid" 2>/dev/null
	wait
	[ -z "$namespaces" ] || ip netns del "$near" 2>/dev/null
	[ -z "$namespaces" ] || ip netns del "$far" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
. "$(dirname "$0")/../support/validate.sh"
export SOFTFIELD_RUNTIME=$work/runtime DOCA_UROM_SERVICE_FILE=$work/services SOFTFIELD_NODE=host0
# Memory that MPI keeps until it exits is not our leak.
[ -z "${MPIRUN_LEAKS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

join_namespaces()
{
	ip netns add "$near" && ip netns add "$far" &&
		ip link add "$near" netns "$near" type veth peer name "$far" netns "$far" &&
		ip -n "$near" addr add 10.213.7.1/24 dev "$near" && ip -n "$far" addr add 10.213.7.2/24 dev "$far" &&
		for side in "$near" "$far"; do ip -n "$side" link set lo up && ip -n "$side" link set "$side" up || return; done
}

links_are_up() # UCX ignores a link that is not up
{
	for side in "$near" "$far"; do
		ip netns exec "$side" grep -qx up "/sys/class/net/$side/operstate" || return
	done
}

address=127.0.0.1 network=lo in_near='' in_far='' more=''
if [ -n "$namespaces" ]; then
	join_namespaces 2>"$work/why" || { echo "skipped: network namespaces are not permitted here: $(cat "$work/why")"; exit 77; }
	wait_until links_are_up
	address=10.213.7.1 network=$far in_near="ip netns exec $near" in_far="ip netns exec $far"
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/secret"
	chmod 600 "$work/secret"
	export UROM_SECRET_FILE=$work/secret
	more="--bind $address"
fi

await() # FILE TEXT PID
{
	await_line "$3" "$1" -F -- "$2" || {
		echo "nothing printed: $2"
		return 1
	}
}

$in_near "$daemon" --port 0 $more >"$work/daemon" 2>&1 &
daemon_pid=$!
await "$work/daemon" 'listening on' $daemon_pid || { cat "$work/daemon"; exit 1; }
port=$(sed -n 's/.*listening on .* port \([0-9]*\).*/\1/p' "$work/daemon" | head -1)
echo "localhost dpu $address:$port d8:00.0 $network" >"$work/services"

$in_far bash -c "exec $command" >"$work/out" 2>&1 &
command_pid=$!
failed=0
for argument in "$@"; do
	[ "${argument%%: *}" = interrupt ] || continue
	await "$work/out" "${argument#*: }" $command_pid || failed=1
	kill -INT $command_pid
done
wait $command_pid || { echo "ended with $?: $command"; failed=1; }
command_pid=''
echo "--- $command"
cat "$work/out"
kill -TERM $daemon_pid
wait $daemon_pid || { echo "the daemon ended with $?"; failed=1; }
daemon_pid=''
echo "--- the daemon"
cat "$work/daemon"
for argument in "$@"; do
	[ "${argument%%: *}" = expect ] || continue
	grep -qxF -- "${argument#*: }" "$work/out" || { echo "nothing printed: ${argument#*: }"; failed=1; }
done
validated || failed=1
exit $failed
