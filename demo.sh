#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The main use case, from a fresh checkout: a client's TCP request goes to a server on the DPU, over Comch to a persistent GPU kernel, and
# its answer comes back. Installs what the build needs, builds, runs all four parts on this machine and shows the result.
# Usage: ./demo.sh [--no-build] (runs what BUILD_ROOT holds).
#   BUILD_ROOT    where the build goes (build-demo in this folder)
set -euo pipefail
cd "$(dirname "$(realpath "$0")")"

case "$*" in
'' | --no-build) ;;
*)
	echo "usage: ./demo.sh [--no-build]; not: $*" >&2
	exit 2
	;;
esac
build=${BUILD_ROOT:-$PWD/build-demo}
runtime=$(mktemp -d)
chmod 700 "$runtime"
export SOFTFIELD_RUNTIME=$runtime
pids=()

# Prints all output of the programs, and errors again at the end, where a user sees them.
show_failure() {
	local log
	for log in "$runtime"/*.log; do
		[ -f "$log" ] || continue
		echo "-- $(basename "$log")"
		tail -n 100 "$log"
	done >&2
	echo "the demo failed with status $1:" >&2
	grep -hE '\[(CRT|ERR)\]' "$runtime"/*.log >&2 || true
}

stop_all() {
	local status=$?
	# The orchestrator first: it asks the server to release its consumers.
	for pid in "${pids[@]}"; do
		kill -INT "$pid" 2>/dev/null || true
	done
	for pid in "${pids[@]}"; do
		wait "$pid" 2>/dev/null || true
	done
	[ "$status" = 0 ] || [ ${#pids[@]} = 0 ] || show_failure "$status"
	rm -rf "$runtime"
}
trap stop_all EXIT

build_all() {
	{ [ -f "$build/build.ninja" ] || meson setup "$build" -Dtests=false; } && ninja -C "$build"
}
if [ "${1:-}" != --no-build ]; then
	scripts/install-dependencies build
	echo "== building (the log is $build.log)"
	mkdir -p "$(dirname "$build")"
	build_all >"$build.log" 2>&1 || {
		grep -E 'ERROR|FAILED|error:' -A 6 "$build.log" | head -n 40 || true
		tail -n 3 "$build.log"
		exit 1
	}
fi

apps=$build/apps/remote_offload
softfield=$build/tools/softfield/softfield
free_port() { # prints a TCP port without a listener
	local port
	for port in $(shuf -i 20000-29999 -n 50); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || {
			echo "$port"
			return
		}
	done
}
port=$(free_port)
# The last CPU that this shell may use: a container may have any set.
server_cpu=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]\([0-9]*\)$/\1/p' /proc/self/status)

echo
echo "== what this machine has"
"$softfield" devices

echo
echo "== a server on the DPU, an orchestrator on the host, a kernel on its GPU"
"$softfield" run --node dpu0 -- "$apps/doca_dpu_gpu_remote_offload_server" --device-id 03:00.0 --representor-id d8:00.0 \
	-p "$port" --max-concurrent-messages 128 --cpu "$server_cpu" >"$runtime/server.log" 2>&1 &
server=$!
"$softfield" run --node host0 -- "$apps/doca_dpu_gpu_remote_offload_orchestrator" --device-id d8:00.0 --gpu-pci-addr b5:00.0 \
	--max-concurrent-messages 128 --num-gpu-threads 1 >"$runtime/orchestrator.log" 2>&1 &
pids=("$!" "$server")

# The server opens its port once the orchestrator's kernel runs.
deadline=$((SECONDS + 30))
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
	for pid in "${pids[@]}"; do
		kill -0 "$pid" 2>/dev/null || {
			echo "one of the programs stopped early" >&2
			exit 1
		}
	done
	[ "$SECONDS" -lt "$deadline" ] || {
		echo "the server did not open port $port within 30 s" >&2
		exit 1
	}
	sleep 0.05
done
grep -hE 'listen|kernel' "$runtime"/*.log || true

client=("$apps/doca_dpu_gpu_remote_offload_client" -s 127.0.0.1 -p "$port")
echo
echo "== one request: ABCD goes in, the kernel turns it round"
"${client[@]}" -t 1 -i 1 -m ABCD -e DCBA
echo
echo "== many requests: 16 connections, 32 in flight on each"
"${client[@]}" -t 1 --connections 16 --max-concurrent-messages 32 -i 500000 -m ABCD -e DCBA
echo
echo "ABCD came back as DCBA, every time."
