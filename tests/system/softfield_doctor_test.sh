#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# softfield doctor: each problem that it can report is created. Usage: softfield_doctor_test.sh SOFTFIELD PEER LIBDOCA_COMMON
set -u
softfield=$(realpath "$1") peer=$(realpath "$2") library=$(realpath "$3")
unset SOFTFIELD_TOPOLOGY SOFTFIELD_NODE SOFTFIELD_FABRIC SOFTFIELD_GPU SOFTFIELD_TCP_KEY SOFTFIELD_LOG XDG_RUNTIME_DIR
. "$(dirname "$0")/../support/expect.sh"
export SOFTFIELD_RUNTIME="$work/runtime"
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
mkfifo "$work/ready"

# start VARIABLE=VALUE...: starts a process that uses Softfield and runs until stop. Its name is that of $peer.
start() {
	mkfifo "$work/stop"
	env "$@" "$peer" <"$work/stop" >"$work/ready" &
	started=$!
	exec 3>"$work/stop"
	said=
	read -r said <"$work/ready"
	: >"$work/out" >"$work/err"
	check "a process with $* is ready (it says '$said')" [ "$said" = ready ]
}

stop() {
	exec 3>&-
	wait "$started"
	rm "$work/stop"
}

expect 'a clean system' 0 "$softfield" doctor
for subject in environment topology 'runtime folder' 'other folders' libraries 'open files' 'file size' 'locked memory' 'shared memory' \
	'other memory' kernel memfd userfaultfd membarrier wake-ups gpu rdma ucx; do
	out_has "^(ok|warning) +$subject "
done
check 'each line is ok or a warning' sh -c '! grep -qvE "^(ok|warning) " "$1"' sh "$work/out"
out_has "^ok +runtime folder +$work/runtime \(by SOFTFIELD_RUNTIME\) does not exist yet"

expect 'JSON' 0 "$softfield" doctor --json
json_has 't["ok"] is True'
json_has 'all(set(c) == {"subject", "state", "text"} and c["state"] in ("ok", "warning") for c in t["checks"])'
json_has 'any(c["subject"] == "kernel" for c in t["checks"])'

# The folder.
mkdir -m 755 "$work/runtime"
expect 'a folder that others may use' 1 "$softfield" doctor
out_has "^error +runtime folder .* has mode 755, and others may use it: chmod 700 $work/runtime\$"
expect 'the same in JSON' 1 "$softfield" doctor --json
json_has 't["ok"] is False'
chmod 700 "$work/runtime"
expect 'a folder of the user' 0 "$softfield" doctor
out_has "^ok +runtime folder .* yours, mode 700; processes here now: 0\$"
expect 'a file instead of a folder' 1 env SOFTFIELD_RUNTIME="$softfield" "$softfield" doctor
out_has '^error +runtime folder .* is not a folder: set SOFTFIELD_RUNTIME'
expect 'a folder that cannot be made' 1 env SOFTFIELD_RUNTIME=/proc/none/folder "$softfield" doctor
out_has '^error +runtime folder .* cannot be created: .*; set SOFTFIELD_RUNTIME'
expect 'a folder that depends on where one is' 0 env -C "$work" SOFTFIELD_RUNTIME=runtime "$softfield" doctor
out_has '^warning +runtime folder +runtime is relative to the working folder'
if [ "$(id -u)" = 0 ] && chown 12345 "$work/runtime" 2>/dev/null; then
	expect 'a folder of another user' 1 "$softfield" doctor
	out_has '^error +runtime folder .* belongs to user 12345, you are user 0'
	chown 0 "$work/runtime"
fi
expect 'XDG_RUNTIME_DIR in this shell alone' 0 env SOFTFIELD_RUNTIME= XDG_RUNTIME_DIR="$work" "$softfield" doctor
out_has '^warning +runtime folder +a shell without XDG_RUNTIME_DIR uses /.* instead: set SOFTFIELD_RUNTIME in both'

# Processes.
start
expect 'a process that meets others here' 0 "$softfield" doctor
out_has '^ok +runtime folder .*; processes here now: 1$'
expect 'a process that meets others elsewhere' 0 env SOFTFIELD_RUNTIME="$work/other" "$softfield" doctor
out_has "^warning +other folders +$work/runtime: process $started \(doctor_peer\); programs started here use $work/other, so set the same"
stop
start XDG_RUNTIME_DIR="$work/xdg"
expect 'a process with XDG_RUNTIME_DIR' 0 env SOFTFIELD_RUNTIME="$work/other" "$softfield" doctor
out_has "^warning +other folders +$work/runtime: process $started \(doctor_peer\), with XDG_RUNTIME_DIR $work/xdg, here it is unset; set the same"
stop

mkdir "$work/copy"
cp "$library" "$work/copy/libdoca_common.so.3"
echo >>"$work/copy/libdoca_common.so.3"
start LD_PRELOAD="$work/copy/libdoca_common.so.3"
expect 'a process with another build' 0 "$softfield" doctor
out_has "^warning +libraries +process $started \(doctor_peer\) uses $work/copy/libdoca_common.so.3, a different build from"
rm "$work/copy/libdoca_common.so.3"
expect 'a process whose library is gone' 0 "$softfield" doctor
out_has "^warning +libraries +process $started \(doctor_peer\) runs with a .* that has been replaced since: start it again"
stop

cp "$(ldd "$softfield" | sed -n 's/.*libjson-c[^ ]* => \([^ ]*\) .*/\1/p')" "$work/copy/libdoca_strange.so"
start LD_PRELOAD="$work/copy/libdoca_strange.so"
expect 'a process with a library of another DOCA' 0 "$softfield" doctor
out_has "^warning +libraries +process $started \(doctor_peer\) has $work/copy/libdoca_strange.so, which is not Softfield's, beside "
stop

# A process chooses its own name.
own_peer=$peer
peer=$(printf '%s/a\033[1mb' "$work")
ln -s "$own_peer" "$peer"
start
expect 'a process with a strange name' 0 env SOFTFIELD_RUNTIME="$work/other" "$softfield" doctor
out_has "process $started \(a\?\[1mb\)"
stop

# Limits.
expect 'few open files' 1 sh -c 'ulimit -n 40 && exec "$0" doctor' "$softfield"
out_has '^error +open files +40: .* ulimit -n 65536$'
expect 'small files' 1 sh -c 'ulimit -f 100 && exec "$0" doctor' "$softfield"
out_has '^error +file size .* ulimit -f unlimited$'

# Problems in the environment.
expect 'a variable that is mistyped' 0 env SOFTFIELD_TOPOLGY=x "$softfield" doctor
out_has '^warning +environment +no variable is named SOFTFIELD_TOPOLGY: set SOFTFIELD_TOPOLOGY$'
expect 'a provider that does not exist' 1 env SOFTFIELD_FABRIC=shmem "$softfield" doctor
out_has '^error +environment +SOFTFIELD_FABRIC is shmem: set it to shm'
expect 'a node that does not exist' 1 env SOFTFIELD_NODE=dpu9 "$softfield" doctor
out_has '^error +topology +the default topology has no node dpu9'
expect 'a node that exists' 0 env SOFTFIELD_NODE=dpu0 "$softfield" doctor
out_has '^ok +topology .* programs run on node dpu0$'
expect 'a topology that is not there' 1 env SOFTFIELD_TOPOLOGY="$work/none.json" "$softfield" doctor
out_has '^error +topology .*none\.json: No such file.*; correct the file, or unset SOFTFIELD_TOPOLOGY'
expect 'no key' 1 env SOFTFIELD_TCP_KEY="$softfield" "$softfield" doctor
out_has '^error +key .* is not a valid key: make it with'
(umask 077; printf '%064d\n' 7 >"$work/key")
expect 'a key' 0 env SOFTFIELD_TCP_KEY="$work/key" "$softfield" doctor
out_has '^ok +key '
if [ ! -e /dev/nvidiactl ]; then
	expect 'CUDA without a GPU' 1 env SOFTFIELD_GPU=cuda "$softfield" doctor
	out_has '^error +gpu +SOFTFIELD_GPU is cuda, but CUDA finds no GPU'
fi
if [ ! -e /sys/class/infiniband ]; then
	expect 'verbs without a device' 1 env SOFTFIELD_FABRIC=verbs "$softfield" doctor
	out_has '^error +rdma +SOFTFIELD_FABRIC is verbs, but there is no RDMA device'
fi

echo "1..$number"
[ "$failed" -eq 0 ]
