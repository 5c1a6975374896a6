/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One TCP connection to the server: sends requests, compares answers. It counts messages and stream bytes; the rings in
 * messages.h define the bytes, so nothing is copied or buffered here.
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "latency.h"
#include "messages.h"
#include "remote_offload/frame.h"

/* Requests whose first byte went out in the same send. */
struct burst {
	uint64_t upto; /* number of requests begun with it */
	uint64_t time_ns;
};

struct connection {
	int fd;
	uint32_t number;     /* of all connections of the client, for messages */
	uint64_t credits;    /* requests that the connection may send */
	uint64_t begun;	     /* requests with a byte sent */
	uint64_t sent_bytes; /* of the request stream */
	uint64_t send_at;    /* place in the ring of requests */
	uint64_t answered;
	uint64_t receive_at;		/* place in the ring of answers */
	const uint8_t *answers;		/* which of the two rings the server follows */
	uint8_t header[FRAME_OVERHEAD]; /* received part of an answer header that is not the expected one */
	uint32_t header_len;
	bool open;	      /* connected */
	bool armed_out;	      /* waits to send */
	struct burst *bursts; /* ring of a power of two entries */
	uint32_t burst_mask;
	uint64_t burst_head, burst_tail;
};

enum connection_status {
	CONNECTION_OK,
	CONNECTION_BLOCKED, /* the socket buffer is full or empty */
	CONNECTION_FAILED,  /* connection_error() has the reason */
};

/* The reason of this thread's last failed call. One broken server fails every connection, so one is kept for all. */
const char *connection_error(void);

/* Starts to connect. `number` also sets where this connection begins in the rings. */
doca_error_t connection_open(struct connection *connection, uint32_t number, const struct messages *messages, uint32_t depth,
			     const struct sockaddr *address, socklen_t address_len, const char *server);

/* Returns the outcome of connecting, once the socket is writable. */
enum connection_status connection_finish_open(struct connection *connection, const char *server);

/* Sends the requests that have credits, as many as fit into the socket buffer. */
enum connection_status connection_send(struct connection *connection, const struct messages *messages, uint64_t now_ns);

/* Compares received bytes; adds the times of completed answers to latency, if not NULL. */
enum connection_status connection_receive(struct connection *connection, const struct messages *messages, const uint8_t *bytes,
					  size_t len, uint64_t now_ns, struct latency *latency);

void connection_close(struct connection *connection);

#endif
