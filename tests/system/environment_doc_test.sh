#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/environment.md lists each variable that the code reads, and no other variable of the project; docs/urom_service.md lists
# those of the UROM service.
# Usage: environment_doc_test.sh SOURCE
set -u
cd "$1" || exit 1

# Usage: same WHERE_READ READ WHERE_LISTED LISTED
same() {
	[ -n "$2" ] || { echo "found no variable in $1"; exit 1; }
	[ "$2" = "$4" ] && return
	printf '%s reads:\n%s\n\n%s lists:\n%s\n' "$1" "$2" "$3" "$4"
	exit 1
}

# Privileged programs use the libraries, too.
plain=$(grep -rnE '(^|[^_])getenv\(' src) && { printf 'libraries read the environment by secure_getenv:\n%s\n' "$plain"; exit 1; }

read_by_code=$(grep -rhoE 'getenv\("SOFTFIELD_[A-Z_]+"\)' src apps tools bench tests | grep -oE 'SOFTFIELD_[A-Z_]+' | sort -u)
listed=$(grep -oE '^\| `SOFTFIELD_[A-Z_]+`' docs/environment.md | grep -oE 'SOFTFIELD_[A-Z_]+' | sort -u)
same 'the code' "$(printf '%s\n' "$read_by_code" SOFTFIELD_USER SOFTFIELD_UROM_SERVICE | sort -u)" docs/environment.md "$listed" # not read by getenv

# The library warns about every variable except these and SOFTFIELD_TEST_*.
known=$(sed -n '/known\[\]/,/NULL/p' src/base/environment.c | grep -oE 'SOFTFIELD_[A-Z_]+' | sort -u)
same docs/environment.md "$(echo "$listed" | grep -v '^SOFTFIELD_TEST_')" src/base/environment.c "$known"

folders=$(find src -mindepth 2 -name '*.c' -printf '%h\n' | sed 's:.*/::' | sort -u)
modules=$(sed -n '/names\[\]/,/NULL/p' src/base/log_module.c | grep -oE '"[a-z0-9_]+"' | tr -d '"' | sort -u)
same src "$folders" src/base/log_module.c "$modules"
same src "$folders" docs/environment.md "$(sed -n '/^Modules of/,/^$/p' docs/environment.md | grep -oE '`[a-z0-9_]+`' | tr -d '`' | sort -u)"

read_by_urom=$(grep -rhoE '"(DOCA_)?UROM_[A-Z_]+"' src/urom apps/urom | tr -d '"' | sort -u)
first_fields=$(sed -n 's/^\(| `[A-Z_]*UROM_[^|]*\)|.*/\1/p' docs/environment.md | grep -v SOFTFIELD_)
listed=$(echo "$first_fields" | grep -oE '(DOCA_)?UROM_[A-Z_]+' | sort -u)
same UROM "$read_by_urom" docs/environment.md "$listed"

read_by_daemon=$(grep -oE '"UROM_[A-Z_]+"' apps/urom/daemon/main.c | tr -d '"' | sort -u)
listed=$(grep -oE '\| `UROM_[A-Z_]+` \|' docs/urom_service.md | grep -oE 'UROM_[A-Z_]+' | sort -u)
same doca_urom_daemon "$read_by_daemon" docs/urom_service.md "$listed"
