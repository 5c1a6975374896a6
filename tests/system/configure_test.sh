#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What only the tests need is not needed without them, and its absence is one clear line. Usage: ... SOURCE
set -u
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v meson >/dev/null || { echo '1..0 # SKIP there is no meson'; exit 0; }
count=0 failed=0

ok() { # WHAT: the last command's result
	local status=$?
	count=$((count + 1))
	if [ $status = 0 ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		tail -n 20 "$work/out" | sed 's/^/# /'
		failed=1
	fi
}

# All packages but cmocka.
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

if unshare -rm sh -c 'mount -t tmpfs none /usr/include/infiniband' 2>/dev/null; then
	# shellcheck disable=SC2016
	! unshare -rm sh -c 'mount -t tmpfs none /usr/include/infiniband && exec meson setup "$@"' sh "$work/build-$count" "$source" \
		-Dtests=false >"$work/out" 2>&1 && [ "$(grep -c ERROR "$work/out")" = 1 ] && grep -q 'ERROR: .*libibverbs-dev' "$work/out"
	ok 'no header of RDMA is one line, which says what to do'
fi

echo "1..$count"
exit $failed
