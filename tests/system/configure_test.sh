#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What only the tests need is not required without them; if it is absent, meson fails with one clear line. Usage: ... SOURCE
set -u
source=$1
. "$(dirname "$0")/tap.sh"
command -v meson >/dev/null || { echo '1..0 # SKIP there is no meson'; exit 0; }

# All packages except cmocka.
mkdir "$work/pkgconfig"
pkg-config --variable pc_path pkg-config | tr : '\n' | while read -r folder; do
	[ ! -d "$folder" ] || find "$folder" -maxdepth 1 -name '*.pc' ! -name cmocka.pc -exec ln -sf {} "$work/pkgconfig/" \;
done
export PKG_CONFIG_LIBDIR=$work/pkgconfig

configure() { meson setup "$work/build-$count" "$source" "$@" >"$work/out" 2>&1; }

configure -Dtests=false
ok 'no cmocka, no tests'
! configure && [ "$(grep -c ERROR "$work/out")" = 1 ] && grep -q 'ERROR: .*cmocka.*libcmocka-dev.*-Dtests=false' "$work/out"
ok 'no cmocka is one line, which says what to do'

# The default build holds what is installed, and the static libraries that it needs.
only_installed() { # FOLDER
	meson introspect --targets "$1" | python3 -c '
import json, sys
others = [t["name"] for t in json.load(sys.stdin) if t["build_by_default"] and not t["installed"] and t["type"] != "static library"]
print("not installed:", *others)
sys.exit(bool(others))'
}
configure -Dtests=false -Dsamples=false -Dbench=false -Dcuda=disabled && only_installed "$work/build-$count" >>"$work/out" 2>&1
ok 'without tests, samples and benchmarks, the build holds what is installed'
grep -q 'CUDA, by nvcc *: NO' "$work/out" && ! grep -q nvcc "$work/build-$((count - 1))/build.ninja"
ok 'without CUDA there is no nvcc, and the summary says so'

configure -Dtests=false -Dsamples=false -Ducx=disabled -Dibverbs=false && grep -q 'UROM, by UCX *: NO' "$work/out" && ! grep -qi 'urom[^ ]*:' "$work/build-$count/build.ninja"
ok 'without UCX there is no UROM, and the summary says so'
grep -q 'RDMA devices, by libibverbs *: NO' "$work/out" && ! grep -q 'fabric_verbs' "$work/build-$((count - 1))/build.ninja"
ok 'without libibverbs there are no RDMA devices, and the summary says so'
! configure -Ducx=disabled && grep -q 'ERROR: .*the tests need UCX.*libucx-dev.*-Dtests=false' "$work/out"
ok 'the tests want UCX in one line, which says what to do'

if unshare -rm sh -c 'mount -t tmpfs none /usr/include/infiniband' 2>/dev/null; then
	# shellcheck disable=SC2016
	! unshare -rm sh -c 'mount -t tmpfs none /usr/include/infiniband && exec meson setup "$@"' sh "$work/build-$count" "$source" \
		-Dtests=false >"$work/out" 2>&1 && [ "$(grep -c ERROR "$work/out")" = 1 ] && grep -q 'ERROR: .*libibverbs-dev' "$work/out"
	ok 'no header of RDMA is one line, which says what to do'
fi

finish
