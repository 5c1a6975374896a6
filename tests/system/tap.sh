# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests in bash: a folder $work that is removed at exit, and TAP output. A command's output goes to $work/out.
# shellcheck shell=bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failed=0

ok() { # WHAT: the last command's result
	local status=$?
	count=$((count + 1))
	if [ $status = 0 ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		tail -qn 40 "$work"/{out,apt} 2>/dev/null | sed 's/^/# /'
		failed=1
	fi
}

finish() {
	echo "1..$count"
	exit $failed
}
