/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One TCP client: bytes in, frames out of them, answers back. It knows sockets and blocks, nothing of Comch; the worker that
 * owns it decides when to read and what becomes of a frame.
 */
#ifndef REMOTE_OFFLOAD_SERVER_CONNECTION_H
#define REMOTE_OFFLOAD_SERVER_CONNECTION_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"

#define PEER_NAME_MAX 80

/* Kept, as the system forgets it with a connection that fails. */
union peer_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct connection {
	struct connection *prev, *next;		    /* all of the worker's */
	struct connection *ready_prev, *ready_next; /* those that may have a frame */
	struct connection *dirty_next;		    /* those with answers to write */
	struct block *in;			    /* bytes read and not yet sent on, or NULL */
	struct block *out_head, *out_tail;	    /* answers not yet written */
	size_t out_bytes;
	uint32_t inflight;   /* requests at the GPU */
	uint32_t unwritten;  /* answers since something was written last */
	uint32_t idle_ticks; /* of the watchdog */
	union peer_address peer;
	int fd;	       /* -1 once closed, while answers are still due */
	bool readable; /* the socket may have bytes: edge-triggered */
	bool writable;
	bool peer_closed; /* the socket reported that the client sends no more */
	bool input_ended; /* read to the end */
	bool in_ready, in_dirty;
	bool held;	/* not ready again before answers are written */
	bool active;	/* a request was sent on or an answer written since the watchdog looked */
	bool lingering; /* our side is shut down: what still comes is thrown away */
};

enum connection_frame {
	CONNECTION_FRAME_COMPLETE,
	CONNECTION_FRAME_NONE, /* more bytes are needed */
	CONNECTION_FRAME_BAD,
};

struct connection *connection_create(int fd, const union peer_address *peer);

/* Closes the socket and gives blocks back; the struct lives on while inflight is not 0. */
void connection_close(struct connection *connection, struct block_pool *pool);

/* Reads once into the in block. DOCA-less result: bytes, 0 for nothing now or end (input_ended says which), -1 with errno. */
long connection_read(struct connection *connection, struct block_pool *pool);

/* The next request in the in block. A bad one is explained in why. frame_max bounds the whole frame. */
enum connection_frame connection_peek(const struct connection *connection, uint32_t frame_max, const uint8_t **frame,
				      uint32_t *frame_len, char *why, size_t why_size);
/* How many more requests lie whole behind that one of *len bytes: at most frames_max, all in one message of bytes_max bytes. *len
 * grows by them; message_len is that of the message, where each frame is aligned. */
uint32_t connection_peek_more(const struct connection *connection, uint32_t frame_max, uint32_t frames_max, uint32_t bytes_max,
			      uint32_t *len, uint32_t *message_len);
void connection_consume(struct connection *connection, struct block_pool *pool, uint32_t len);

/* Where the next len bytes for the client belong, or NULL when there is no memory. Append some of them, or
 * close the connection. */
uint8_t *connection_room(struct connection *connection, struct block_pool *pool, size_t len);
/* Queues the first len bytes that were written there. */
void connection_append(struct connection *connection, size_t len);

/* Writes what the socket takes now: 0, or -1 with errno. */
int connection_flush(struct connection *connection, struct block_pool *pool);

/* Reads and throws away: false once the client has closed or the socket failed. */
bool connection_discard(struct connection *connection);

/* Writes the client's address to name and returns it. */
const char *connection_peer_name(const struct connection *connection, char *name /* PEER_NAME_MAX */);

#endif
