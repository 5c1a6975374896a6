#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What an installation in /usr, below a DESTDIR, contains: no generic names, no paths in the binaries, and the version.
# Part of check.sh, which builds the packages from it. Usage: ... SOURCE VERSION DESTDIR.
set -u
source=$1 version=$2
. "$(dirname "$0")/../system/tap.sh"
export DESTDIR=$3
usr=$DESTDIR/usr
libdir=$(cd "$DESTDIR" && dirname usr/lib/*/pkgconfig)
lib=$DESTDIR/$libdir

others=$(cd "$usr/include" && find . -mindepth 1 -maxdepth 1 | grep -vE '^\./(doca_[a-z0-9_]+\.(h|cuh)|doca-(1\.5|2\.[25])|softfield)$')
[ -d "$usr/include/softfield/dpu" ] && [ -z "$others" ]
ok "include contains only doca_*, doca-* and softfield: $others"
others=$(cd "$lib" && find . -mindepth 1 | grep -vE '^\./(libdoca_|softfield|pkgconfig(/(doca|urom)-[a-z-]*\.pc)?$|cmake(/DOCA(/|$)|$))')
[ -d "$lib/softfield/urom-plugins" ] && [ -z "$others" ]
ok "lib contains only libdoca_*, softfield and files of pkg-config and CMake: $others"
find "$DESTDIR" -type f \( -perm /111 -o -name '*.so*' \) -exec readelf -d {} \; 2>/dev/null >"$work/out"
grep -q NEEDED "$work/out" && ! grep -E 'R(UN)?PATH' "$work/out"
ok 'no binary has a RUNPATH'
! grep -rlE -- '-rpath' "$usr/lib" >"$work/out"
ok 'and pkg-config adds none to programs'

pc() { PKG_CONFIG_SYSROOT_DIR=$DESTDIR PKG_CONFIG_PATH=$lib/pkgconfig pkg-config "$@"; }
[ "$(pc --variable=softfield_version doca-common)" = "$version" ] && [ "$(pc --modversion doca-common)" = 3.0.58 ]
ok 'pkg-config has the versions of Softfield and of the API'
found=$(printf '#include <softfield/version.h>\nSOFTFIELD_VERSION\n' | cc -E -P -I"$usr/include" -)
[ "$found" = "\"$version\"" ]
ok 'a header has it too'
LD_LIBRARY_PATH=$lib "$usr/bin/softfield" --version >"$work/out" && grep -qx "softfield $version, DOCA API 3.0.0058" "$work/out"
ok 'so has softfield --version'
[ "$(sed -n '1s/^softfield (\([^)]*\)).*/\1/p' "$source/debian/changelog")" = "$version" ] &&
	grep -qx "## $version" "$source/CHANGELOG.md" && grep -qx "Version: *$version" "$source/packaging/rpm/softfield.spec"
ok 'the changelogs and the RPM spec have it'
flavours=$lib/softfield/pkgconfig
[ "$(PKG_CONFIG_PATH=$flavours/2.2 pkg-config --modversion doca)" = 2.2.0080 ] &&
	PKG_CONFIG_PATH=$flavours/dpu:$lib/pkgconfig pkg-config --cflags doca-dma | grep -q '/usr/include/softfield/dpu'
ok 'other releases and the DPU have modules below softfield'
grep -q '^ExecStart=/usr/bin/doca_urom_daemon ' "$usr/lib/systemd/system/doca-urom.service" &&
	grep -q "UROM_PLUGIN_PATH=/$libdir/softfield/urom-plugins$" "$usr/lib/systemd/system/doca-urom.service" &&
	grep -qx 'ExecStart=/usr/bin/softfield node' "$usr/lib/systemd/user/softfield-node.service"
ok 'units of systemd refer to the programs in /usr'
completed=0
for program in "$usr"/bin/*; do
	name=${program##*/}
	[ "$name" = doca_urom_worker ] || { [ -s "$usr/share/bash-completion/completions/$name" ] &&
		[ -s "$usr/share/zsh/site-functions/_$name" ] && [ -s "$usr/share/fish/vendor_completions.d/$name.fish" ]; } || completed=1
done
[ $completed = 0 ]
ok 'bash, zsh and fish complete each program but the worker, which the daemon starts'
! grep -rl /usr/local "$DESTDIR" >"$work/out"
ok 'no file refers to /usr/local'

PKG_CONFIG_SYSROOT_DIR=$DESTDIR PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib \
	"$(dirname "$0")/api_table_test.py" "$source" >"$work/out" 2>&1
ok 'the libraries with a table in docs/api have all of its names'

# Programs that are linked with it.
samples=("$source"/samples/{dma_local_copy,dma_common,common}.c)
cc -DDOCA_ALLOW_EXPERIMENTAL_API -static -o "$work/static" "${samples[@]}" $(pc --static --cflags --libs doca-dma) >"$work/out" 2>&1 &&
	! readelf -d "$work/static" | grep -q NEEDED
ok 'a program is linked statically'
SOFTFIELD_LOG=rubbish "$work/static" >"$work/out" 2>&1 && grep -q '^copied 17 bytes' "$work/out"
ok 'it runs'
grep -q 'SOFTFIELD_LOG is "rubbish": set it to' "$work/out"
ok 'and has the constructors of sources that nothing refers to'
public=$(nm -g --defined-only "$lib"/libdoca_*.a | grep -E '^[0-9a-f]+ [A-Z]' | grep -vE ' (doca|softfield|sf|urom)_')
[ -z "$public" ]
ok "static libraries define no other global names: $public"

if command -v cmake >/dev/null; then
	for kind in host-OFF-OFF DPU-ON-OFF host-OFF-ON; do
		IFS=- read -r side dpu static <<<"$kind"
		{ cmake -S "$source/tests/packages/cmake" -B "$work/$kind" -DSAMPLES="$source/samples" -DDPU="$dpu" -DSTATIC="$static" \
			-DDOCA_DIR="$lib/cmake/DOCA" && cmake --build "$work/$kind"; } >"$work/out" 2>&1 &&
			"$work/$kind/copy" >>"$work/out" 2>&1 && "$work/$kind/flavour" | grep -qx "$side, DOCA_SUCCESS"
		ok "CMake finds it, for the $side, static $static"
	done
fi
finish
