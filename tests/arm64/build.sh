#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Cross-builds the arm64 programs that tests of two architectures run under qemu-user. Usage: build.sh FOLDER. It makes FOLDER/root,
# Debian's arm64 packages, and FOLDER/build; SOFTFIELD_TEST_ARM64=FOLDER tells the tests where they are. The packages are unpacked there and
# not installed, so dpkg's architectures and the machine's own packages stay as they are. Exit status 77: a line names what is missing here.
set -euo pipefail
export LC_ALL=C
folder=$(realpath -m "$1") source=$(cd "$(dirname "$0")/../.." && pwd)
packages=(libjson-c-dev libjson-c5 libssl-dev libssl3 zlib1g-dev zlib1g liblz4-dev liblz4-1 libxxhash-dev libcmocka-dev libcmocka0 libibverbs-dev librdmacm-dev libucx-dev libucx0 libnuma1 libisal-dev libisal2)
programs=(tools/softfield/softfield tests/system/comch_process_test tests/legacy/comm_channel_process_test tests/api/slot16_test
	samples/{dma_copy_host,dma_copy_dpu,sync_event_local_pci,sync_event_remote_pci}
	samples/rdma_{receive,send}{,_immediate} samples/rdma_{write,write_immediate,read,sync_event}_{responder,requester})

missing() {
	echo "skipped: no arm64 programs: $1"
	exit 77
}

for tool in aarch64-linux-gnu-gcc qemu-aarch64-static apt-get dpkg-deb meson ninja; do
	command -v "$tool" >/dev/null || missing "there is no $tool"
done
mkdir -p "$folder"
cd "$folder"

# ---- packages ----
apt() { # apt-get as of an arm64 machine with nothing installed
	apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::State::lists="$folder/apt/lists" \
		-o Dir::Cache="$folder/apt" "$@" >>"$folder/apt.log" 2>&1
}
if [ ! -e root ]; then
	rm -rf apt debs unpacked apt.log
	mkdir -p apt/lists/partial apt/archives/partial debs
	touch apt/status
	apt update || true # a list that cannot be loaded matters only if a package cannot be loaded either
	(cd debs && apt download "${packages[@]}") || missing "$(grep '^E:' apt.log | head -n 1); needed for arm64 are ${packages[*]}"
	for deb in debs/*.deb; do
		dpkg-deb -x "$deb" unpacked
	done
	mv unpacked root
fi

# ---- the build ----
usr=$folder/root/usr triple=aarch64-linux-gnu
cat >cross.ini <<END
[binaries]
c = '$triple-gcc'
ar = '$triple-ar'
strip = '$triple-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu']
[properties]
sys_root = '$folder/root'
pkg_config_libdir = '$usr/lib/$triple/pkgconfig'
[built-in options]
c_args = ['-isystem', '$usr/include', '-isystem', '$usr/include/$triple']
c_link_args = ['-L$usr/lib/$triple', '-Wl,--allow-shlib-undefined']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
[ -f build/build.ninja ] || meson setup build "$source" --cross-file cross.ini -Dbuildtype=plain -Doptimization=1 >setup.log 2>&1 || {
	tail -n 20 setup.log
	exit 1
}
ninja -C build "${programs[@]}" >ninja.log 2>&1 || {
	grep -E 'error|FAILED|warning' -A 6 ninja.log | head -n 60
	exit 1
}
