#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a pair of RDMA samples as a user does with DOCA's guide: each in a folder of its own, which stands for a machine; the user
# copies the descriptors from one to the other when asked, and presses Enter. By address (-cm) there is nothing to do but to start the
# responder first.
# Usage: rdma_samples_test.sh FOLDER 'RESPONDER...' 'REQUESTER...' ['expect: TEXT'...]
# The responder is what has memory or receives. It is asked first; a last "when ..., press Enter" is answered when the requester
# has ended.
set -u
PATH=$1:$PATH
responder=$2 requester=$3
shift 3
work=$(mktemp -d)
pids=
trap 'for pid in $pids; do kill "$pid" 2>/dev/null; done; rm -rf "$work"' EXIT
SOFTFIELD_RUNTIME=$work/runtime
export PATH SOFTFIELD_RUNTIME

# start NAME NODE COMMAND: its standard input is a pipe that stays open
start() {
	mkdir "$work/$1"
	mkfifo "$work/$1/keys"
	(cd "$work/$1" && SOFTFIELD_NODE=$2 exec sh -c "exec $3" <keys >out 2>&1) &
	pids="$pids $!"
}

# until_printed NAME TEXT
until_printed() {
	tries=0
	until grep -qF -- "$2" "$work/$1/out" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 1500 ] || { echo "$1 never said: $2"; cat "$work"/*/out; exit 1; }
		sleep 0.02
	done
}

start responder host0 "$responder"
responder_pid=$!
exec 7>"$work/responder/keys"
case $responder in *' -cm'*) until_printed responder 'listening' ;; esac
start requester dpu0 "$requester"
requester_pid=$!
exec 8>"$work/requester/keys"

# the user: copies, and presses Enter
case $responder in
*' -cm'*) ;;
*)
	until_printed responder 'press Enter'
	until_printed requester 'press Enter'
	cp "$work"/responder/*.desc* "$work/requester/"
	cp "$work"/requester/requester.desc* "$work/responder/"
	echo >&7
	echo >&8
	;;
esac
failed=0
wait "$requester_pid" || { echo "requester ended with $?"; failed=1; }
(echo >&7) 2>/dev/null # it may not have asked yet, or it does not ask, or it has ended
wait "$responder_pid" || { echo "responder ended with $?"; failed=1; }
pids=
for side in responder requester; do
	echo "--- $side"
	cat "$work/$side/out"
done
for argument in "$@"; do
	cat "$work"/*/out | grep -qxF -- "${argument#expect: }" || { echo "nobody printed: ${argument#expect: }"; failed=1; }
done
exit $failed
