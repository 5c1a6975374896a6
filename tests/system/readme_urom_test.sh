#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# README's UROM block, line by line, in a network namespace of its own because it uses the default port. Only its pause is replaced, by
# a wait for the daemon. Usage: readme_urom_test.sh README DAEMON SAMPLE, with the plugins' folders in UROM_PLUGIN_PATH.
set -u
if [ -z "${README_UROM_INSIDE:-}" ]; then
	unshare -rn ip link set lo up 2>/dev/null || { echo '1..0 # SKIP no network namespaces for this user here'; exit 0; }
	README_UROM_INSIDE=1 exec unshare -rn sh -c 'ip link set lo up && exec "$0" "$@"' "$0" "$@"
fi
readme=$1 daemon=$(realpath "$2") sample=$3
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/../support/wait.sh"
. "$(dirname "$0")/../support/validate.sh"

# The places that README names.
export HOME=$work SOFTFIELD_RUNTIME=$work/runtime
plugins=$work/opt/softfield/lib/softfield/urom-plugins
mkdir -p "$plugins" "$work/opt/softfield/bin" "$work/build/samples"
ln -s "$daemon" "$work/opt/softfield/bin/doca_urom_daemon"
ln -s "$sample" "$work/build/samples/urom_multi_workers_bootstrap"
IFS=';' read -ra folders <<<"$UROM_PLUGIN_PATH"
for folder in "${folders[@]}"; do ln -s "$folder"/*.so "$plugins"; done
unset UROM_PLUGIN_PATH

{
	echo 'trap "kill \$(jobs -p) 2>/dev/null" EXIT; cd "$HOME" || exit'
	sed -n '/^    UROM_PLUGIN_PATH=/,/^    kill /p' "$readme" |
		sed -e 's/^    //' -e 's/^sleep .*/(await_line $! daemon "listening on") || exit/' -e 's/doca_urom_daemon &$/doca_urom_daemon >daemon 2>\&1 \&/'
	echo 'wait $!'
} >"$work/block"
grep -q '^kill ' "$work/block" && grep -q '^(await_line' "$work/block" && grep -q -- '--end$' "$work/block"
ok 'the block is there, and ends the service'
( . "$work/block" ) >"$work/out" 2>&1 && [ "$(grep -c 'worker' "$work/out")" -gt 0 ]
ok 'it runs, and the service ends with 0'
validated >"$work/out"
ok 'it breaks no rule of the API'
finish
