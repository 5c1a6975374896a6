#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages and those of a higher version, and installs, uses, upgrades and purges them in a throwaway root:
# an overlay over this system, so that the machine does not change. Usage: check.sh FOLDER, which keeps the builds.
# Prints a line a check and "packages: N passed, N failed, N skipped". Exits with 77 and one line if tools are missing.
set -u
here=$(dirname "$(realpath "$0")")
skip() {
	echo "packages: skipped: $1"
	exit 77
}
for tool in dpkg-buildpackage dh lintian help2man doxygen mandoc unshare chroot; do
	command -v "$tool" >/dev/null || skip "there is no $tool; scripts/install-dependencies test installs it"
done
as_root=(unshare --mount)
[ "$(id -u)" = 0 ] || as_root+=(--user --map-root-user)
try_root='mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/r &&
	mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r && chroot /mnt/r true'

mkdir -p "$1"
work=$(realpath "$1")
source=$work/source log=$work/log
passed=0 failed=0 skipped=0
check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		echo "ok: $what"
	else
		failed=$((failed + 1))
		echo "FAILED: $what"
		tail -n 30 "$log" | sed 's/^/    /'
	fi
}

add() { # COMMAND...: adds the checks that it prints; its own failure is one if none of them is
	local result what before=$failed
	while read -r result what; do
		case $result in
		ok) passed=$((passed + 1)) ;;
		FAILED) failed=$((failed + 1)) ;;
		*)
			echo "    $result $what"
			continue
			;;
		esac
		echo "$result: $what"
	done < <("$@")
	wait $! || [ "$failed" != "$before" ] || {
		failed=$((failed + 1))
		echo "FAILED: $* ends early"
	}
}
layout() ( # prints the lines of its TAP as root.sh prints its own
	set -o pipefail
	"$here/layout_test.sh" "$here/../.." "$version" "$source/debian/tmp" |
		sed -E '/^1\.\./d; s/^not ok [0-9]+ - /FAILED /; s/^ok [0-9]+ - /ok /'
)

copy_source() {
	rm -rf "$source" "$work"/*.deb
	mkdir "$source" && cd "$here/../.." &&
		tar -cf - --exclude='./build*' --exclude=./.git --exclude=./shared . | tar -xf - -C "$source"
}
build() { # FOLDER ARGUMENT...
	cd "$source" || return
	# compressed least, because nobody downloads them
	DPKG_DEB_COMPRESSOR_LEVEL=1 CC="$(command -v ccache) gcc" DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage -us -uc -b "${@:2}" || return
	rm -rf "${work:?}/$1" && mkdir "$work/$1" && mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$work/$1"
}
higher_version() { # compiles little: only what contains the version
	cd "$source" || return
	sed -i "s/version: '$version'/version: '$higher'/" meson.build && sed -i "s/\"$version\"/\"$higher\"/" include/softfield/version.h &&
		sed -i "1s/$version/$higher/" debian/changelog && rm -rf debian/*.debhelper* debian/.debhelper debian/files && build new -nc
}

version=$(sed -n "s/^ *version: '\([^']*\)',/\1/p" "$here/../../meson.build") higher=99.0.0
check 'the source is copied' copy_source
check 'dpkg-buildpackage' build old
# lintian needs minutes to render the thousand pages of functions; root.sh checks them with mandoc.
lint() {
	local deb others=()
	for deb in "$work"/old/*.deb; do
		[[ $deb == */softfield-doc_* ]] || others+=("$deb")
	done
	lintian --allow-root --fail-on error,warning "${others[@]}" &&
		lintian --allow-root --fail-on error,warning -X documentation/manual "$work"/old/softfield-doc_*.deb
}
[ $failed != 0 ] || add layout
lint >"$work/lint.log" 2>&1 & # it uses one processor
lint=$!
check 'dpkg-buildpackage of a higher version' higher_version
lint_result() { wait "$lint" || ! cat "$work/lint.log"; }
check 'lintian reports nothing' lint_result
if ! "${as_root[@]}" sh -c "$try_root" 2>/dev/null; then
	skipped=$((skipped + 1))
	echo 'skipped: the packages are not installed, because no overlay can be mounted here'
elif [ $failed = 0 ]; then
	add "${as_root[@]}" "$here/root.sh" "$work" "$here/../.." "$version" "$higher"
fi

# Other package formats.
optional() { # TOOL WHAT ARGUMENT...
	if command -v "$1" >/dev/null; then check "$2" "${@:3}"; else echo "no $1: $2 is not checked"; fi
}
cd "$here/../.." || exit 1
spec_version() { rpmspec -q --qf '%{VERSION}\n' packaging/rpm/softfield.spec | sort -u | grep -qx "$version"; }
check 'the RPM spec names every installed file' tests/packages/spec_test.py packaging/rpm/softfield.spec "$source/debian/tmp"
optional rpmspec 'the RPM spec is of this version' spec_version
optional rpmlint 'rpmlint reports nothing' rpmlint --strict -c packaging/rpm/rpmlint.toml packaging/rpm/softfield.spec
optional yamllint 'yamllint reports nothing' yamllint -s -d '{extends: default, rules: {line-length: {max: 130}}}' \
	action.yml packaging/ci/example-workflow.yml
optional actionlint 'actionlint reports nothing' actionlint packaging/ci/example-workflow.yml
# Unoptimized, because the build takes longest.
check 'the GitHub action installs what programs need' env CC="$(command -v ccache) gcc" CFLAGS=-O0 tests/packages/action_test.py . "$work/action"
echo "packages: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
