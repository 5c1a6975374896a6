/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a Comch connection for tests: device, progress engine, server or client, and a record of its callbacks. Both sides
 * may be in one process, or in one each.
 */
#ifndef TESTS_SUPPORT_COMCH_SIDE_H
#define TESTS_SUPPORT_COMCH_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "base/clock.h"
#include "support/wait.h"

#define SIDE_WAIT_S 60	   /* only a hang takes longer, even on a busy machine */
#define SIDE_MSGS_MAX 4096 /* bytes of the last message that are kept */
#define SIDE_STATES_MAX 16

#define DPU_DEV "03:00.0"
#define HOST_DEV "d8:00.0"

struct comch_side {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server; /* one of the two */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;     /* the last connection */
	enum doca_ctx_states states[SIDE_STATES_MAX]; /* every state entered */
	uint32_t num_states;
	uint32_t num_connects, num_failed_connects, num_disconnects;
	uint32_t num_msgs, msg_len;
	uint8_t msg[SIDE_MSGS_MAX];
	uint32_t num_sent, num_send_errors;
	doca_error_t send_status;
	uint32_t num_new_consumers, new_consumer_id, num_expired_consumers, expired_consumer_id;
	void (*on_msg)(struct comch_side *side, const uint8_t *msg, uint32_t len, struct doca_comch_connection *connection);
};

/* Opens a device by PCI address; fails the test if there is none. */
struct doca_dev_rep *side_open_rep(struct doca_dev *dev, const char *pci_addr);

/* Creates it, connects it to a new progress engine, and configures it; does not start it. */
void side_init_server(struct comch_side *side, const char *name);
void side_init_client(struct comch_side *side, const char *name);
/* Stops and frees everything. peer may be NULL; else its progress engine is progressed as well. */
void side_fini(struct comch_side *side, struct comch_side *peer);

/* Starts server and client and waits until they are connected. */
void side_connect(struct comch_side *server, struct comch_side *client);

/* Sends one control message; repeats for a while on AGAIN. */
doca_error_t side_send(struct comch_side *side, const void *msg, uint32_t len);

enum doca_ctx_states side_state(struct doca_ctx *ctx);
extern uint64_t side_wait_s;

/* Progresses up to four engines (NULL ones are skipped) until the condition holds; fails the test after side_wait_s. */
#define SIDE_WAIT(condition, pe0, pe1, pe2, pe3)                                                                                 \
	do {                                                                                                                     \
		struct doca_pe *side_pes[] = {pe0, pe1, pe2, pe3};                                                               \
		uint64_t side_end = sf_now_ns() + side_wait_s * UINT64_C(1000000000);                                            \
		uint32_t side_idle = 0;                                                                                          \
		while (!(condition)) {                                                                                           \
			bool side_moved = false;                                                                                 \
			for (int side_i = 0; side_i < 4; side_i++)                                                               \
				side_moved |= side_pes[side_i] != NULL && doca_pe_progress(side_pes[side_i]) != 0;               \
			turn_end(&side_idle, side_moved);                                                                        \
			if (sf_now_ns() > side_end) {                                                                            \
				print_error("waited too long for " #condition "\n");                                             \
				fail();                                                                                          \
			}                                                                                                        \
		}                                                                                                                \
	} while (0)

/* ---- data path ---- */

struct data_memory {
	uint8_t *bytes;
	size_t len;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
};

void data_memory_init(struct data_memory *memory, struct doca_dev *dev, size_t len, uint32_t num_bufs);
void data_memory_fini(struct data_memory *memory);
/* A buffer whose data section is empty, or all of the buffer. */
struct doca_buf *data_buf_empty(struct data_memory *memory, size_t offset, size_t len);
struct doca_buf *data_buf_full(struct data_memory *memory, size_t offset, size_t len);

struct data_side {
	struct doca_pe *pe;    /* its own, or NULL */
	struct doca_pe *drive; /* the one that it is connected to */
	struct doca_ctx *ctx;
	struct doca_comch_consumer *consumer; /* one of the two */
	struct doca_comch_producer *producer;
	uint32_t id;
	struct data_memory memory;
	enum doca_ctx_states states[SIDE_STATES_MAX];
	uint32_t num_states;
	uint32_t num_done, num_errors;
	doca_error_t status; /* of the last task that ended with an error */
	bool keep;	     /* callbacks neither free nor resubmit the task */
	bool repost;	     /* the consumer's callback resets the buffer and submits again */
	/* of the last message received */
	uint32_t producer_id, imm_len;
	uint8_t imm[64];
	size_t data_len;
	struct doca_task *last_task;
	void (*on_done)(struct data_side *side, struct doca_task *task);
};

/* Creates it, connects it to a progress engine (a new one if pe is NULL), and configures it with memory_len bytes of memory. */
void data_init_consumer(struct data_side *side, struct comch_side *control, struct doca_pe *pe, uint32_t num_tasks,
			size_t memory_len);
void data_init_producer(struct data_side *side, struct comch_side *control, struct doca_pe *pe, uint32_t num_tasks,
			size_t memory_len);
void data_fini(struct data_side *side);
/* Starts it and waits for RUNNING; progresses the two control engines as well. */
void data_start(struct data_side *side, struct doca_pe *control0, struct doca_pe *control1);

/* Posts one receive into the consumer's memory. */
struct doca_task *data_post(struct data_side *consumer, size_t offset, size_t len);
/* Sends part of the producer's memory; returns the result of the last submit. Repeats on AGAIN, unless once is set. */
doca_error_t data_send(struct data_side *producer, size_t offset, size_t len, uint32_t consumer_id, const void *imm,
		       uint32_t imm_len, bool once);

#endif
