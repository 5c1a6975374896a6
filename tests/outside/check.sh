#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: check.sh PREFIX. Uses an installed Softfield as its users do: compiles each public header alone in C and in C++,
# then builds and runs the programs of this folder in both flavours. Prints one line a check and "N passed, N failed".
set -u
prefix=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
. "$here/../support/wait.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() {
	what=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $what"
		sed 's/^/    /' "$work/log" | tail -n 30
	fi
}

alone() { # COMPILER LANGUAGE STANDARD HEADER [FOLDER]
	echo "#include <$4>" |
		"$1" -std="$3" -x "$2" -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API -I"$prefix/include${5:-}" -fsyntax-only -
}

for header in "$prefix"/include/*.h; do
	name=$(basename "$header")
	check "$name alone in C" alone "${CC:-gcc}" c gnu11 "$name"
	check "$name alone in C++" alone "${CXX:-g++}" c++ c++11 "$name"
done

# The GPU's headers as the software GPU compiles them, and as a CUDA program does, where there is an nvcc.
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)
kernel() ( # HEADER
	echo "#include <$1>" >"$work/kernel.cu"
	cd "$prefix/include" && # nvcc's -I takes no quote
		"$nvcc" -DDOCA_ALLOW_EXPERIMENTAL_API -arch=sm_90 -I. -c -o "$work/kernel.o" "$work/kernel.cu"
)
for header in "$prefix"/include/*.cuh; do
	name=$(basename "$header")
	check "$name alone in C" alone "${CC:-gcc}" c gnu11 "$name"
	[ -z "$nvcc" ] || check "$name alone in CUDA" kernel "$name"
done

# The host's halves of UROM's plugins; doca_urom.h includes UCX's headers.
half() { # COMPILER LANGUAGE STANDARD HEADER
	echo "#include <$4>" | "$1" -std="$3" -x "$2" -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API \
		-I"$prefix/include/softfield/urom-plugins" -I"$prefix/include" -fsyntax-only -
}
for header in "$prefix"/include/softfield/urom-plugins/*.h; do
	name=$(basename "$header")
	check "$name alone in C" half "${CC:-gcc}" c gnu11 "$name"
	check "$name alone in C++" half "${CXX:-g++}" c++ c++11 "$name"
done

for release in 1.5 2.2; do
	for header in "$prefix/include/doca-$release"/*.h; do
		name=$(basename "$header")
		check "$release $name alone in C" alone "${CC:-gcc}" c gnu11 "$name" "/doca-$release"
		check "$release $name alone in C++" alone "${CXX:-g++}" c++ c++11 "$name" "/doca-$release"
	done
done

# With the headers of 2.5, today's are searched second.
behind() { # COMPILER LANGUAGE STANDARD HEADER
	echo "#include <$4>" | "$1" -std="$3" -x "$2" -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API \
		-I"$prefix/include/doca-2.5" -I"$prefix/include" -fsyntax-only -
}
for header in "$prefix"/include/doca-2.5/*.h; do
	name=$(basename "$header")
	check "2.5 $name alone in C" behind "${CC:-gcc}" c gnu11 "$name"
	check "2.5 $name alone in C++" behind "${CXX:-g++}" c++ c++11 "$name"
done

export SOFTFIELD_RUNTIME="$work/runtime"
build_outside() { # FOLDER PKG_CONFIG_PATH [SOURCES]
	PKG_CONFIG_PATH=$2 meson setup "$work/$1" "$here/${3:-.}" && ninja -C "$work/$1" && meson test -C "$work/$1" --print-errorlogs
}
pc=$(dirname "$(find "$prefix" -path '*pkgconfig/doca-common.pc' ! -path '*/dpu/*' | head -n 1)")
check "outside programs for the host" build_outside host "$pc"
check "outside programs for the DPU" build_outside dpu "$pc/dpu:$pc"
check "programs of DOCA 1.5 for the host" build_outside host-1.5 "$pc/1.5" 1.5
check "programs of DOCA 1.5 for the DPU" build_outside dpu-1.5 "$pc/dpu/1.5" 1.5
check "programs of DOCA 2.2 for the host" build_outside host-2.2 "$pc/2.2" 2.2
check "programs of DOCA 2.2 for the DPU" build_outside dpu-2.2 "$pc/dpu/2.2" 2.2
check "programs of DOCA 2.5 for the host" build_outside host-2.5 "$pc/2.5" 2.5
check "programs of DOCA 2.5 for the DPU" build_outside dpu-2.5 "$pc/dpu/2.5" 2.5

build_plugin() { PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH=$pc "$here/urom_guide.sh" "$work/plugin"; }
check "a UROM plugin, as in its guide" build_plugin

# README's line, evaluated again so that flags with blanks in a folder's name stay one word.
readme_line() (
	mkdir "$work/readme" && cd "$work/readme" && ln -s "$here/../../samples" samples || exit
	line=$(sed -n '/^    cc /,/-o my_program$/p' "$here/../../README.md" | sed 's/\\$//' | tr '\n' ' ')
	export PKG_CONFIG_PATH="$pc"
	eval "command=\"$line\"" && eval "$command" && ./my_program | grep -q '^copied 17 bytes'
)
check "the program that README compiles" readme_line

# With the service and the plugins of the prefix.
use_halves() (
	PKG_CONFIG_PATH=$pc meson setup "$work/halves" "$here/plugins" && ninja -C "$work/halves" && "$work/halves/halves_cpp" || exit
	"$prefix/bin/doca_urom_daemon" --port 0 --plugin-path "$(dirname "$pc")/softfield/urom-plugins" >"$work/daemon" 2>&1 &
	daemon=$!
	trap 'kill $daemon; wait $daemon' EXIT
	await_line "$daemon" "$work/daemon" 'listening on'
	port=$(sed -n 's/.*listening on .* port \([0-9]*\).*/\1/p' "$work/daemon")
	echo "localhost dpu 127.0.0.1:$port d8:00.0 lo" >"$work/services"
	DOCA_UROM_SERVICE_FILE=$work/services timeout 60 "$work/halves/halves" || { cat "$work/daemon"; exit 1; }
)
check "the host's halves of the UROM plugins" use_halves

echo "outside: $passed passed, $failed failed"
[ "$failed" = 0 ]
