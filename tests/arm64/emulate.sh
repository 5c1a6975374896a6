#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command in a user namespace of its own in which the kernel starts arm64 programs by qemu-user. Usage: emulate.sh FOLDER COMMAND...
# FOLDER was made by build.sh. Exit status 77: this kernel (before 6.7) or this user cannot make such a namespace.
set -euo pipefail
folder=$(realpath "$1")
shift
# ELF of 64 bits, little-endian, an executable or a shared object, machine 183. F: the emulator is opened now. P: argv[0] is kept.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
export SOFTFIELD_EMULATOR=":arm64:M::$magic:$mask:$(command -v qemu-aarch64-static):FP"
export LD_LIBRARY_PATH=$folder/root/usr/lib/aarch64-linux-gnu # programs of another architecture skip its libraries
export SOFTFIELD_TEST_SLOW=1
# shellcheck disable=SC2016
exec unshare --user --map-root-user --mount bash -c '
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null || exit 77
	printf %s "$SOFTFIELD_EMULATOR" >/proc/sys/fs/binfmt_misc/register || exit 77
	unset SOFTFIELD_EMULATOR
	exec "$@"' - "$@"
