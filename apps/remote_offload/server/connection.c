/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "remote_offload/frame.h"

#define WRITE_BLOCKS_MAX 16
#define DISCARD_BYTES 4096

struct connection *connection_create(int fd, const union peer_address *peer)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (connection) {
		connection->fd = fd;
		connection->peer = *peer;
		connection->readable = true;
		connection->writable = true;
		connection->active = true;
	}
	return connection;
}

void connection_close(struct connection *connection, struct block_pool *pool)
{
	close(connection->fd);
	connection->fd = -1;
	if (connection->in)
		block_put(pool, connection->in);
	connection->in = NULL;
	while (connection->out_head) {
		struct block *block = connection->out_head;

		connection->out_head = block->next;
		block_put(pool, block);
	}
	connection->out_tail = NULL;
	connection->out_bytes = 0;
}

/* Makes room behind the waiting bytes: a frame always fits in a block. */
static struct block *in_block(struct connection *connection, struct block_pool *pool)
{
	struct block *block = connection->in;

	if (!block) {
		block = block_get(pool);
		connection->in = block;
	} else if (block->start > 0) {
		memmove(block->data, block->data + block->start, block->end - block->start);
		block->end -= block->start;
		block->start = 0;
	}
	return block;
}

long connection_read(struct connection *connection, struct block_pool *pool)
{
	struct block *block = in_block(connection, pool);
	size_t room;
	ssize_t count;

	if (!block) {
		errno = ENOMEM;
		return -1;
	}
	room = pool->capacity - block->end;
	count = recv(connection->fd, block->data + block->end, room, MSG_DONTWAIT);
	if (count < 0) {
		int error = errno;

		if (block->start == block->end) {
			block_put(pool, block);
			connection->in = NULL;
		}
		errno = error;
		if (error == EAGAIN || error == EINTR) {
			connection->readable = error == EINTR;
			return 0;
		}
		return -1;
	}
	block->end += (uint32_t)count;
	if (count == 0)
		connection->input_ended = true;
	/* A short read has emptied the socket; the next bytes, or an end not yet reported, raise a new event. */
	if ((size_t)count < room && !connection->peer_closed)
		connection->readable = false;
	if (block->start == block->end) {
		block_put(pool, block);
		connection->in = NULL;
	}
	return count;
}

enum connection_frame connection_peek(const struct connection *connection, uint32_t frame_max, const uint8_t **frame,
				      uint32_t *frame_len, char *why, size_t why_size)
{
	const struct block *block = connection->in;
	struct frame parsed;
	enum frame_status status;

	if (!block)
		return CONNECTION_FRAME_NONE;
	*frame = block->data + block->start;
	status = frame_parse(*frame, block->end - block->start, frame_max, &parsed);
	if (status == FRAME_PARTIAL)
		return CONNECTION_FRAME_NONE;
	if (status == FRAME_COMPLETE && parsed.id == FRAME_CLIENT_REQUEST) {
		*frame_len = parsed.size;
		return CONNECTION_FRAME_COMPLETE;
	}
	if (status == FRAME_COMPLETE)
		snprintf(why, why_size, "message id %u is not a client's request (%d)", parsed.id, FRAME_CLIENT_REQUEST);
	else
		frame_explain(*frame, block->end - block->start, frame_max, why, why_size);
	return CONNECTION_FRAME_BAD;
}

uint32_t connection_peek_more(const struct connection *connection, uint32_t frame_max, uint32_t frames_max, uint32_t bytes_max,
			      uint32_t *len, uint32_t *message_len)
{
	const struct block *block = connection->in;
	const uint8_t *first = block->data + block->start;
	uint32_t there = block->end - block->start, more = 0;
	struct frame frame;

	for (*message_len = *len; more < frames_max; more++) {
		uint32_t at = frame_stride(*message_len);

		if (frame_parse(first + *len, there - *len, frame_max, &frame) != FRAME_COMPLETE ||
		    frame.id != FRAME_CLIENT_REQUEST || at + frame.size > bytes_max)
			break;
		*len += frame.size;
		*message_len = at + frame.size;
	}
	return more;
}

void connection_consume(struct connection *connection, struct block_pool *pool, uint32_t len)
{
	struct block *block = connection->in;

	block->start += len;
	if (block->start == block->end) {
		block_put(pool, block);
		connection->in = NULL;
	}
}

uint8_t *connection_room(struct connection *connection, struct block_pool *pool, size_t len)
{
	struct block *block = connection->out_tail;

	if (len > pool->capacity)
		return NULL;
	if (!block || pool->capacity - block->end < len) {
		block = block_get(pool);
		if (!block)
			return NULL;
		if (connection->out_tail)
			connection->out_tail->next = block;
		else
			connection->out_head = block;
		connection->out_tail = block;
	}
	return block->data + block->end;
}

void connection_append(struct connection *connection, size_t len)
{
	connection->out_tail->end += (uint32_t)len;
	connection->out_bytes += len;
}

static void drop_written(struct connection *connection, struct block_pool *pool, size_t count)
{
	connection->active = true;
	connection->out_bytes -= count;
	while (count > 0) {
		struct block *block = connection->out_head;
		size_t waiting = block->end - block->start;

		if (count < waiting) {
			block->start += (uint32_t)count;
			return;
		}
		count -= waiting;
		connection->out_head = block->next;
		if (!connection->out_head)
			connection->out_tail = NULL;
		block_put(pool, block);
	}
}

/* Usually there is only one block: then write() is the cheaper call. */
static ssize_t write_blocks(const struct connection *connection)
{
	const struct block *block = connection->out_head;
	struct iovec parts[WRITE_BLOCKS_MAX];
	struct msghdr message = {.msg_iov = parts};

	if (!block->next)
		return send(connection->fd, block->data + block->start, block->end - block->start, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (; block && message.msg_iovlen < WRITE_BLOCKS_MAX; block = block->next) {
		parts[message.msg_iovlen].iov_base = (void *)(block->data + block->start);
		parts[message.msg_iovlen++].iov_len = block->end - block->start;
	}
	return sendmsg(connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int connection_flush(struct connection *connection, struct block_pool *pool)
{
	while (connection->out_head && connection->writable) {
		ssize_t count = write_blocks(connection);

		if (count >= 0)
			drop_written(connection, pool, (size_t)count);
		else if (errno == EAGAIN)
			connection->writable = false;
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

bool connection_discard(struct connection *connection)
{
	uint8_t bytes[DISCARD_BYTES];

	for (;;) {
		ssize_t count = recv(connection->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (count > 0 || (count < 0 && errno == EINTR))
			continue;
		return count < 0 && errno == EAGAIN;
	}
}

const char *connection_peer_name(const struct connection *connection, char *name)
{
	const union peer_address *peer = &connection->peer;
	char host[INET6_ADDRSTRLEN] = "?";
	uint16_t port = 0;

	if (peer->any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &peer->v4.sin_addr, host, sizeof(host));
		port = ntohs(peer->v4.sin_port);
	} else if (peer->any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &peer->v6.sin6_addr, host, sizeof(host));
		port = ntohs(peer->v6.sin6_port);
	}
	snprintf(name, PEER_NAME_MAX, "%s port %u", host, port);
	return name;
}
