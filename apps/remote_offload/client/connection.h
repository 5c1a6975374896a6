/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One TCP connection to the server: requests out, answers in and compared. It counts in messages and in stream bytes; which
 * bytes those are follows from the rings in messages.h, so nothing is copied or buffered here.
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
	uint64_t granted;    /* requests that it may send */
	uint64_t begun;	     /* requests with a byte sent */
	uint64_t sent_bytes; /* of the request stream */
	uint64_t send_at;    /* place in the ring of requests */
	uint64_t answered;
	uint64_t receive_at;		/* place in the ring of answers */
	const uint8_t *answers;		/* which of the two rings the server follows */
	uint8_t header[FRAME_OVERHEAD]; /* of an answer whose header is not the expected one, as far as it came */
	uint32_t header_len;
	bool open;	      /* connected */
	bool armed_out;	      /* waits to send */
	struct burst *bursts; /* ring of a power of two entries */
	uint32_t burst_mask;
	uint64_t burst_head, burst_tail;
};

enum connection_status {
	CONNECTION_OK,
	CONNECTION_BLOCKED, /* the socket takes no more */
	CONNECTION_FAILED,  /* connection_error says why */
};

/* What went wrong in this thread's last call that failed. One broken server fails every connection; one line is enough. */
const char *connection_error(void);

/* Starts to connect. `number` also sets where in the rings this connection begins. */
doca_error_t connection_open(struct connection *connection, uint32_t number, const struct messages *messages, uint32_t depth,
			     const struct sockaddr *address, socklen_t address_len, const char *server);

/* What became of the attempt, once the socket is writable. */
enum connection_status connection_finish_open(struct connection *connection, const char *server);

/* Sends requests that are granted, as many as the socket takes. */
enum connection_status connection_send(struct connection *connection, const struct messages *messages, uint64_t now_ns);

/* Compares received bytes; latency, if not NULL, gets the times of the answers completed. */
enum connection_status connection_receive(struct connection *connection, const struct messages *messages, const uint8_t *bytes,
					  size_t len, uint64_t now_ns, struct latency *latency);

void connection_close(struct connection *connection);

#endif
