/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU sends to a kernel through a GPU queue. */
#ifndef COMCH_GPU_SENDER_H
#define COMCH_GPU_SENDER_H

#include "comch/gpu_queue.h"

/*
 * The send state of a GPU queue. All producers of the process that send to one consumer share it, from any thread.
 *
 * As long as there is one producer it takes no lock: a locked instruction would wait for the stores of the message before, which
 * have to fetch their lines from the kernel's CPU. It sets busy, checks that it is alone, and sends. A producer that joins sets
 * shared, makes a memory barrier in all threads of the process, and waits until busy is clear.
 */
struct gpu_sender {
	struct gpu_queue box;
	uint32_t shared;	   /* there have been several producers */
	uint32_t busy;		   /* the only producer is sending */
	uint32_t lock;		   /* of several: spin; held for one message */
	uint32_t producers;	   /* guarded by the caller's lock */
	uint32_t seq;		   /* owned by the sending producer, as are the fields below */
	uint32_t count, len, done; /* the credits, as last read */
	bool closed;
	uint64_t arena_head, arena_tail;
	uint32_t arena_used; /* bytes of the arena in turn */
	uint64_t *arena_end; /* depth of them: where the arena's head stood behind each message */
};

doca_error_t comch_gpu_sender_init(struct gpu_sender *sender, const struct gpu_queue *box);
void comch_gpu_sender_fini(struct gpu_sender *sender);

/* Adds or removes a producer. Calls do not overlap. In between, that producer sends from one thread at a time. */
void comch_gpu_sender_join(struct gpu_sender *sender);
void comch_gpu_sender_leave(struct gpu_sender *sender);

/* AGAIN: no receive is posted, or no arena bytes are free. TOO_BIG: longer than the receive, which stays. NOT_CONNECTED: closed.
 * object: identifies the message in the timeline, usually its task. */
doca_error_t comch_gpu_sender_send(struct gpu_sender *sender, const void *object, const struct sf_iov *iov, uint32_t iov_num,
				   const void *imm, uint32_t imm_len);

/* Returns the kernel's posted receives that no message was sent to yet, and sets *len to their length. The sender must have no
 * other thread. */
uint32_t comch_gpu_sender_credits(struct gpu_sender *sender, uint32_t *len);

#endif
