#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --help prints a sample's usage and does nothing else; an unknown option is rejected. Usage: samples_help_test.sh PROGRAM...
set -u
. "$(dirname "$0")/tap.sh"
export SOFTFIELD_RUNTIME=$work/runtime
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # MPI, which two of them use, leaks
mkdir "$work/empty"

in_empty() { (cd "$work/empty" && "$@" >"$work/out" </dev/null); }
prints_usage() { in_empty "$1" --help && head -n 1 "$work/out" | grep -q "^Usage: .*$(basename "$1")"; }
refuses() {
	in_empty "$1" --no-such-option 2>"$work/err"
	[ $? = 1 ]
}

for program in "$@"; do
	name=$(basename "$program")
	program=$(realpath "$program")
	prints_usage "$program" && [ -z "$(ls "$work/empty")" ]
	ok "$name --help"
	refuses "$program"
	ok "$name --no-such-option"
done
finish
