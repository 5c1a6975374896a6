# SPDX-License-Identifier: BSD-3-Clause
# Waiting, for tests that are shell scripts, to be sourced. Here are the only sleeps of the tests' scripts (tests/rules_test.py).

# await_line PID FILE GREP-ARGUMENTS...: until grep finds a line in FILE, which the process PID writes. False when that has ended
# without it, or after a minute. Nothing polls: inotify notifies tail of each write.
await_line() {
	await_pid=$1 await_file=$2
	shift 2
	await_pipe=$(mktemp -u)
	mkfifo "$await_pipe" && : >>"$await_file" || return
	timeout 60 tail -n +1 -f --pid="$await_pid" "$await_file" >"$await_pipe" 2>/dev/null &
	await_tail=$!
	grep -q -m 1 "$@" "$await_pipe"
	await_found=$?
	kill "$await_tail" 2>/dev/null
	wait "$await_tail" 2>/dev/null
	rm "$await_pipe"
	return $await_found
}

# wait_until COMMAND...: until it succeeds, for a minute at most. Only for what has no event: a value in /sys, or a status page.
wait_until() {
	wait_tries=0
	until "$@" >/dev/null 2>&1; do
		wait_tries=$((wait_tries + 1))
		[ "$wait_tries" -lt 600 ] || return
		sleep 0.1
	done
}
