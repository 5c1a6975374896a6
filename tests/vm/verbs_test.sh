#!/bin/bash
# The fabric on a real RDMA device, hardware or Soft-RoCE: the conformance suite, RDMA's tests with that provider, the bridge to
# rdma-core. Skips (77) where this machine has none that this user may open and whose port is up.
#
#   verbs_test.sh BUILD-FOLDER        from `meson test --suite vm`, or by hand inside a virtual machine with an rxe device:
#                                     rdma link add rxe0 type rxe netdev eth0
#
# SOFTFIELD_TEST_SLOW lengthens the limits and shortens the soaks, for a machine that is emulated. With SOFTFIELD_TEST_MAKE_DEVICES
# two more devices are made (two_devices.sh), for the test between machines: in a virtual machine only.
set -u
build=$1
topology=$(realpath "$(dirname "$0")/../support/rdma_cm.json")

usable() {
	local device
	for device in /sys/class/infiniband_verbs/uverbs*; do
		[ -r "/dev/infiniband/${device##*/}" ] && [ -w "/dev/infiniband/${device##*/}" ] || continue
		grep -q ACTIVE "/sys/class/infiniband/$(cat "$device/ibdev")/ports/1/state" && return 0
	done
	return 1
}

usable || { echo "no RDMA device that is up and may be opened"; exit 77; }
runtime=$(mktemp -d)
trap 'rm -rf "$runtime"' EXIT
export SOFTFIELD_RUNTIME=$runtime
failed=0

run() { # ENVIRONMENT... PROGRAM
	if env "${@:1:$#-1}" "$build/${!#}" >"$runtime/log" 2>&1; then
		echo "ok: ${!#}"
	else
		echo "failed: ${!#}"
		grep -v '^\[ *\(OK\|RUN\)' "$runtime/log" | tail -n 40
		failed=1
	fi
}

run SOFTFIELD_FABRIC= tests/fabric/fabric_verbs_test
run SOFTFIELD_FABRIC= tests/vm/remote_name_test
run SOFTFIELD_FABRIC= tests/vm/real_device_test
run SOFTFIELD_FABRIC= tests/vm/far_test
if [ -n "${SOFTFIELD_TEST_MAKE_DEVICES:-}" ]; then
	devices=$("$(dirname "$0")/two_devices.sh")
	run SOFTFIELD_FABRIC= "SOFTFIELD_TEST_DEVICES=$devices" tests/vm/far_test
fi
for name in rdma_task rdma_connect rdma_failure rdma_permissions rdma_retry rdma_sync_event rdma_sync_event_wait; do
	run SOFTFIELD_FABRIC=verbs "tests/api/${name}_test"
done
for name in api/rdma_dc api/rdma_cm api/rdma_cm_end system/rdma_cm_process; do
	run SOFTFIELD_FABRIC=verbs "SOFTFIELD_TOPOLOGY=$topology" "tests/${name}_test"
done
for name in rdma_process rdma_sync_event_process rdma_memory rdma_odd_memory; do
	run SOFTFIELD_FABRIC=verbs "tests/system/${name}_test"
done
run SOFTFIELD_FABRIC=verbs tests/system/dma_process_test
run SOFTFIELD_FABRIC=verbs tests/api/comch_data_test
run SOFTFIELD_FABRIC=verbs tests/api/comch_gpu_test
run SOFTFIELD_FABRIC=verbs tests/system/gpu_comch_test

# Each message of a timeline goes from its submit by the peer to both callbacks.
flows() {
	local here
	here=$(dirname "$0")/../system
	SOFTFIELD_FABRIC=verbs SOFTFIELD_TRACE=$runtime/trace "$build/tools/softfield/softfield" rdma bench --op send --test latency --sizes 64 --count 20 &&
		"$build/tools/softfield/softfield" trace --convert "$runtime"/trace.* -o "$runtime/pftrace" &&
		python3 "$here/perfetto.py" protoc "$runtime/pftrace" >"$runtime/flows" &&
		python3 -c 'import json, sys
flows = [f for f in json.load(open(sys.argv[1]))["flows"] if "send" in f["steps"]]
assert len(flows) >= 40 and all(f["processes"] == 2 and len(f["steps"]) == 5 and f["steps"][:2] == ["rdma send", "send"] for f in flows), flows' \
			"$runtime/flows"
}

if ! command -v protoc >/dev/null; then
	echo "left out: the timeline's arrows, which protoc reads"
elif flows >"$runtime/log" 2>&1; then
	echo "ok: the timeline's arrows"
else
	echo "failed: the timeline's arrows"
	tail -n 40 "$runtime/log"
	failed=1
fi
exit $failed
