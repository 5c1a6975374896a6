#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that use the paths of NVIDIA's packages find them below /opt/mellanox/doca.
# Usage: ... SOURCE BUILD PREFIX LIBDIR ARCH: BUILD is installed once below a DESTDIR, then the tree is created there.
set -u
source=$1 build=$2 prefix=$3 libdir=$4 arch=$5
. "$(dirname "$0")/tap.sh"
command -v meson >/dev/null || { echo '1..0 # SKIP there is no meson'; exit 0; }
export DESTDIR=$work/stage SOFTFIELD_RUNTIME=$work/runtime
root=$DESTDIR/opt/mellanox/doca
lib=$root/lib/$arch

setup() { meson setup "$work/build" "$source" --prefix="$prefix" --libdir="$libdir" -Dtests=false -Dsamples=false -Dbench=false; }
lay_out() { # RELEASE
	meson setup --reconfigure "$work/build" "$source" -Dopt_mellanox="$1" && meson install -C "$work/build" --no-rebuild --tags opt-mellanox
}
compile() { # COMPILER OUT ARGUMENT...: compiles as a Makefile of that release does
	"$1" -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API -o "$work/$2" "${@:3}"
}
run() { LD_LIBRARY_PATH=$lib "$work/$1" "${@:2}"; }
needs() { readelf -d "$work/$1" | grep -q "NEEDED.*\[lib$2\.so"; }
no_dangling_links() { find "$root" -xtype l >"$work/out" && [ ! -s "$work/out" ]; }
outside=$source/tests/outside

meson install -C "$build" --no-rebuild --quiet >"$work/out" 2>&1 && rm -rf "$DESTDIR/opt/mellanox" &&
	{ setup && lay_out false; } >>"$work/out" 2>&1 && [ ! -e "$DESTDIR/opt/mellanox" ]
ok 'without the option there is no /opt/mellanox'

lay_out 2.2 >"$work/out" 2>&1 && no_dangling_links
ok '2.2: the tree is laid out'
{ [ "$(cat "$root/applications/VERSION")" = 2.2.0080 ] && [ "$(wc -c <"$root/VERSION")" = 8 ]; } >"$work/out" 2>&1
ok '2.2: applications/VERSION and VERSION name the release'
{ compile cc job -I"$root/include" "$outside/2.2/dma_job.c" -L"$lib" -ldoca_common -ldoca_dma -ldoca_argp && run job --flavour host; } \
	>"$work/out" 2>&1 && grep -q 'copied: a text of 2023' "$work/out"
ok '2.2: a program finds headers and libraries by their paths'
{ compile cc job64 -I"$root/include/dpu" -I"$root/include" "$outside/2.2/dma_job.c" "$root/lib64/libdoca_common.so" \
	"$root/lib64/libdoca_dma.so" "$root/lib64/libdoca_argp.so" && run job64 --flavour dpu; } >"$work/out" 2>&1
ok '2.2: a program of the DPU finds the libraries by file, in lib64'
{ compile c++ headers -std=c++11 -I"$root/include" "$outside/2.2/all_headers.cpp" -L"$lib" -ldoca_common -ldoca_dma -ldoca_argp \
	-ldoca_sha -ldoca_comm_channel && run headers host; } >"$work/out" 2>&1
ok '2.2: each header and library is there'
[ "$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion doca 2>"$work/out")" = 2.2.0080 ]
ok '2.2: so is the module for pkg-config'

{ lay_out 1.5 && no_dangling_links && [ "$(cat "$root/VERSION")" = 1.5.0055 ] && compile cc job -I"$root/include" \
	"$outside/1.5/dma_job.c" -L"$lib" -ldoca_common -ldoca_dma -ldoca_argp && needs job doca_1_5 && run job --flavour host; } >"$work/out" 2>&1
ok '1.5: a program finds headers and libraries by their paths'

{ lay_out 2.5 && no_dangling_links && compile cc pair -I"$root/include" "$outside/2.5/pair.c" -L"$lib" -ldoca_common -ldoca_argp \
	-ldoca_rdma -ldoca_dma -ldoca_comm_channel && needs pair doca_2_5; } >"$work/out" 2>&1
ok '2.5: a program finds headers and libraries by their paths'

{ lay_out true && no_dangling_links && [ ! -e "$root/include/doca_bufpool.h" ] && compile cc copy -I"$root/include" \
	-I"$source/samples" "$source"/samples/{dma_local_copy,dma_common,common}.c -L"$lib" -ldoca_common -ldoca_dma && run copy &&
	! needs copy doca_2_2; } >"$work/out" 2>&1
ok 'today: a program finds headers and libraries by their paths, and no earlier ones'
{ compile cc job -I"$root/include/doca-2.2" "$outside/2.2/dma_job.c" -L"$lib" -ldoca_common -ldoca_dma -ldoca_argp &&
	run job --flavour host; } >"$work/out" 2>&1
ok 'today: a program of 2.2 links the same names with the headers of its release'
"$root/tools/doca_caps" --help >"$work/out" 2>&1
ok 'today: the tools are there'

rm "$root/.softfield" "$lib/libdoca_common.so" && echo theirs >"$lib/libdoca_common.so"
! lay_out true >"$work/out" 2>&1 && grep -q 'holds another DOCA: move it' "$work/out" && grep -qx theirs "$lib/libdoca_common.so"
ok 'another DOCA in that place is left alone'

rm -r "$root" && mkdir -p "$root" && echo theirs >"$root/VERSION"
{ ! lay_out true && ! lay_out 2.2; } >"$work/out" 2>&1 && grep -q 'VERSION is in the way' "$work/out" && grep -qx theirs "$root/VERSION"
ok 'so is a file of another installation, however often one installs'
rm "$root/VERSION" && lay_out true >"$work/out" 2>&1 && no_dangling_links && [ -s "$root/VERSION" ]
ok 'the next installation completes an interrupted one'

! meson setup "$work/refused" "$source" --prefix=/opt/mellanox/doca -Dopt_mellanox=true -Dtests=false >"$work/out" 2>&1 &&
	grep -q 'ERROR: .*the prefix must be another folder' "$work/out"
ok 'the prefix may not be the tree itself'

finish
