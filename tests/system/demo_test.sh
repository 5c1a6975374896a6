#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# demo.sh on unusual CPU sets, from a folder with blanks in its name, and when it fails. Usage: ... SOURCE BUILD
set -u
source=$1 build=$2
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/../support/validate.sh"

demo() { "$@" "$source/demo.sh" --no-build >"$work/out" 2>&1; }
came_back() { tail -n 1 "$work/out" | grep -qx 'ABCD came back as DCBA, every time.'; }

export BUILD_ROOT="$work/a user's folder"
ln -s "$build" "$BUILD_ROOT"
usable=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
for cpu in "${usable%%[!0-9]*}" "${usable##*[!0-9]}"; do
	demo taskset -c "$cpu" && came_back
	ok "on CPU $cpu alone"
done
validated >"$work/out"
ok 'it breaks no rule of the API'

# A server that prints its reason, then more lines, and fails.
export BUILD_ROOT=$work/broken
mkdir -p "$BUILD_ROOT/apps/remote_offload" "$BUILD_ROOT/tools"
ln -s "$build"/apps/remote_offload/* "$BUILD_ROOT/apps/remote_offload/"
ln -s "$build/tools/softfield" "$BUILD_ROOT/tools/softfield"
server=$BUILD_ROOT/apps/remote_offload/doca_dpu_gpu_remote_offload_server
rm "$server"
printf '#!/bin/sh\necho "[DOCA][ERR] what the matter is"\nseq 200\nexit 1\n' >"$server"
chmod +x "$server"
! demo env && tail -n 1 "$work/out" | grep -q 'what the matter is$'
ok 'a failure ends with its reason'

finish
