#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# If the machine lacks something, demo.sh, test.sh and scripts/install-dependencies fail with one line before anything is
# installed. Stand-ins replace the machine's tools: no package is installed, and apt-get records its arguments. Usage: ... SOURCE
set -u
source=$1
. "$(dirname "$0")/tap.sh"

# ---- the machine ----
mkdir "$work/bin"
for tool in bash sh env mktemp rm sed head tail realpath dirname cat chmod true; do
	ln -s "$(type -P $tool)" "$work/bin/$tool"
done
stand_in() { # NAME; the script comes from standard input
	{ echo '#!/bin/bash'; cat; } >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
stand_in dpkg-query <<<'exit 1'
stand_in apt-get <<<"echo \"\$*\" >>'$work/apt'; cat '$work/apt-says'; [[ \$* != *install* ]] || exit \$(cat '$work/apt-status')"
stand_in id <<<"cat '$work/uid'"
machine() { # UID, APT'S STATUS; what apt-get prints comes from standard input
	echo "$1" >"$work/uid"
	echo "$2" >"$work/apt-status"
	cat >"$work/apt-says"
	: >"$work/apt"
	rm -f "$work/bin/sudo"
}
run() { # COMMAND...: its output is kept in a file
	PATH=$work/bin "$@" >"$work/out" 2>&1 </dev/null
}
one_error() { [ "$(grep -c '' "$work/out")" = "$1" ] && tail -n 1 "$work/out" | grep -q "^error: $2"; }
nothing_asked() { [ ! -s "$work/apt" ]; }

install=$source/scripts/install-dependencies

# ---- sudo ----
machine 1000 0 </dev/null
! run "$install" build && one_error 1 '.* packages are missing and there is no sudo; as root: apt-get install -y gcc ' && nothing_asked
ok 'no sudo is one line'

machine 1000 0 </dev/null
stand_in sudo <<<'[ "$1" != -n ] || { echo "sudo: a password is required" >&2; exit 1; }; exec "$@"'
! run "$install" build && one_error 1 '.* and sudo wants a password, without a terminal' && nothing_asked
ok 'sudo that cannot ask for its password is one line'

machine 1000 0 </dev/null
stand_in sudo <<<'[ "$1" != -n ] || shift; exec "$@"'
run "$install" build && grep -q 'install.* gcc ' "$work/apt"
ok 'sudo that asks for nothing installs'

# ---- network ----
machine 0 100 <<'END'
W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.debian.org'
W: Some index files failed to download. They have been ignored, or old ones used instead.
E: Unable to locate package gcc
END
! run "$install" build && one_error 2 "packages cannot be downloaded: Temporary failure resolving 'deb.debian.org'; is there a network?" &&
	! grep -v -- '--download-only' "$work/apt" | grep -q install
ok 'no network is one line, and nothing was installed'

machine 0 0 <<<'W: Some index files failed to download.'
run "$install" build && grep -v -- '--download-only' "$work/apt" | grep -q install
ok 'lists that cannot be updated do no harm while packages can be had'

# ---- what only some tests need ----
installed_but() { # PATTERN of a package that is missing
	stand_in dpkg-query <<<"case \${*: -1} in $1) exit 1 ;; esac; echo installed"
}
if [ "$HOSTTYPE" = x86_64 ]; then
	installed_but 'qemu-*'
	machine 0 100 <<<'E: Unable to locate package qemu-user-static'
	run "$install" test && grep -q '^tests of arm64, packages or completions are skipped: .*Unable to locate package' "$work/out"
	ok 'without the packages that only they need everything else goes on'

	machine 1000 0 </dev/null
	run "$install" test && grep -q '^tests of arm64, packages or completions are skipped: .* no sudo' "$work/out" && nothing_asked
	ok 'nor are they worth a sudo that is not there'
fi
installed_but nothing
machine 0 100 </dev/null
run "$install" test && [ ! -s "$work/out" ] && nothing_asked
ok 'a machine that has all is left alone'
stand_in dpkg-query <<<'exit 1'

# ---- other systems ----
machine 0 0 </dev/null
rm "$work/bin/apt-get"
run "$install" build && [ "$(grep -c '' "$work/out")" = 1 ] && grep -q 'nothing was installed; needed is what Debian calls gcc ' "$work/out"
ok 'without apt-get one line names the packages'
stand_in dnf </dev/null
run "$install" build && [ "$(grep -c '' "$work/out")" = 1 ] && grep -q 'sudo dnf builddep packaging/rpm/softfield.spec$' "$work/out"
ok 'with dnf it names the command'
rm "$work/bin/dnf"

# ---- loopback ----
if unshare -rn true 2>/dev/null; then
	machine 0 0 </dev/null
	line='no loopback network: 127.0.0.1 cannot be reached (Network is unreachable)'
	! run "$(type -P unshare)" -rn "$install" build && one_error 1 "$line" && nothing_asked
	ok 'no loopback is one line'
	BUILD_ROOT=$work/build
	export BUILD_ROOT
	! run "$(type -P unshare)" -rn "$source/test.sh" --quick && one_error 1 "$line" && [ ! -e "$work/build" ] && nothing_asked
	ok 'and test.sh ends with it'
	! run "$(type -P unshare)" -rn "$source/demo.sh" && one_error 1 "$line" && [ ! -e "$work/build" ] && nothing_asked
	ok 'and demo.sh ends with it'
else
	echo '# no network namespaces for this user: loopback is not tried'
fi

finish
