# SPDX-License-Identifier: BSD-3-Clause
# To be sourced by tests that run a command: they run it and check its output, and print TAP. $work is a temporary
# folder. A test ends with
#
#	echo "1..$number"
#	[ "$failed" -eq 0 ]
. "$(dirname "$0")/../support/wait.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0 failed=0

# expect NAME STATUS COMMAND...: runs it; its output is in $work/out and $work/err.
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

# await WHAT COMMAND...: the same for await_line or wait_until, without output to check.
await() {
	: >"$work/out" >"$work/err"
	check "$@"
}

out_has() { check "$name prints $1" grep -qE -- "$1" "$work/out"; }
out_lacks() { check "$name does not print $1" sh -c '! grep -qE -- "$1" "$2"' sh "$1" "$work/out"; }
err_has() { check "$name says $1" grep -qE -- "$1" "$work/err"; }
json_has() { check "$name: $1" python3 -c 'import json, sys; t = json.load(open(sys.argv[1])); assert eval(sys.argv[2])' "$work/out" "$1"; }
