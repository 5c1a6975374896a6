#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: urom_guide.sh FOLDER, with Softfield's programs in PATH and its libraries in PKG_CONFIG_PATH. Follows docs/urom_plugin.md
# in that folder: each code block becomes the file that the line above it names, then run.sh is run.
set -eu
guide=$(dirname "$(realpath "$0")")/../../docs/urom_plugin.md
mkdir -p "$1"
awk -v folder="$1" '
	/^`[^` ]*`$/ { name = substr($0, 2, length($0) - 2) }
	/^```/ { if (inside) { close(folder "/" name); name = "" } inside = !inside; next }
	inside { if (name == "") exit 1; print > (folder "/" name) }
' "$guide"
cd "$1"
sh ./run.sh >out 2>&1 || { cat out; exit 1; }
cat out
grep -q '^the worker says 42$' out
