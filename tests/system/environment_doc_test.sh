#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/environment.md lists each variable that the code reads, and no other of ours. Usage: environment_doc_test.sh SOURCE
set -u
cd "$1" || exit 1
read_by_code=$(grep -rhoE 'getenv\("SOFTFIELD_[A-Z_]+"\)' src apps tools bench tests | grep -oE 'SOFTFIELD_[A-Z_]+' | sort -u)
listed=$(grep -oE '^\| `SOFTFIELD_[A-Z_]+`' docs/environment.md | grep -oE 'SOFTFIELD_[A-Z_]+' | sort -u)
[ -n "$read_by_code" ] || { echo 'found no variable in the code'; exit 1; }
if [ "$read_by_code" != "$listed" ]; then
	printf 'the code reads:\n%s\n\ndocs/environment.md lists:\n%s\n' "$read_by_code" "$listed"
	exit 1
fi
