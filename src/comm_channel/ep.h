/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint of the Comm Channel: a Comch server or client with its own progress engine, which each call drives. Messages that
 * arrive wait in a ring until the program receives them. Programs use an endpoint from several threads, so one lock guards all of
 * it; the callbacks of Comch run inside comm_channel_ep_progress, under the lock.
 */
#ifndef COMM_CHANNEL_EP_H
#define COMM_CHANNEL_EP_H

#include <pthread.h>
#include <stdbool.h>

#include <doca_comch.h>
#include <doca_comm_channel.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "base/log.h"

#define NAME_MAX_LEN 120 /* a service's name, with its NUL */
#define MSG_SIZE_DEFAULT 4080
#define QUEUE_SIZE_DEFAULT 16
#define SEND_QUEUE_MAX 8192
#define RECV_QUEUE_MAX 8192
#define RECV_SLACK 256	     /* messages that one progress call may add beyond the receive queue's size */
#define CONNECT_WAIT_MS 20   /* how long connect waits for a service's program */
#define SEND_RETRY_NS 200000 /* retry interval while a queue is full */

enum ep_role { EP_UNUSED, EP_SERVICE, EP_CLIENT };

enum peer_state { PEER_CONNECTING, PEER_CONNECTED, PEER_FAILED, PEER_GONE };

struct peer_counters {
	uint64_t sent_messages, sent_bytes, recv_messages, recv_bytes, in_flight;
};

struct doca_comm_channel_addr_t {
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *next;	  /* in the endpoint's list */
	struct doca_comch_connection *connection; /* while PEER_CONNECTED */
	enum peer_state state;
	uint64_t user_data;
	uint64_t num_sending;
	struct peer_counters counters; /* as last updated */
};

/* A message that was not received yet; its bytes are in its slot of the ring. */
struct ring_entry {
	struct doca_comm_channel_addr_t *from; /* NULL: its sender was disconnected, skip it */
	uint32_t len;
};

struct doca_comm_channel_ep_t {
	pthread_mutex_t lock;
	/* all guarded by lock */
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	uint16_t max_msg_size, send_queue_size, recv_queue_size;

	enum ep_role role;
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comm_channel_addr_t *peers;
	uint32_t num_sending; /* send tasks in flight */

	struct ring_entry *entries; /* ring_size of them, and as many slots of max_msg_size bytes */
	uint8_t *slots;
	uint32_t ring_size, ring_head, ring_num;

	int send_timer;			   /* the send channel */
	int recv_channel, service_channel; /* epoll sets of an eventfd and the engine's handle */
	int recv_event, service_event;
	bool send_armed, recv_armed, service_armed;
	bool recv_signalled;  /* recv_event was written and not read since */
	bool send_refused;    /* the last send found a queue full */
	bool service_changed; /* clients came or went since the last snapshot */

	struct doca_comm_channel_addr_t **snapshot;
	uint32_t snapshot_len;
};

/* INVALID_VALUE, logged with the function's name, when object or argument is NULL. */
doca_error_t comm_channel_ep_check(const char *function, const void *object, const void *argument);

/* Creates engine, ring and channels for a new role; comm_channel_ep_close frees them. NO_MEMORY or INITIALIZATION, logged. */
doca_error_t comm_channel_ep_open(struct doca_comm_channel_ep_t *ep);
void comm_channel_ep_close(struct doca_comm_channel_ep_t *ep);

/* Progresses the engine once, if the ring has room for the messages that may arrive. */
void comm_channel_ep_progress(struct doca_comm_channel_ep_t *ep);

struct doca_ctx *comm_channel_ep_ctx(const struct doca_comm_channel_ep_t *ep);

/* Stops and destroys the Comch context and frees every address. Blocks until all sends have completed. */
void comm_channel_ep_end(struct doca_comm_channel_ep_t *ep);

/* ---- peers ---- */

struct doca_comm_channel_addr_t *comm_channel_peer_add(struct doca_comm_channel_ep_t *ep, enum peer_state state);
void comm_channel_peer_remove(struct doca_comm_channel_addr_t *peer);
bool comm_channel_peer_is_of(const struct doca_comm_channel_addr_t *peer, const struct doca_comm_channel_ep_t *ep);

/* ---- messages ---- */

/* Callbacks of Comch. */
void comm_channel_message_arrived(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
				  struct doca_comch_connection *connection);
void comm_channel_message_sent(struct doca_comch_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data);

/* ---- events ---- */

doca_error_t comm_channel_events_open(struct doca_comm_channel_ep_t *ep);
void comm_channel_events_close(struct doca_comm_channel_ep_t *ep);

/* Called after each use of the engine: signals the channels that are due, and arms the engine for the others. */
void comm_channel_events_settle(struct doca_comm_channel_ep_t *ep);

/* Clears an event descriptor. Returns true if it was readable. */
bool comm_channel_events_take(int *event_fd);

/* Makes the receive channel readable if it is armed; clears it. */
void comm_channel_events_signal_recv(struct doca_comm_channel_ep_t *ep);
void comm_channel_events_unsignal_recv(struct doca_comm_channel_ep_t *ep);

/* Makes the send channel readable: immediately, or after the retry interval if a queue was full. */
void comm_channel_events_set_send_timer(struct doca_comm_channel_ep_t *ep);

#endif
