#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Does what docs/rdma_samples.md describes, with the commands printed there, except for the port, which another test might use. The
# programs may break no rule of docs/validation.md.
# Usage: rdma_walk_test.sh PAGE BUILD-FOLDER
set -u
. "$(dirname "$(realpath "$0")")/../support/wait.sh"
page=$1
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
SOFTFIELD_RUNTIME=$work/runtime
export SOFTFIELD_RUNTIME
. "$(dirname "$(realpath "$0")")/../support/validate.sh"
cd "$work" || exit 1
ln -s "$2" build

port=$((10000 + $$ % 20000))

# block NUMBER: the commands of an indented block of the page
block() {
	awk -v wanted="$1" '/^    /{ if (!inside) { inside = 1; count++ } if (count == wanted) print substr($0, 5); next } { inside = 0 }' \
		"$page" | sed "s/4711/$port/"
}

# printed FILE NUMBER: the file has the line of that block
printed() {
	grep -qxF -- "$(block "$2")" "$1" || { echo "no program printed: $(block "$2")"; cat "$work"/out.*; exit 1; }
}

# asked PID FILE WORDS: waits until the program prints the words
asked() {
	await_line "$@" || { echo "$2 lacks the words"; cat "$work"/out.*; exit 1; }
}

ended() {
	wait "$1" || { echo "a program ended with $?"; cat "$work"/out.*; exit 1; }
}

# As in the guide.
mkfifo keys.1 keys.2
sh -c "$(block 1)" <keys.1 >out.1 2>&1 &
responder=$!
exec 7>keys.1
asked $responder out.1 'press Enter'
sh -c "$(block 2)" <keys.2 >out.2 2>&1 &
requester=$!
exec 8>keys.2
asked $requester out.2 'press Enter'
sh -c "$(block 3)" || exit 1
echo >&7
echo >&8
ended $requester
printed out.2 4
echo >&7
ended $responder

# The other terminals have the path set.
path=$(block 2 | head -n 1)

# Without copying descriptors.
sh -c "$path
$(block 5)
status=\$?
wait
exit \$status" >out.3 2>&1 || { echo "block 5 ended with $?"; cat out.3; exit 1; }
printed out.3 6

# By address.
sh -c "$path
$(block 7)" >out.4 2>&1 &
responder=$!
asked $responder out.4 listening
sh -c "$path
$(block 8)" >out.5 2>&1 || { echo "block 8 ended with $?"; cat out.4 out.5; exit 1; }
ended $responder
printed out.4 9
validated
