/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One TCP client: reads bytes, finds the frames in them, writes answers. It uses sockets and blocks, not Comch; the worker
 * that owns it decides when to read and where a frame goes.
 */
#ifndef REMOTE_OFFLOAD_SERVER_CONNECTION_H
#define REMOTE_OFFLOAD_SERVER_CONNECTION_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"

#define PEER_NAME_MAX 80

/* Kept because getpeername() fails for a broken connection. */
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
	uint32_t unwritten;  /* answers since the last write */
	uint32_t idle_ticks; /* watchdog ticks without activity */
	union peer_address peer;
	int fd;	       /* -1 once closed, while answers are still due */
	bool readable; /* the socket may have bytes: edge-triggered */
	bool writable;
	bool peer_closed; /* the socket reported that the client sends no more */
	bool input_ended; /* read to the end */
	bool in_ready, in_dirty;
	bool held;	/* not ready again until answers are written */
	bool active;	/* a request was sent on or an answer written since the last watchdog tick */
	bool lingering; /* our side is shut down: further bytes are discarded */
};

enum connection_frame {
	CONNECTION_FRAME_COMPLETE,
	CONNECTION_FRAME_NONE, /* more bytes are needed */
	CONNECTION_FRAME_BAD,
};

struct connection *connection_create(int fd, const union peer_address *peer);

/* Closes the socket and returns the blocks to the pool; the struct stays valid while inflight is not 0. */
void connection_close(struct connection *connection, struct block_pool *pool);

/* Reads once into the in block. Returns the bytes read, 0 for no data or the end (then input_ended is set), -1 with errno. */
long connection_read(struct connection *connection, struct block_pool *pool);

/* Finds the next request in the in block. For an invalid one why has the reason. frame_max bounds the whole frame. */
enum connection_frame connection_peek(const struct connection *connection, uint32_t frame_max, const uint8_t **frame,
				      uint32_t *frame_len, char *why, size_t why_size);
/* Returns how many more complete requests follow that one of *len bytes: at most frames_max, all in one message of bytes_max
 * bytes. Adds their bytes to *len; *message_len is the length of the message, where each frame is aligned. */
uint32_t connection_peek_more(const struct connection *connection, uint32_t frame_max, uint32_t frames_max, uint32_t bytes_max,
			      uint32_t *len, uint32_t *message_len);
void connection_consume(struct connection *connection, struct block_pool *pool, uint32_t len);

/* Returns room for the next len bytes to the client, or NULL without memory. The caller must append some of them or close the
 * connection. */
uint8_t *connection_room(struct connection *connection, struct block_pool *pool, size_t len);
/* Queues the first len bytes of that room. */
void connection_append(struct connection *connection, size_t len);

/* Writes what fits into the socket buffer. Returns 0, or -1 with errno. */
int connection_flush(struct connection *connection, struct block_pool *pool);

/* Reads and discards. False once the client has closed or the socket failed. */
bool connection_discard(struct connection *connection);

/* Writes the client's address to name and returns it. */
const char *connection_peer_name(const struct connection *connection, char *name /* PEER_NAME_MAX */);

#endif
