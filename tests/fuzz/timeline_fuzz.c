/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline that another process wrote. Reading stays within its bounds; converting it terminates, and writes whole packets.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"
#include "trace/convert.h"
#include "trace/load.h"

#define NAMES 8
#define EVENTS_MAX 512 /* of the input: bounds the time of a run */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int fd, const void *bytes, size_t len, size_t at)
{
	CHECK(pwrite(fd, bytes, len, (off_t)at) == (ssize_t)len);
}

static size_t part(size_t size, size_t most)
{
	return size < most ? size : most;
}

/* Input: a byte that chooses whether the head is corrected, a byte for the rings, the head, names, and rings with their
 * events. */
static int timeline_make(const uint8_t *data, size_t size)
{
	struct sf_trace_head head = {.num_names = 1};
	struct sf_trace_ring ring = {.head = 0};
	size_t len;
	int fd = memfd_create("timeline", MFD_CLOEXEC);

	CHECK(fd >= 0);
	memcpy(&head, data + 2, len = part(size - 2, sizeof(head)));
	if (data[0] & 1) {
		memcpy(head.magic, SF_TRACE_MAGIC, sizeof(head.magic));
		head.version = SF_TRACE_VERSION;
		head.clock %= SF_TRACE_CLOCKS;
		head.num_names %= SF_TRACE_NAMES_MAX + 1;
		head.num_rings = 1 + data[1] % 4;
		head.last_stamp &= 1;
		head.pid &= INT32_MAX;
	}
	data += 2 + len;
	size -= 2 + len;
	CHECK(ftruncate(fd, (off_t)sf_trace_ring_at(4)) == 0);
	put(fd, &head, sizeof(head), 0);
	put(fd, data, len = part(size, NAMES * SF_TRACE_NAME_MAX), SF_TRACE_NAMES_AT);
	for (uint32_t i = 0; i < 4; i++) {
		memcpy(&ring, data + len, part(size - len, sizeof(ring)));
		ring.head %= 2 * SF_TRACE_EVENTS;
		len += part(size - len, sizeof(ring));
		put(fd, &ring, sizeof(ring), sf_trace_ring_at(i));
		put(fd, data + len, part(size - len, EVENTS_MAX / 4 * sizeof(struct sf_trace_event)),
		    sf_trace_ring_at(i) + SF_TRACE_RING_HEAD);
	}
	return fd;
}

/* Each packet is a field 1 of bytes, and nothing follows the last. */
static void packets_check(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t len = 0;
		uint32_t shift = 0;

		CHECK(bytes[at++] == (1 << 3 | 2));
		do {
			CHECK(at < size && shift < 32);
			len |= (size_t)(bytes[at] & 0x7f) << shift;
			shift += 7;
		} while (bytes[at++] & 0x80);
		CHECK(len <= size - at);
		at += len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_process process;
	struct trace_count count;
	char *bytes = NULL;
	size_t len = 0;
	FILE *out;

	if (size < 2)
		return 0;
	if (trace_process_open(&process, timeline_make(data, size))) {
		CHECK(trace_process_read(&process) && trace_process_read(&process));
		for (uint32_t i = 0; i < process.num_threads; i++)
			CHECK(process.threads[i].num <= TRACE_EVENTS_MAX &&
			      strlen(process.threads[i].name) < SF_TRACE_THREAD_MAX);
		out = open_memstream(&bytes, &len);
		CHECK(out != NULL);
		CHECK(trace_convert(out, &process, 1, &count) != TRACE_NO_MEMORY);
		fclose(out);
		packets_check((const uint8_t *)bytes, len);
		free(bytes);
	}
	trace_process_close(&process);
	return 0;
}
