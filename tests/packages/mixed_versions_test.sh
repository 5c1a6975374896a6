#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Libraries of two versions of Softfield do not work together: the loader reports it before the program runs.
# Usage: ... PROGRAM VERSION OTHER: OTHER is libdoca_common of another version, PROGRAM needs that of VERSION.
set -u
unset LD_LIBRARY_PATH # of meson, with both
program=$1 version=$2 other=$(realpath "$3")
. "$(dirname "$0")/../system/tap.sh"

"$program" --version >"$work/out" 2>&1
ok 'a program runs with its own version'
[ "$(readelf -d "$other" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" = libdoca_common.so.3 ] >"$work/out" 2>&1
ok 'the library of another version has the same name'
mkdir "$work/lib" && ln -s "$other" "$work/lib/libdoca_common.so.3"
! LD_LIBRARY_PATH=$work/lib "$program" --version >"$work/out" 2>&1
ok 'the program does not run with it'
grep -q "version \`SOFTFIELD_PRIVATE_$version' not found (required by " "$work/out"
ok 'and the loader names the version that is missing'
finish
