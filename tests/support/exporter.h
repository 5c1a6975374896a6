/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of another process: a test starts its own program again as the exporter, which has a memory map on the host's function,
 * sends its descriptor over a socket, and obeys commands from it. Include it after cmocka. The exporter's functions use CHECK.
 */
#ifndef TEST_EXPORTER_H
#define TEST_EXPORTER_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "support/check.h"
#include "support/test_dev.h"

#define EXPORTER_DEVICE "d8:00.0" /* a function of the host */
#define EXPORTER_DESCRIPTOR_MAX 4096

/* What the exporter sends. */
struct exported {
	uint64_t addr;
	size_t descriptor_len;
	uint8_t descriptor[EXPORTER_DESCRIPTOR_MAX];
};

/* ---- in the exporter ---- */

/* Creates a memory map and sends what an importer needs. */
static inline struct doca_mmap *exporter_export(int socket, struct doca_dev *dev, uint8_t *start, size_t len,
						uint32_t permissions)
{
	struct exported exported = {.addr = (uintptr_t)start};
	const void *descriptor;
	struct doca_mmap *mmap;

	CHECK(doca_mmap_create(&mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_add_dev(mmap, dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_memrange(mmap, start, len) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_permissions(mmap, permissions) == DOCA_SUCCESS);
	CHECK(doca_mmap_start(mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_export_pci(mmap, dev, &descriptor, &exported.descriptor_len) == DOCA_SUCCESS);
	CHECK(exported.descriptor_len <= EXPORTER_DESCRIPTOR_MAX);
	memcpy(exported.descriptor, descriptor, exported.descriptor_len);
	CHECK(send(socket, &exported, sizeof(exported), 0) == sizeof(exported));
	return mmap;
}

/* ---- in the test ---- */

/* Starts this program with its end of the socket, the offset and the permissions as arguments. */
static inline pid_t exporter_spawn(const char *program, size_t offset, uint32_t permissions, int *socket)
{
	char args[3][24];
	int sockets[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	assert_int_equal(fcntl(sockets[0], F_SETFD, FD_CLOEXEC), 0);
	snprintf(args[0], sizeof(args[0]), "%d", sockets[1]);
	snprintf(args[1], sizeof(args[1]), "%zu", offset);
	snprintf(args[2], sizeof(args[2]), "%u", permissions);

	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		execl("/proc/self/exe", program, args[0], args[1], args[2], (char *)NULL);
		_exit(127);
	}
	close(sockets[1]);
	*socket = sockets[0];
	return pid;
}

/* Receives what the exporter sends. there: its memory, in its address space. */
static inline struct doca_mmap *exporter_import(int socket, struct doca_dev *dev, uint8_t **there)
{
	struct exported exported;
	struct doca_mmap *mmap;

	assert_int_equal(recv(socket, &exported, sizeof(exported), 0), sizeof(exported));
	assert_int_equal(doca_mmap_create_from_export(NULL, exported.descriptor, exported.descriptor_len, dev, &mmap),
			 DOCA_SUCCESS);
	*there = (uint8_t *)(uintptr_t)exported.addr;
	return mmap;
}

#endif
