#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The part of check.sh in a mount namespace: installs, uses, upgrades and purges the packages in an overlay of this system.
# Usage: root.sh WORK SOURCE VERSION HIGHER. Prints "ok WHAT" or "FAILED WHAT", with the output of what failed.
set -u
work=$1 source=$(realpath "$2") version=$3 higher=$4
# The overlay's upper folder is in memory of this namespace, and is gone with it.
mount -t tmpfs tmpfs /mnt && mkdir /mnt/{upper,work,root,log} && mount -t overlay overlay \
	-o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root || { echo 'FAILED a throwaway root'; exit 1; }
root=/mnt/root
mount --rbind /dev $root/dev && mount --rbind /proc $root/proc && mkdir -p $root/packages/programs &&
	mount --bind "$work" $root/packages && mount -t tmpfs tmpfs $root/tmp && mkdir $root/tmp/{use,source} &&
	cp -r "$source/samples" "$source/tests" $root/tmp/source || { echo 'FAILED a throwaway root'; exit 1; }
printf '#!/bin/sh\nexit 101\n' >$root/usr/sbin/policy-rc.d && chmod +x $root/usr/sbin/policy-rc.d # start nothing

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >/mnt/log/out 2>&1; then
		echo "ok $what"
	else
		echo "FAILED $what"
		tail -n 30 /mnt/log/out | sed 's/^/    /'
	fi
}
inside() { chroot $root env -i PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin HOME=/tmp SOFTFIELD_RUNTIME=/tmp/runtime LC_ALL=C "$@"; }
shell() { inside bash -c "set -e; cd /tmp/use; $1"; }
names='libsoftfield3 libsoftfield-dev softfield-tools softfield-urom softfield-doc'
files() { (cd $root && find etc usr lib var/lib/systemd opt -xdev 2>/dev/null | grep -vE '^var/lib/dpkg|^etc/ld.so.cache|/__pycache__' | sort); }
left_of() { # BEFORE AFTER
	diff /mnt/log/before /mnt/log/after
}

files >/mnt/log/before
check 'the packages install' inside sh -c 'dpkg -i /packages/old/*.deb'
check 'dpkg verifies every file' shell "for name in $names; do [ -z \"\$(dpkg --verify \$name)\" ]; done"
check 'programs report the version' shell "softfield --version | grep -qx 'softfield $version, DOCA API 3.0.0058' && doca_caps --list-devs"
check 'they provide libdoca-sdk-common-dev' shell \
	"dpkg-query -W -f '\${Provides}' libsoftfield-dev | grep -q 'libdoca-sdk-common-dev (= 3.0.58)'"
check 'nothing has a RUNPATH' shell \
	"! dpkg -L $names | grep -E '/bin/|\\.so' | xargs -r readelf -d 2>/dev/null | grep -E 'R(UN)?PATH'"
check 'a program compiles and runs' shell "cc -DDOCA_ALLOW_EXPERIMENTAL_API -o copy /tmp/source/samples/{dma_local_copy,dma_common,common}.c \
	\$(pkg-config --cflags --libs doca-dma) && ./copy | grep '^copied 17 bytes' && ! readelf -d copy | grep RUNPATH"
check 'a program of the DPU does too' shell "PKG_CONFIG_PATH=\$(pkg-config --variable=libdir doca-common)/softfield/pkgconfig/dpu; \
	export PKG_CONFIG_PATH; cc -o flavour /tmp/source/tests/packages/cmake/flavour.c \$(pkg-config --cflags --libs doca-common) && \
	./flavour | grep -qx 'DPU, DOCA_SUCCESS'"
check 'a program of DOCA 2.2 does too' shell "PKG_CONFIG_PATH=\$(pkg-config --variable=libdir doca-common)/softfield/pkgconfig/2.2; \
	export PKG_CONFIG_PATH; cc -DDOCA_ALLOW_EXPERIMENTAL_API -o job /tmp/source/tests/outside/2.2/dma_job.c \$(pkg-config --cflags --libs doca) && \
	./job --flavour host | grep 'copied: a text of 2023'"
if command -v cmake >/dev/null; then
	check 'CMake finds it' shell "cmake -S /tmp/source/tests/packages/cmake -B cmake -DSAMPLES=/tmp/source/samples -DDPU=OFF -DSTATIC=OFF && \
		cmake --build cmake && cmake/copy | grep '^copied 17 bytes'"
fi
check 'the services are installed but not enabled' shell "[ -f /lib/systemd/system/doca-urom.service ] && \
	[ -f /usr/lib/systemd/user/softfield-node.service ] && [ -z \"\$(find /etc/systemd -name 'doca-urom*' -o -name 'softfield-node*')\" ]"
check 'the service runs as its unit defines' shell "unit=/lib/systemd/system/doca-urom.service; mkdir -m 700 -p runtime
	export SOFTFIELD_RUNTIME=\$PWD/runtime \$(sed -n 's/^Environment=\\(UROM_PLUGIN_PATH=.*\\)/\\1/p' \$unit)
	\$(sed -n 's/^ExecStart=\\([^ ]*\\).*/\\1/p' \$unit) --port 0 >daemon 2>&1 & daemon=\$!
	timeout 20 sh -c 'until grep -q \"listening on\" daemon; do kill -0 '\$daemon'; done' || { cat daemon; exit 1; }
	kill \$daemon; wait \$daemon || true; cat daemon; grep -q worker_graph daemon"
check 'manual pages are installed' shell 'for name in softfield softfield-perf doca_caps doca_urom_daemon; do [ -s /usr/share/man/man1/$name.1.gz ]; done
	for name in doca_dma_create softfield_gpu_launch doca_rdma.h; do [ -s /usr/share/man/man3/$name.3.gz ]; done'
check 'the page of a function has its parameters and errors' shell 'zcat /usr/share/man/man3/doca_buf_inventory_create.3.gz >page
	grep -x ".SH PARAMETERS" page && grep -x ".I num_elements" page && grep -x ".B DOCA_ERROR_INVALID_VALUE" page'
check 'every function, also of earlier releases, has a page with its arguments and errors, and the reference has the programs' \
	python3 "$source/tests/packages/manual_test.py" "$source" $root/usr/share/man $root/usr/share/doc/softfield-doc/html
check 'mandoc reports nothing for the pages' shell 'mkdir pages; cp $(dpkg -L softfield-doc softfield-tools softfield-urom | grep "/man[13]/.*gz") pages
	gunzip pages/*; ! mandoc -T lint -W warning pages/* | grep -v "cannot parse date"'
check 'the reference is installed, with its search' shell '[ -s /usr/share/doc/softfield-doc/html/index.html ] &&
	ls /usr/share/doc/softfield-doc/html/search/*.js >/dev/null'
check 'completions are installed' shell 'for name in softfield doca_caps doca_urom_daemon; do [ -s /usr/share/bash-completion/completions/$name ] &&
	[ -s /usr/share/zsh/vendor-completions/_$name ] && [ -s /usr/share/fish/vendor_completions.d/$name.fish ]; done'

# Another DOCA: the same names in a prefix of its own, which the loader searches.
other_doca() { # MAJOR, as its soname has it
	shell "major=$1"'; mkdir -p /opt/mellanox/doca/lib/some-arch/pkgconfig /opt/mellanox/doca/include; cd /opt/mellanox/doca
	echo "const char *doca_error_get_name(int error) { (void)error; return \"theirs\"; }" >/tmp/use/theirs.c
	echo "DOCA_3 { global: doca_*; local: *; };" >/tmp/use/theirs.map
	cc -shared -fPIC -Wl,-soname,libdoca_common.so.$major -Wl,--version-script,/tmp/use/theirs.map -o lib/some-arch/libdoca_common.so.$major \
		/tmp/use/theirs.c && ln -sf libdoca_common.so.$major lib/some-arch/libdoca_common.so
	echo "const char *doca_error_get_name(int error);" >include/doca_error.h; echo "enum { DOCA_SUCCESS };" >>include/doca_error.h
	printf "Name: x\nDescription: x\nVersion: 2\nLibs: -L/opt/mellanox/doca/lib/some-arch -ldoca_common\nCflags: -I/opt/mellanox/doca/include\n" \
		>lib/some-arch/pkgconfig/doca-common.pc
	echo /opt/mellanox/doca/lib/some-arch >/etc/ld.so.conf.d/doca.conf; ldconfig'
}
check 'another DOCA is installed' other_doca 2
check 'each program loads the DOCA that it was compiled for' shell "\
	cc -o theirs /tmp/source/tests/packages/cmake/flavour.c \$(PKG_CONFIG_PATH=/opt/mellanox/doca/lib/some-arch/pkgconfig \
		pkg-config --cflags --libs doca-common) && ./theirs | grep -qx 'host, theirs'
	cc -o ours /tmp/source/tests/packages/cmake/flavour.c \$(pkg-config --cflags --libs doca-common) && ./ours | grep -qx 'host, DOCA_SUCCESS'
	softfield --version"
check 'another DOCA has the same soname' other_doca 3
check 'no program runs with the wrong one' shell "\
	cc -o theirs /tmp/source/tests/packages/cmake/flavour.c \$(PKG_CONFIG_PATH=/opt/mellanox/doca/lib/some-arch/pkgconfig \
		pkg-config --cflags --libs doca-common)
	first=\$(ldconfig -p | sed -n 's/.*libdoca_common.so.3 .*=> //p' | head -n 1); echo \$first is the first
	./ours >out 2>&1 || true; cat out; grep -qx 'host, DOCA_SUCCESS' out || grep 'version .SOFTFIELD_3.0. not found' out
	./theirs >out 2>&1 || true; cat out; grep -qx 'host, theirs' out || grep 'version .DOCA_3. not found' out
	LD_LIBRARY_PATH=\$(pkg-config --variable=libdir doca-common) ./ours | grep -qx 'host, DOCA_SUCCESS'
	LD_LIBRARY_PATH=/opt/mellanox/doca/lib/some-arch ./theirs | grep -qx 'host, theirs'"
rm -rf $root/opt/mellanox/doca $root/etc/ld.so.conf.d/doca.conf && rmdir --ignore-fail-on-non-empty $root/opt/mellanox && inside ldconfig

check 'tools with other libraries do not load' shell "dpkg -i /packages/new/libsoftfield3_*.deb
	! softfield --version >out 2>&1; grep \"version .SOFTFIELD_PRIVATE_$version' not found\" out"
check 'and apt reports it' shell "! apt-get check >out 2>&1; grep 'softfield-tools : Depends: libsoftfield3 (= $version' out"
check 'a program still runs with newer libraries' shell "./copy | grep '^copied 17 bytes'"
echo '# mine' >>$root/etc/default/doca-urom
check 'the packages are upgraded' inside sh -c 'dpkg -i --force-confold /packages/new/*.deb'
check 'programs report the higher version' shell "softfield --version | grep -qx 'softfield $higher, DOCA API 3.0.0058' && \
	[ \"\$(pkg-config --variable=softfield_version doca-common)\" = $higher ]"
check 'the settings of the service are kept' shell "grep -qx '# mine' /etc/default/doca-urom"
check 'a program still runs after the upgrade' shell "./copy | grep '^copied 17 bytes'"
check 'the packages are removed' inside sh -c "dpkg -r $names"
check 'the settings are still there' shell '[ -f /etc/default/doca-urom ]'
check 'the packages are purged' inside sh -c "dpkg -P $names"
files >/mnt/log/after
check 'nothing is left' left_of
