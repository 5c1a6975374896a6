/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <doca_log.h>

#include "remote_offload/frame.h"
#include "remote_offload/log_limit.h"
#include "worker_notify.h"

DOCA_LOG_REGISTER(SERVER::TRAFFIC);

#define READS_PER_TURN 4
#define READS_PER_CONNECTION 4
#define WHY_MAX 256
#define UNWRITTEN_MAX 256u		     /* answers held back for more, so that a client wakes up once for many */
#define WHOLE_MIN 16u			     /* answers of a connection that are written as soon as it expects no further ones */
#define UNWRITTEN_BYTES_MAX (16u << 10)	     /* of one connection */
#define USED_BYTES_MAX (UINT64_C(256) << 20) /* in the blocks of all connections: above, each has one request at a time */

/* Lists of connections */

void traffic_ready(struct worker *worker, struct connection *connection)
{
	if (connection->in_ready || connection->held || connection->fd < 0)
		return;
	connection->in_ready = true;
	connection->ready_next = NULL;
	connection->ready_prev = worker->ready_tail;
	if (worker->ready_tail)
		worker->ready_tail->ready_next = connection;
	else
		worker->ready_head = connection;
	worker->ready_tail = connection;
}

void traffic_unready(struct worker *worker, struct connection *connection)
{
	if (!connection->in_ready)
		return;
	connection->in_ready = false;
	if (connection->ready_prev)
		connection->ready_prev->ready_next = connection->ready_next;
	else
		worker->ready_head = connection->ready_next;
	if (connection->ready_next)
		connection->ready_next->ready_prev = connection->ready_prev;
	else
		worker->ready_tail = connection->ready_prev;
}

void traffic_dirty(struct worker *worker, struct connection *connection)
{
	if (connection->in_dirty)
		return;
	connection->in_dirty = true;
	connection->dirty_next = worker->dirty;
	worker->dirty = connection;
}

/* A closed connection is freed once no list and no answer refers to it. */
void traffic_release(struct worker *worker, struct connection *connection)
{
	if (connection->fd >= 0 || connection->inflight > 0 || connection->in_dirty)
		return;
	if (connection->prev)
		connection->prev->next = connection->next;
	else
		worker->all = connection->next;
	if (connection->next)
		connection->next->prev = connection->prev;
	free(connection);
}

void traffic_close(struct worker *worker, struct connection *connection)
{
	traffic_unready(worker, connection);
	connection_close(connection, &worker->pool);
	traffic_release(worker, connection);
	worker_count_closed(worker);
}

/* Closes the connection of a misbehaving client and logs one line. */
static void close_bad(struct worker *worker, struct connection *connection, const char *why)
{
	LIMITED_LOG_WARN("client %s closed: %s", connection_peer_name(connection, (char[PEER_NAME_MAX]){""}), why);
	worker->stats.bad_connections++;
	traffic_close(worker, connection);
}

void traffic_close_failed(struct worker *worker, struct connection *connection, const char *what)
{
	char why[WHY_MAX];

	snprintf(why, sizeof(why), "%s: %s", what, strerror(errno));
	close_bad(worker, connection, why);
}

void traffic_close_idle(struct worker *worker, struct connection *connection)
{
	LIMITED_LOG_INFO("client %s closed: idle for --idle-timeout %u s",
			 connection_peer_name(connection, (char[PEER_NAME_MAX]){""}), worker->limits.idle_timeout_s);
	worker->stats.idle_connections++;
	traffic_close(worker, connection);
}

static void close_truncated(struct worker *worker, struct connection *connection)
{
	const struct block *block = connection->in;
	char why[WHY_MAX];

	frame_explain(block->data + block->start, block->end - block->start, worker->limits.frame_max, why, sizeof(why));
	close_bad(worker, connection, why);
}

/* Answers */

uint32_t traffic_inflight(const struct worker *worker)
{
	return worker->inflight_frames;
}

/*
 * Moves the frames of a message together, without padding. Returns the sum of their bytes, or 0 if the message is not exactly
 * that many complete frames.
 */
static size_t pack_frames(uint8_t *bytes, size_t len, uint32_t frames)
{
	size_t at = 0, total = 0;
	struct frame frame;

	for (; frames > 0 && at < len; frames--) {
		if (frame_parse(bytes + at, len - at, UINT32_MAX, &frame) != FRAME_COMPLETE)
			return 0;
		if (total != at)
			memmove(bytes + total, bytes + at, frame.size);
		total += frame.size;
		at += frames > 1 ? frame_stride(frame.size) : frame.size;
	}
	return frames == 0 && at == len ? total : 0;
}

/*
 * Queues the answers for their client. The orchestrator can still write to the message, so it is copied before it is parsed.
 */
static void append_answers(struct worker *worker, const struct requester *requester, const uint8_t *bytes, size_t len)
{
	struct connection *connection = requester->connection;
	uint8_t *copy = connection_room(connection, &worker->pool, len);
	size_t total;

	if (!copy) {
		close_bad(worker, connection, "no memory for its answers");
		return;
	}
	memcpy(copy, bytes, len);
	total = pack_frames(copy, len, requester->frames);
	if (total == 0) {
		close_bad(worker, connection, "the orchestrator's answer is not a frame for each of its requests");
		return;
	}
	connection_append(connection, total);
	worker->stats.bytes_out += total;
	worker->unwritten += requester->frames;
	connection->unwritten += requester->frames;
	worker->has_whole |= connection->inflight == 0 && connection->unwritten >= WHOLE_MIN;
	traffic_dirty(worker, connection);
}

/* Data path callback: the answer to the oldest message in flight. */
void traffic_receive_answer(void *user, const uint8_t *bytes, size_t len)
{
	struct worker *worker = user;
	struct connection *connection;
	struct requester requester;

	if (traffic_inflight(worker) == 0) {
		LIMITED_LOG_ERR("the orchestrator sent an answer without a request");
		worker->dp->failed = true;
		return;
	}
	requester = worker->inflight[worker->inflight_tail++ & worker->inflight_mask];
	connection = requester.connection;
	assert(requester.frames <= worker->inflight_frames);
	worker->inflight_frames -= requester.frames;
	assert(requester.frames <= connection->inflight);
	connection->inflight -= requester.frames;
	worker->stats.answers += requester.frames;
	if (connection->fd < 0) {
		worker->stats.dropped_answers += requester.frames;
		traffic_release(worker, connection);
	} else {
		append_answers(worker, &requester, bytes, len);
	}
}

/* Closes a connection that has no requests left, if its client sends no more or it is being drained. */
static void close_if_finished(struct worker *worker, struct connection *connection)
{
	if (connection->inflight > 0 || connection->out_bytes > 0 || connection->lingering)
		return;
	if (connection->input_ended) {
		traffic_close(worker, connection);
	} else if (worker->drain_deadline_ms) {
		/* Our side first: closing with unread bytes would reset the connection and lose answers in flight. */
		shutdown(connection->fd, SHUT_WR);
		connection->lingering = true;
		traffic_unready(worker, connection);
		if (!connection_discard(connection))
			traffic_close(worker, connection);
	}
}

static void write_to(struct worker *worker, struct connection *connection)
{
	if (connection_flush(connection, &worker->pool) != 0) {
		traffic_close_failed(worker, connection, "writing failed");
		return;
	}
	if (connection->held && connection->out_bytes < worker->out_bytes_max / 2) {
		connection->held = false;
		traffic_ready(worker, connection);
	}
	if (!connection->in && (connection->input_ended || worker->drain_deadline_ms))
		close_if_finished(worker, connection);
}

/* Writes to the dirty connections that expect no more answers, or to all. */
static void write_dirty(struct worker *worker, bool all)
{
	struct connection *waiting = NULL, *connection;

	worker->unwritten = 0;
	worker->has_whole = false;
	while ((connection = worker->dirty) != NULL) {
		worker->dirty = connection->dirty_next;
		if (!all && connection->fd >= 0 && connection->inflight > 0 && connection->out_bytes < UNWRITTEN_BYTES_MAX) {
			connection->dirty_next = waiting;
			waiting = connection;
			worker->unwritten += connection->unwritten;
			continue;
		}
		connection->in_dirty = false;
		connection->unwritten = 0;
		if (connection->fd < 0)
			traffic_release(worker, connection);
		else
			write_to(worker, connection);
	}
	worker->dirty = waiting;
}

void traffic_write_answers(struct worker *worker, bool all)
{
	all |= traffic_inflight(worker) == 0;
	if (!worker->dirty || (!all && !worker->has_whole && worker->unwritten < UNWRITTEN_MAX))
		return;
	/* One system call writes many answers, and one wake-up serves many calls: answers wait while more are expected. */
	write_dirty(worker, all);
	if (worker->unwritten >= UNWRITTEN_MAX)
		write_dirty(worker, true);
}

/* Requests */

static bool may_send(const struct worker *worker)
{
	return worker->current != WORKER_IDLE && !worker->send_blocked && !worker->dp->failed &&
	       traffic_inflight(worker) < worker->limits.depth;
}

/* Returns for how many more requests the connection has room for the answers. */
static size_t out_room(const struct worker *worker, const struct connection *connection)
{
	size_t max = block_pool_used(&worker->pool) > USED_BYTES_MAX ? worker->limits.frame_max : worker->out_bytes_max;
	size_t frames = connection->out_bytes < max ? (max - connection->out_bytes) / worker->limits.frame_max : 0;

	return frames > connection->inflight ? frames - connection->inflight : 0;
}

/* Writes a message from contiguous frames. */
static void put_message(uint8_t *to, const uint8_t *frames, uint32_t len, uint32_t message_len)
{
	struct frame frame;

	if (len == message_len) {
		memcpy(to, frames, len);
		return;
	}
	for (; len > 0; len -= frame.size) {
		frame_parse(frames, len, UINT32_MAX, &frame);
		memcpy(to, frames, frame.size);
		if (len > frame.size)
			memset(to + frame.size, 0, frame_stride(frame.size) - frame.size);
		to += frame_stride(frame.size);
		frames += frame.size;
	}
}

enum pump { PUMP_EMPTY, PUMP_BLOCKED, PUMP_CLOSED };

/* Records that the queue cannot accept the request now. */
static enum pump frame_reject(struct worker *worker)
{
	worker->send_blocked = true;
	worker->refused = true;
	return PUMP_BLOCKED;
}

/* Sends every complete frame that was read. EMPTY: more bytes are needed; BLOCKED: frames remain. */
static enum pump send_frames(struct worker *worker, struct connection *connection)
{
	for (;;) {
		const uint8_t *frame;
		uint32_t len, message_len, frames = 1;
		size_t room_frames, queue_frames;
		uint8_t *room;
		char why[WHY_MAX];
		enum connection_frame state =
			connection_peek(connection, worker->limits.frame_max, &frame, &len, why, sizeof(why));
		doca_error_t result;

		if (state == CONNECTION_FRAME_NONE)
			return PUMP_EMPTY;
		if (state == CONNECTION_FRAME_BAD) {
			close_bad(worker, connection, why);
			return PUMP_CLOSED;
		}
		room_frames = out_room(worker, connection);
		if (room_frames == 0) {
			connection->held = true;
			traffic_unready(worker, connection);
			return PUMP_BLOCKED;
		}
		if (!may_send(worker))
			return PUMP_BLOCKED;
		room = datapath_room(worker->dp);
		if (!room)
			return frame_reject(worker);
		/* Frames that arrived together go in one message. */
		message_len = len;
		queue_frames = worker->limits.depth - traffic_inflight(worker);
		if (len < worker->limits.batch_bytes)
			frames += connection_peek_more(connection, worker->limits.frame_max,
						       (uint32_t)(room_frames < queue_frames ? room_frames : queue_frames) - 1,
						       worker->limits.batch_bytes, &len, &message_len);
		put_message(room, frame, len, message_len);
		result = datapath_send(worker->dp, message_len);
		if (result != DOCA_SUCCESS) {
			if (result != DOCA_ERROR_AGAIN)
				worker->dp->failed = true;
			return frame_reject(worker);
		}
		worker->submitted = true;
		worker->refused = false;
		connection->active = true;
		worker->inflight[worker->inflight_head++ & worker->inflight_mask] = (struct requester){connection, frames};
		worker->inflight_frames += frames;
		connection->inflight += frames;
		worker->stats.requests += frames;
		worker->stats.bytes_in += len;
		connection_consume(connection, &worker->pool, len);
	}
}

/* Serves one connection once; it leaves the ready list unless it has more to do. */
static void connection_pump(struct worker *worker, struct connection *connection)
{
	for (int reads = 0; reads < READS_PER_CONNECTION; reads++) {
		enum pump state = send_frames(worker, connection);
		long count;

		if (state != PUMP_EMPTY)
			return;
		if (connection->input_ended) {
			if (connection->in) {
				close_truncated(worker, connection);
				return;
			}
			traffic_unready(worker, connection);
			close_if_finished(worker, connection);
			return;
		}
		if (!connection->readable || worker->drain_deadline_ms) {
			traffic_unready(worker, connection);
			if (worker->drain_deadline_ms)
				close_if_finished(worker, connection);
			return;
		}
		count = connection_read(connection, &worker->pool);
		if (count < 0) {
			traffic_close_failed(worker, connection, "reading failed");
			return;
		}
	}
	/* The other connections are served first. */
	traffic_unready(worker, connection);
	traffic_ready(worker, connection);
}

bool traffic_send_requests(struct worker *worker)
{
	uint64_t before = worker->stats.requests;
	bool any = false;

	for (int turn = 0; turn < READS_PER_TURN && worker->ready_head && may_send(worker); turn++) {
		connection_pump(worker, worker->ready_head);
		/* If the queue rejected the first request, this is no progress. */
		any |= !worker->send_blocked || worker->stats.requests != before;
	}
	if (worker->submitted) {
		datapath_flush(worker->dp);
		worker->submitted = false;
	}
	worker->refused &= worker->ready_head != NULL; /* the connection whose request was rejected may be closed */
	return any;
}
