/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An answer in memory that the orchestrator keeps changing: a thread switches the message between two versions while the server's
 * code reads it. Whatever the server sees, it must survive, and must queue exactly as many whole frames as the client has asked
 * for.
 *
 * Input: number of frames, bytes that are cut off the message, the frames' payload lengths, then changes (offset, new byte).
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote_offload/frame.h"
#include "remote_offload/server/traffic.h"
#include "support/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAMES_MAX 12u
#define MESSAGE_MAX 4096u
#define CHANGES_MAX 32u
#define ROUNDS 16 /* of one input: each meets the changes at another moment */

static struct {
	_Alignas(64) _Atomic uint8_t bytes[MESSAGE_MAX]; /* as the server sees them */
	pthread_mutex_t lock;
	atomic_bool wanted; /* the lock: a mutex is not fair */
	struct {
		uint16_t at;
		uint8_t first, second;
	} changes[CHANGES_MAX]; /* GUARDED_BY(lock) */
	uint32_t count;		/* GUARDED_BY(lock) */
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *change(void *argument)
{
	for (;;) {
		while (atomic_load(&shared.wanted))
			sched_yield();
		pthread_mutex_lock(&shared.lock);
		for (uint32_t i = 0; i < shared.count; i++)
			atomic_store_explicit(&shared.bytes[shared.changes[i].at], shared.changes[i].second,
					      memory_order_relaxed);
		for (uint32_t i = 0; i < shared.count; i++)
			atomic_store_explicit(&shared.bytes[shared.changes[i].at], shared.changes[i].first, memory_order_relaxed);
		pthread_mutex_unlock(&shared.lock);
	}
	return argument;
}

/* Writes the message; the changes begin with it. Returns its length. */
static size_t prepare(const uint8_t *data, size_t size, uint32_t frames)
{
	uint8_t message[MESSAGE_MAX] = {0};
	size_t len = 0;

	for (uint32_t i = 0; i < frames; i++) {
		uint32_t payload_len = i < size ? data[i] : 0;

		len = i == 0 ? 0 : frame_stride((uint32_t)len);
		len += frame_put_header(message + len, FRAME_CLIENT_REQUEST, payload_len);
	}
	data += size < frames ? size : frames;
	size -= size < frames ? size : frames;
	atomic_store(&shared.wanted, true);
	pthread_mutex_lock(&shared.lock);
	for (size_t i = 0; i < MESSAGE_MAX; i++)
		atomic_store_explicit(&shared.bytes[i], message[i], memory_order_relaxed);
	for (shared.count = 0; shared.count < CHANGES_MAX && size >= 3; shared.count++, data += 3, size -= 3) {
		uint16_t at = (uint16_t)((data[0] << 8 | data[1]) % len);

		shared.changes[shared.count].at = at;
		shared.changes[shared.count].first = message[at];
		shared.changes[shared.count].second = data[2];
	}
	pthread_mutex_unlock(&shared.lock);
	atomic_store(&shared.wanted, false);
	return len;
}

/* Checks that whole frames wait for the client, and that many. */
static void check_queued(const struct connection *connection, uint32_t frames)
{
	uint8_t bytes[MESSAGE_MAX];
	size_t len = 0, at = 0;
	struct frame frame;

	for (const struct block *block = connection->out_head; block; block = block->next) {
		CHECK(len + block->end - block->start <= sizeof(bytes));
		memcpy(bytes + len, block->data + block->start, block->end - block->start);
		len += block->end - block->start;
	}
	CHECK(len == connection->out_bytes);
	for (; frames > 0; frames--, at += frame.size)
		CHECK(frame_parse(bytes + at, len - at, UINT32_MAX, &frame) == FRAME_COMPLETE);
	CHECK(at == len);
}

static void answers_receive(struct worker *worker, uint32_t frames, size_t len)
{
	struct connection *connection;
	int fds[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	connection = connection_create(fds[0], &(union peer_address){.any = {AF_UNSPEC, {0}}});
	CHECK(connection != NULL);
	/* Adds a reference for the queue, so that it still exists after the server has closed it. */
	connection->inflight = frames + 1;
	worker->all = connection;
	worker->inflight[worker->inflight_head++ & worker->inflight_mask] = (struct requester){connection, frames};
	worker->inflight_frames = frames;
	traffic_receive_answer(worker, (const uint8_t *)shared.bytes, len);
	CHECK(traffic_inflight(worker) == 0 && connection->inflight == 1);
	if (connection->fd >= 0) {
		check_queued(connection, frames);
		traffic_close(worker, connection);
	}
	worker->dirty = NULL;
	worker->unwritten = 0;
	free(connection);
	close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct requester requesters[2];
	static struct datapath dp;
	static struct worker worker = {.dp = &dp, .inflight = requesters, .inflight_mask = 1, .limits = {.frame_max = 264}};
	static pthread_t thread;
	uint32_t frames;
	size_t len;

	if (size < 2)
		return 0;
	if (worker.pool.capacity == 0) {
		block_pool_init(&worker.pool, MESSAGE_MAX);
		CHECK(pthread_create(&thread, NULL, change, NULL) == 0);
	}
	frames = 1 + data[0] % FRAMES_MAX;
	len = prepare(data + 2, size - 2, frames);
	len -= data[1] % 16 == 0 ? data[1] / 16 % len : 0;
	for (int round = 0; round < ROUNDS; round++)
		answers_receive(&worker, frames, len);
	return 0;
}
