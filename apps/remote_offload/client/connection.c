/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Most bytes of one send: small enough that the server answers the first requests while the client sends the next. */
#define SEND_MAX (256U * 1024)
/* Connections begin this many messages apart in the rings, so that an answer to the wrong connection is detected. */
#define RING_STRIDE 7
/* Bytes of a wrong answer that the error message shows. */
#define SHOWN_BYTES 8

/* When bytes arrived, and the histogram for the times of their requests (may be NULL). */
struct arrival {
	uint64_t time_ns;
	struct latency *latency;
};

static __thread char error_text[256];

const char *connection_error(void)
{
	return error_text;
}

static void error_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void error_set(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error_text, sizeof(error_text), format, args);
	va_end(args);
}

static enum connection_status open_failed(const char *server, int error)
{
	if (error == ECONNREFUSED)
		error_set("connection to %s refused: is the server running and listening there?", server);
	else
		error_set("cannot connect to %s: %s", server, strerror(error));
	return CONNECTION_FAILED;
}

static uint32_t power_of_two_from(uint32_t value)
{
	uint32_t power = 1;

	while (power < value)
		power *= 2;
	return power;
}

doca_error_t connection_open(struct connection *connection, uint32_t number, const struct messages *messages, uint32_t depth,
			     const struct sockaddr *address, socklen_t address_len, const char *server)
{
	uint32_t bursts = power_of_two_from(depth);
	uint64_t first = (uint64_t)number * RING_STRIDE % messages->count;
	int on = 1;

	*connection = (struct connection){
		.fd = -1,
		.number = number,
		.send_at = first * messages->request_size,
		.receive_at = first * messages->response_size,
		.answers = messages->echoed,
		.burst_mask = bursts - 1,
	};
	connection->bursts = calloc(bursts, sizeof(*connection->bursts));
	if (connection->bursts == NULL) {
		error_set("out of memory for connection %u with %u concurrent messages", number, depth);
		return DOCA_ERROR_NO_MEMORY;
	}
	connection->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0) {
		error_set("no socket for connection %u: %s", number, strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(connection->fd, address, address_len) != 0 && errno != EINPROGRESS) {
		open_failed(server, errno);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	return DOCA_SUCCESS;
}

enum connection_status connection_finish_open(struct connection *connection, const char *server)
{
	socklen_t len = sizeof(int);
	int error = 0;

	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	return error == 0 ? CONNECTION_OK : open_failed(server, error);
}

/* Records when the requests from begun to upto were sent. */
static void bursts_push(struct connection *connection, uint64_t upto, uint64_t now_ns)
{
	if (upto == connection->begun)
		return;
	connection->begun = upto;
	connection->bursts[connection->burst_tail++ & connection->burst_mask] = (struct burst){.upto = upto, .time_ns = now_ns};
}

/* Records the times of the requests from answered to upto. */
static void bursts_pop(struct connection *connection, uint64_t upto, struct arrival *arrival)
{
	while (connection->answered < upto) {
		const struct burst *burst = &connection->bursts[connection->burst_head & connection->burst_mask];
		uint64_t end = burst->upto < upto ? burst->upto : upto;

		if (arrival->latency != NULL)
			latency_add(arrival->latency, arrival->time_ns - burst->time_ns, end - connection->answered);
		connection->answered = end;
		if (burst->upto == end)
			connection->burst_head++;
	}
}

enum connection_status connection_send(struct connection *connection, const struct messages *messages, uint64_t now_ns)
{
	uint64_t ring_size = (uint64_t)messages->count * messages->request_size;

	for (;;) {
		uint64_t wanted = connection->credits * messages->request_size - connection->sent_bytes;
		uint64_t to_end = ring_size - connection->send_at;
		struct iovec parts[2];
		struct msghdr message = {.msg_iov = parts, .msg_iovlen = 1};
		ssize_t sent;

		if (wanted == 0)
			return CONNECTION_OK;
		if (wanted > SEND_MAX)
			wanted = SEND_MAX;
		parts[0] = (struct iovec){messages->requests + connection->send_at, wanted < to_end ? wanted : to_end};
		if (wanted > to_end) {
			parts[1] = (struct iovec){messages->requests, wanted - to_end < ring_size ? wanted - to_end : ring_size};
			message.msg_iovlen = 2;
		}
		sent = sendmsg(connection->fd, &message, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return CONNECTION_BLOCKED;
		if (sent < 0) {
			error_set("connection %u: sending failed with %llu requests unanswered: %s", connection->number,
				  (unsigned long long)(connection->begun - connection->answered), strerror(errno));
			return CONNECTION_FAILED;
		}
		connection->sent_bytes += (uint64_t)sent;
		connection->send_at = (connection->send_at + (uint64_t)sent) % ring_size;
		bursts_push(connection, (connection->sent_bytes + messages->request_size - 1) / messages->request_size, now_ns);
	}
}

static void hex_format(char *text, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sprintf(text + 3 * i, "%02x ", bytes[i]);
	text[len > 0 ? 3 * len - 1 : 0] = '\0';
}

static enum connection_status payload_wrong(const struct connection *connection, const struct messages *messages, uint64_t offset,
					    const uint8_t *received, size_t len)
{
	const uint8_t *expected = connection->answers + connection->receive_at;
	size_t to_end = messages->response_size - FRAME_OVERHEAD - offset;
	char expected_text[3 * SHOWN_BYTES + 1], received_text[3 * SHOWN_BYTES + 1];
	size_t shown = len < SHOWN_BYTES ? len : SHOWN_BYTES;

	shown = shown < to_end ? shown : to_end;
	hex_format(expected_text, expected, shown);
	hex_format(received_text, received, shown);
	error_set("connection %u: wrong answer to request %llu at offset %llu: expected %s, received %s", connection->number,
		  (unsigned long long)connection->answered, (unsigned long long)offset, expected_text, received_text);
	return CONNECTION_FAILED;
}

/* The collected header differs from the expected one: it is the other kind of answer, wrong, or incomplete. */
static enum connection_status header_judge(struct connection *connection, const struct messages *messages)
{
	enum frame_status status;
	struct frame frame;
	char why[160];

	status = frame_parse(connection->header, connection->header_len, UINT32_MAX, &frame);
	if (status != FRAME_PARTIAL && status != FRAME_COMPLETE) {
		frame_explain(connection->header, connection->header_len, UINT32_MAX, why, sizeof(why));
		error_set("connection %u: the answer to request %llu is not a frame: %s", connection->number,
			  (unsigned long long)connection->answered, why);
		return CONNECTION_FAILED;
	}
	if (frame.size != 0 && frame.size != messages->response_size) {
		error_set("connection %u: wrong answer to request %llu: expected %u bytes, received %u", connection->number,
			  (unsigned long long)connection->answered, messages->response_size - FRAME_OVERHEAD,
			  frame.size - FRAME_OVERHEAD);
		return CONNECTION_FAILED;
	}
	return CONNECTION_OK;
}

/* Collects the bytes of a header that is not the expected one; returns how many bytes it consumed. */
static size_t header_collect(struct connection *connection, const struct messages *messages, const uint8_t *bytes, size_t len)
{
	uint64_t offset = connection->receive_at % messages->response_size;
	size_t taken;

	if (connection->header_len == 0) { /* the bytes before did match */
		connection->receive_at -= offset;
		memcpy(connection->header, connection->answers + connection->receive_at, offset);
		connection->header_len = (uint32_t)offset;
	}
	taken = FRAME_OVERHEAD - connection->header_len < len ? FRAME_OVERHEAD - connection->header_len : len;
	memcpy(connection->header + connection->header_len, bytes, taken);
	connection->header_len += (uint32_t)taken;
	return taken;
}

static size_t equal_prefix(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t at = 0;

	if (memcmp(a, b, len) == 0)
		return len;
	while (a[at] == b[at])
		at++;
	return at;
}

/* Advances by len matching bytes. */
static void connection_advance(struct connection *connection, const struct messages *messages, size_t len,
			       struct arrival *arrival)
{
	uint64_t offset = connection->receive_at % messages->response_size;

	bursts_pop(connection, connection->answered + (offset + len) / messages->response_size, arrival);
	connection->receive_at += len;
	if (connection->receive_at == (uint64_t)messages->count * messages->response_size)
		connection->receive_at = 0;
}

/* Consumes bytes of a header that is not the expected one. A complete one that differs only in its id is valid. */
static enum connection_status header_take(struct connection *connection, const struct messages *messages, const uint8_t *bytes,
					  size_t len, size_t *taken, struct arrival *arrival)
{
	*taken = header_collect(connection, messages, bytes, len);
	if (header_judge(connection, messages) != CONNECTION_OK)
		return CONNECTION_FAILED;
	if (connection->header_len == FRAME_OVERHEAD) { /* compare with the other ring from here on */
		connection->answers = connection->answers == messages->echoed ? messages->responses : messages->echoed;
		connection->header_len = 0;
		connection_advance(connection, messages, FRAME_OVERHEAD, arrival);
	}
	return CONNECTION_OK;
}

/* Consumes bytes that match, up to the end of the ring or of the answers due. */
static enum connection_status expected_take(struct connection *connection, const struct messages *messages, const uint8_t *bytes,
					    size_t len, size_t *taken, struct arrival *arrival)
{
	uint64_t ring_size = (uint64_t)messages->count * messages->response_size;
	uint64_t offset = connection->receive_at % messages->response_size;
	uint64_t due = (connection->begun - connection->answered) * messages->response_size - offset;
	size_t part = len < ring_size - connection->receive_at ? len : ring_size - connection->receive_at;
	enum connection_status status;

	if (due == 0) {
		error_set("connection %u: the server sent %zu bytes more than the answers to all %llu requests",
			  connection->number, len, (unsigned long long)connection->begun);
		return CONNECTION_FAILED;
	}
	part = part < due ? part : due;
	*taken = equal_prefix(bytes, connection->answers + connection->receive_at, part);
	connection_advance(connection, messages, *taken, arrival);
	if (*taken == part)
		return CONNECTION_OK;
	offset = connection->receive_at % messages->response_size;
	if (offset >= FRAME_OVERHEAD)
		return payload_wrong(connection, messages, offset - FRAME_OVERHEAD, bytes + *taken, len - *taken);
	status = header_take(connection, messages, bytes + *taken, len - *taken, &part, arrival);
	*taken += part;
	return status;
}

enum connection_status connection_receive(struct connection *connection, const struct messages *messages, const uint8_t *bytes,
					  size_t len, uint64_t now_ns, struct latency *latency)
{
	struct arrival arrival = {.time_ns = now_ns, .latency = latency};
	enum connection_status status = CONNECTION_OK;

	while (len > 0 && status == CONNECTION_OK) {
		size_t taken = 0;

		if (connection->header_len > 0)
			status = header_take(connection, messages, bytes, len, &taken, &arrival);
		else
			status = expected_take(connection, messages, bytes, len, &taken, &arrival);
		bytes += taken;
		len -= taken;
	}
	return status;
}

void connection_close(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	free(connection->bursts);
	connection->bursts = NULL;
}
