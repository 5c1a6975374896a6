#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a pair of RDMA samples as DOCA's guide describes. Each runs in its own folder, which stands for a machine; the test copies
# the descriptors from one folder to the other when the samples ask for it, and presses Enter. By address (-cm) only the order
# matters: the responder starts first.
# Usage: rdma_samples_test.sh FOLDER 'RESPONDER...' 'REQUESTER...' ['expect: TEXT'...]
# The responder is the side with memory or receives. It starts first; its last "when ..., press Enter" is answered when the
# requester has ended. They may break no rule of docs/validation.md.
set -u
. "$(dirname "$0")/../support/wait.sh"
PATH=$1:$PATH
responder=$2 requester=$3
shift 3
work=$(mktemp -d)
pids=
trap 'for pid in $pids; do kill "$pid" 2>/dev/null; done; rm -rf "$work"' EXIT
SOFTFIELD_RUNTIME=$work/runtime
. "$(dirname "$0")/../support/validate.sh"
export PATH SOFTFIELD_RUNTIME

# start NAME NODE COMMAND: its standard input is a pipe that stays open
start() {
	mkdir "$work/$1"
	mkfifo "$work/$1/keys"
	(cd "$work/$1" && SOFTFIELD_NODE=$2 exec sh -c "exec $3" <keys >out 2>&1) &
	pids="$pids $!"
}

# until_printed NAME PID TEXT
until_printed() {
	await_line "$2" "$work/$1/out" -F -- "$3" || { echo "$1 never printed: $3"; cat "$work"/*/out; exit 1; }
}

start responder host0 "$responder"
responder_pid=$!
exec 7>"$work/responder/keys"
case $responder in *' -cm'*) until_printed responder "$responder_pid" listening ;; esac
start requester dpu0 "$requester"
requester_pid=$!
exec 8>"$work/requester/keys"

# copies and presses Enter, as the user would
case $responder in
*' -cm'*) ;;
*)
	until_printed responder "$responder_pid" 'press Enter'
	until_printed requester "$requester_pid" 'press Enter'
	cp "$work"/responder/*.desc* "$work/requester/"
	cp "$work"/requester/requester.desc* "$work/responder/"
	echo >&7
	echo >&8
	;;
esac
failed=0
wait "$requester_pid" || { echo "requester ended with $?"; failed=1; }
(echo >&7) 2>/dev/null # it may not have asked yet, not ask at all, or have ended
wait "$responder_pid" || { echo "responder ended with $?"; failed=1; }
pids=
for side in responder requester; do
	echo "--- $side"
	cat "$work/$side/out"
done
for argument in "$@"; do
	cat "$work"/*/out | grep -qxF -- "${argument#expect: }" || { echo "no sample printed: ${argument#expect: }"; failed=1; }
done
validated || failed=1
exit $failed
