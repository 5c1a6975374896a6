#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a sample as one, two or more processes. Usage: samples_test.sh FOLDER 'NODE: COMMAND'... ['expect: TEXT'...]
#   NODE: COMMAND   starts COMMAND (from FOLDER) as a process of that node; all run at the same time and must exit with 0
#   $MEETING        in COMMAND: a HOST:PORT for --peer
#   expect: TEXT    a line that one of them must print
# They may break no rule of docs/validation.md.
set -u
support=$(dirname "$(realpath "$0")")/../support
PATH=$1:$PATH
shift
work=$(mktemp -d)
pids=
trap 'for pid in $pids; do kill "$pid" 2>/dev/null; done; rm -rf "$work"' EXIT
SOFTFIELD_RUNTIME=$work/runtime
. "$support/validate.sh"
# An address of this machine that no other test uses, for samples that connect by a socket.
MEETING=127.$(($$ / 65536 % 250 + 1)).$(($$ / 256 % 256)).$(($$ % 256)):4711
export PATH SOFTFIELD_RUNTIME MEETING
cd "$work" || exit 1

number=0
for argument in "$@"; do
	node=${argument%%: *} command=${argument#*: }
	[ "$node" = expect ] && continue
	number=$((number + 1))
	SOFTFIELD_NODE=$node sh -c "exec $command" >"out.$number" 2>&1 &
	pids="$pids $!"
	echo "$node: $command" >"command.$number"
done

failed=0 i=0
for pid in $pids; do
	i=$((i + 1))
	wait "$pid" || { echo "ended with $?: $(cat "command.$i")"; failed=1; }
done
pids=
for i in $(seq "$number"); do
	echo "--- $(cat "command.$i")"
	cat "out.$i"
done
for argument in "$@"; do
	[ "${argument%%: *}" = expect ] || continue
	cat out.* | grep -qxF -- "${argument#*: }" || { echo "no process printed: ${argument#*: }"; failed=1; }
done
validated || failed=1
exit $failed
