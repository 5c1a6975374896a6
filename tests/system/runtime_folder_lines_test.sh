#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two shells with different XDG_RUNTIME_DIR: the log line about the missing process names the folder that was searched. Usage:
# runtime_folder_lines_test.sh BUILD
set -u
build=$(realpath "$1")
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/../support/wait.sh"
unset SOFTFIELD_RUNTIME
mkdir -m 700 "$work/a" "$work/b"
cd "$work" || exit 1
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT

XDG_RUNTIME_DIR=$work/a SOFTFIELD_NODE=host0 "$build/samples/dma_copy_host" >"$work/host" 2>&1 &
pids+=($!)
XDG_RUNTIME_DIR=$work/b SOFTFIELD_NODE=dpu0 "$build/samples/dma_copy_dpu" >"$work/out" 2>&1
[ $? = 1 ] && grep -qF "runtime folder $work/b/softfield" "$work/out"
ok 'an import from another folder'

XDG_RUNTIME_DIR=$work/b SOFTFIELD_NODE=host0 SOFTFIELD_GPU=soft SOFTFIELD_LOG=error \
	"$build/apps/remote_offload/doca_dpu_gpu_remote_offload_orchestrator" --device-id d8:00.0 --gpu-pci-addr b5:00.0 \
	--max-concurrent-messages 16 --num-gpu-threads 1 >"$work/out" 2>&1 &
pids+=($!)
await_line "${pids[-1]}" "$work/out" -F "in the runtime folder $work/b/softfield"
ok 'a Comch client without its server'
finish
