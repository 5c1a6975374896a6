#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what the tests need, builds everything and tests it: gcc and clang, sanitizers, threads, fuzz targets, programs for
# arm64 beside those for x86, packages, and an installed copy as a user would use it.
# Usage: ./test.sh [--quick] (only the first step, without the suite `slow`).
#   FUZZ_SECONDS  how long each fuzz target runs (6)
#   BUILD_ROOT    where the builds go (build-test in this folder)
set -uo pipefail
cd "$(dirname "$(realpath "$0")")" || exit 1

quick=false
case "$*" in
'') ;;
--quick) quick=true ;;
*)
	echo "usage: ./test.sh [--quick]; not: $*" >&2
	exit 2
	;;
esac
root=${BUILD_ROOT:-$PWD/build-test}
fuzz_seconds=${FUZZ_SECONDS:-6}
latest=4200 # seconds after the start; a step of the last ones that would begin later is skipped
passed=0 failed=0 skipped=0
failures=() # printed again at the end, because the log is long
SOFTFIELD_RUNTIME=$(mktemp -d)
export SOFTFIELD_RUNTIME
chmod 700 "$SOFTFIELD_RUNTIME"
trap 'rm -rf "$SOFTFIELD_RUNTIME"' EXIT

scripts/install-dependencies test || exit 1
mkdir -p "$root"

title() { printf '\n== %s (after %d s)\n' "$1" "$SECONDS"; }

# For the last steps, which a slow machine leaves out.
begin() { # TITLE
	title "$1"
	[ "$SECONDS" -gt "$latest" ] || return 0
	echo "skipped: it would begin later than after $latest s"
	skipped=$((skipped + 1))
	return 1
}

broken() {
	failed=$((failed + 1))
	failures+=("$1")
	echo "FAILED: $1"
}

# Adds meson's own counts of the last run to ours.
count() { # BUILD
	local log=$1.test.log
	passed=$((passed + $(sed -n 's/^Ok: *\([0-9]*\).*/\1/p' "$log" | tail -n 1)))
	failed=$((failed + $(awk '/^(Fail|Timeout|Unexpected Pass): */ {n += $NF} END {print n + 0}' "$log")))
	skipped=$((skipped + $(awk '/^Skipped: */ {n += $NF} END {print n + 0}' "$log")))
	mapfile -t -O "${#failures[@]}" failures < <(failed_tests "$1/meson-logs/testlog.json")
}

# Prints the failed tests of meson's log, each with the lines around its first error, or its last ones.
failed_tests() { # LOG
	python3 - "$1" <<-'END'
		import json, re, sys
		error = re.compile(r'FAILED|Traceback|Error|ERROR|not ok|runtime error|ThreadSanitizer')
		for line in open(sys.argv[1]):
		    test = json.loads(line)
		    if test['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL'):
		        print(f"{test['name']}: {test['result']}")
		        said = (test.get('stdout', '') + test.get('stderr', '')).splitlines()
		        first = next((i for i, words in enumerate(said) if error.search(words)), len(said) - 15)
		        print(*('    ' + words for words in said[max(0, first - 5):][:60]), sep='\n')
	END
}

# Programs and tests must work in a folder with blanks in its name.
build_all=true # false: the test runner builds only what its tests need
targets=()     # empty: all
configure() { # NAME COMPILER ARGS...
	local build=$root/$1 compiler=$2
	shift 2
	[ -f "$build/build.ninja" ] || CC=$compiler meson setup "$build" "$@" >"$build.setup.log" 2>&1 || {
		tail -n 20 "$build.setup.log"
		return 1
	}
	$build_all || return 0
	ninja -C "$build" "${targets[@]}" >"$build.ninja.log" 2>&1 || {
		grep -E 'error|FAILED|warning' -A 6 "$build.ninja.log" | head -n 60
		return 1
	}
}

runner=() # a command that runs the test runner
run_tests() { # NAME ARGS...
	local build=$root/$1
	shift
	# More than there are CPUs, because many tests wait.
	"${runner[@]}" meson test -C "$build" $($build_all && echo --no-rebuild) --print-errorlogs --num-processes $((2 * $(nproc) + 1)) "$@" >"$build.test.log" 2>&1
	grep -vE '^(ninja|$)' "$build.test.log" | tail -n 400
	grep -q '^Ok:' "$build.test.log" || broken "the test runner stopped early"
	count "$build"
}

# On some virtual machines a page fault takes ten times as long as elsewhere, and so do tests of processes and of large memory.
pages_are_slow() {
	python3 - <<-'END'
		import mmap, sys, time
		def fault_us(pages=16384):
		    memory = mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
		    begin = time.monotonic()
		    for at in range(0, len(memory), mmap.PAGESIZE):
		        memory[at] = 1
		    return (time.monotonic() - begin) * 1e6 / pages
		us = min(fault_us() for _ in range(3))
		print(f'a page fault takes {us:.1f} us')
		sys.exit(us < 5)
	END
}
patience=() not_slow=()
if pages_are_slow; then
	echo 'this machine is slow: shorter stresses, longer limits; AddressSanitizer without the suite slow'
	export SOFTFIELD_TEST_SLOW=1
	patience=(--timeout-multiplier 3) not_slow=(--no-suite slow)
fi

gcc="gcc build" prefix="$root/a stranger's prefix"
title 'gcc, all tests'
if configure "$gcc" gcc --prefix="$prefix" -Dbuildtype=debugoptimized; then
	# shellcheck disable=SC2046
	run_tests "$gcc" --no-suite arm64 "${patience[@]}" $($quick && echo --no-suite slow)
else
	broken 'build with gcc'
fi

if ! $quick; then
	title 'an installed copy, used by programs outside'
	if ninja -C "$root/$gcc" install >"$root/install.log" 2>&1; then
		if tests/outside/check.sh "$prefix" | tee "$root/outside.log"; then
			passed=$((passed + $(sed -n 's/^outside: \([0-9]*\) passed.*/\1/p' "$root/outside.log")))
		else
			broken 'outside programs'
		fi
	else
		tail -n 20 "$root/install.log"
		broken 'install'
	fi

	title 'musl, and headers of older systems: every source compiles'
	if tests/headers/check.py "$root/$gcc" | tee "$root/headers.log"; then
		passed=$((passed + $(sed -n 's/^headers: \([0-9]*\) passed.*/\1/p' "$root/headers.log")))
		skipped=$((skipped + $(sed -n 's/^headers: .* \([0-9]*\) skipped$/\1/p' "$root/headers.log")))
	else
		broken 'older headers'
	fi

	# nvcc compiles the kernels without sanitizers: once is enough. Reports need lines, and -g, a sixth of the time, adds types.
	sanitized=(-Dbuildtype=debugoptimized -Dcuda=disabled -Dc_args=-g1)
	title 'clang, AddressSanitizer and UndefinedBehaviorSanitizer, all tests'
	export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
	if configure asan clang "${sanitized[@]}" -Db_sanitize=address,undefined; then
		run_tests asan --no-suite arm64 --no-suite sources --no-suite again "${not_slow[@]}" --timeout-multiplier 4
	else
		broken 'build with clang and sanitizers'
	fi

	title 'clang, ThreadSanitizer: the fabric, GPU rings, engines and all else that has threads'
	export TSAN_OPTIONS=halt_on_error=1
	build_all=false
	if configure tsan clang "${sanitized[@]}" -Db_sanitize=thread; then
		run_tests tsan --timeout-multiplier 6 --suite fabric --suite threads --no-suite slow
	else
		broken 'build with ThreadSanitizer'
	fi
	build_all=true

	title "fuzz targets, $fuzz_seconds s each"
	targets=(fuzz_targets)
	if configure fuzz clang "${sanitized[@]}" -Db_sanitize=address,undefined -Dfuzz=true; then
		fuzz_one() { # PROGRAM
			local name log corpus
			name=$(basename "$1") corpus=$root/fuzz-corpus/$(basename "$1") log=$root/$(basename "$1").log
			mkdir -p "$corpus"
			local seeds=tests/fuzz/corpus/${name%_fuzz}
			[ -d "$seeds" ] || seeds=
			# shellcheck disable=SC2086
			if "$1" -max_total_time="$fuzz_seconds" -timeout=20 -rss_limit_mb=4096 -artifact_prefix="$root/$name-" \
				"$corpus" $seeds >"$log" 2>&1; then
				echo "ok: $name, $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$log")"
			else
				echo "FAILED: $name"
				tail -n 40 "$log" | sed 's/^/    /'
			fi
		}
		sockets_one() { # CLASS of listening_sockets_test.py
			local log=$root/sockets-$1.log test=(tests/system/sockets/listening_sockets_test.py "$1") plugins=$root/asan/plugins
			local -x SOCKETS_PROGRAMS=$root/asan/tests/system/sockets REMOTE_OFFLOAD_PROGRAMS=$root/asan/apps/remote_offload
			local -x UROM_DAEMON=$root/asan/apps/urom/doca_urom_daemon
			local -x UROM_PLUGIN_PATH="$plugins/graph;$plugins/sandbox;$plugins/rdmo;$plugins/allreduce"
			[ "$1" != Urom ] || test=(tests/urom/door_test.py local "$UROM_DAEMON" "$root/asan/tests/urom/urom_talker")
			if python3 "${test[@]}" "$fuzz_seconds" >"$log" 2>&1; then
				echo "ok: listening sockets of $1, $(grep -o '^[0-9]* rounds of [0-9]* attacks' "$log")"
			else
				echo "FAILED: listening sockets of $1"
				tail -n 40 "$log" | sed 's/^/    /'
			fi
		}
		export -f fuzz_one sockets_one
		export root fuzz_seconds
		find "$root/fuzz/tests/fuzz" -maxdepth 1 -name '*_fuzz' -type f | sort |
			xargs -r -P "$(nproc)" -I{} bash -c 'fuzz_one {}' | tee "$root/fuzz.log"
		printf '%s\n' Comch Rdma Verbs Offload Node Urom | xargs -P "$(nproc)" -I{} bash -c 'sockets_one {}' | tee -a "$root/fuzz.log"
		passed=$((passed + $(grep -c '^ok:' "$root/fuzz.log")))
		while read -r line; do
			broken "$line"
			mapfile -t -O "${#failures[@]}" failures < <(tail -n 25 "$root/${line/listening sockets of /sockets-}.log" | sed 's/^/    /')
		done < <(sed -n 's/^FAILED: //p' "$root/fuzz.log")
	else
		broken 'build of the fuzz targets'
	fi
	targets=()

	if begin 'packages: built, installed in a throwaway root, used, upgraded and purged'; then
		tests/packages/check.sh "$root/packages" | tee "$root/packages.log"
		case ${PIPESTATUS[0]} in
		0)
			passed=$((passed + $(sed -n 's/^packages: \([0-9]*\) passed.*/\1/p' "$root/packages.log")))
			skipped=$((skipped + $(sed -n 's/^packages: .* \([0-9]*\) skipped$/\1/p' "$root/packages.log")))
			;;
		77) skipped=$((skipped + 1)) ;;
		*) broken 'packages' ;;
		esac
	fi

	if ! begin 'programs for arm64, by an emulator, beside those for x86'; then
		:
	elif [ "$(uname -m)" != x86_64 ]; then
		echo 'skipped: this machine is not x86-64'
		skipped=$((skipped + 1))
	else
		tests/arm64/build.sh "$root/arm64"
		case $? in
		0)
			SOFTFIELD_TEST_ARM64=$root/arm64 run_tests "$gcc" --suite arm64
			if ! begin 'tests of arm64, by the emulator alone'; then
				:
			elif tests/arm64/emulate.sh "$root/arm64" true; then
				runner=(tests/arm64/emulate.sh "$root/arm64") build_all=false
				run_tests arm64/build --suite api --suite fabric --no-suite slow --no-suite sources --timeout-multiplier 4
				runner=() build_all=true
			else
				echo 'skipped: it takes a user namespace with binfmt_misc, of Linux 6.7 or later'
				skipped=$((skipped + 1))
			fi
			;;
		77) skipped=$((skipped + 1)) ;;
		*) broken 'build for arm64' ;;
		esac
	fi
fi

echo
[ "$failed" = 0 ] || { echo 'These failed:' && printf '  %s\n' "${failures[@]}"; }
echo "took $SECONDS s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
