#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What an installation in /usr lays there, below a DESTDIR: no generic names, no paths in the binaries, and the version.
# Usage: ... SOURCE VERSION.
set -u
source=$1 version=$2
. "$(dirname "$0")/../system/tap.sh"
command -v meson >/dev/null || { echo '1..0 # SKIP there is no meson'; exit 0; }
export DESTDIR=$work/stage
usr=$DESTDIR/usr lib=$DESTDIR/usr/lib/some-arch

CC="$(command -v ccache) ${CC:-cc}" meson setup "$work/build" "$source" --prefix=/usr --libdir=lib/some-arch \
	-Dtests=false -Dsamples=false -Dbench=false -Dcuda=disabled -Dsystemd_units=true -Doptimization=0 >"$work/out" 2>&1 &&
	meson install -C "$work/build" >>"$work/out" 2>&1
ok 'it installs in /usr'
others=$(cd "$usr/include" && find . -mindepth 1 -maxdepth 1 | grep -vE '^\./(doca_[a-z0-9_]+\.(h|cuh)|doca-2\.[25]|softfield)$')
[ -d "$usr/include/softfield/dpu" ] && [ -z "$others" ]
ok "include holds doca_*, doca-* and softfield alone: $others"
others=$(cd "$lib" && find . -mindepth 1 | grep -vE '^\./(libdoca_|softfield|pkgconfig(/(doca|urom)-[a-z-]*\.pc)?$|cmake(/DOCA(/|$)|$))')
[ -d "$lib/softfield/urom-plugins" ] && [ -z "$others" ]
ok "lib holds libdoca_*, softfield and files of pkg-config and CMake alone: $others"
find "$DESTDIR" -type f \( -perm /111 -o -name '*.so*' \) -exec readelf -d {} \; 2>/dev/null >"$work/out"
grep -q NEEDED "$work/out" && ! grep -E 'R(UN)?PATH' "$work/out"
ok 'no binary has a RUNPATH'
! grep -rlE -- '-rpath' "$usr/lib" >"$work/out"
ok 'nor do programs get one from pkg-config'

pc() { PKG_CONFIG_SYSROOT_DIR=$DESTDIR PKG_CONFIG_PATH=$lib/pkgconfig pkg-config "$@"; }
[ "$(pc --variable=softfield_version doca-common)" = "$version" ] && [ "$(pc --modversion doca-common)" = 3.0.58 ]
ok 'pkg-config tells the version of Softfield beside that of the API'
told=$(printf '#include <softfield/version.h>\nSOFTFIELD_VERSION\n' | cc -E -P -I"$usr/include" -)
[ "$told" = "\"$version\"" ]
ok 'a header tells it too'
LD_LIBRARY_PATH=$lib "$usr/bin/softfield" --version >"$work/out" && grep -qx "softfield $version, DOCA API 3.0.0058" "$work/out"
ok 'so does softfield --version'
flavours=$lib/softfield/pkgconfig
[ "$(PKG_CONFIG_PATH=$flavours/2.2 pkg-config --modversion doca)" = 2.2.0080 ] &&
	PKG_CONFIG_PATH=$flavours/dpu:$lib/pkgconfig pkg-config --cflags doca-dma | grep -q '/usr/include/softfield/dpu'
ok 'other releases and the DPU have modules below softfield'
grep -q '^ExecStart=/usr/bin/doca_urom_daemon ' "$usr/lib/systemd/system/doca-urom.service" &&
	grep -q 'UROM_PLUGIN_PATH=/usr/lib/some-arch/softfield/urom-plugins$' "$usr/lib/systemd/system/doca-urom.service" &&
	grep -qx 'ExecStart=/usr/bin/softfield node' "$usr/lib/systemd/user/softfield-node.service"
ok 'units of systemd name the programs in /usr'
! grep -rl /usr/local "$DESTDIR" >"$work/out"
ok 'no file names /usr/local'
finish
