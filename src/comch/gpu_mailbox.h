/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU's side of mailboxes (softfield/gpu_mailbox.h says what one is): their memory, which the process that owns the GPU
 * makes and shares, and sending and receiving through one.
 *
 * Whatever lies in a mailbox was written by another process or a kernel and is checked before use; what each side counts, it
 * keeps here, in memory of its own.
 */
#ifndef COMCH_GPU_MAILBOX_H
#define COMCH_GPU_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <softfield/gpu_mailbox.h>

#include "core/gpu.h"
#include "fabric/fabric.h"

#define GPU_ARENA_MIN (UINT32_C(1) << 16)     /* bytes */
#define GPU_ARENA_MAX (UINT32_C(1) << 26)
#define GPU_ARENA_DEFAULT (UINT32_C(1) << 22) /* of a producer that knows no better */

/* ---- memory ---- */

/* Memory that kernels, this process and the peer reach. */
struct gpu_memory {
	struct doca_gpu *gpu;
	uint8_t *addr;
	uint8_t *gpu_addr; /* what kernels use for addr */
	size_t len;
	struct sf_region *region;
	uint8_t descriptor[SF_DESCRIPTOR_MAX];
	uint32_t descriptor_len;
};

/* Zeroed, len rounded up to pages. Errors are logged. */
doca_error_t gpu_memory_create(struct gpu_memory *memory, struct doca_gpu *gpu, struct sf_domain *domain, size_t len);
/* Also of one that create refused. No kernel may use it any more. */
void gpu_memory_destroy(struct gpu_memory *memory);

/* The power of two that holds value, within bounds that are powers of two. */
uint32_t gpu_pow2(uint64_t value, uint32_t min, uint32_t max);

/* ---- one mailbox ---- */

/* A mailbox as this process sees it: the geometry is a copy. */
struct gpu_mailbox {
	struct softfield_mailbox *head;
	struct softfield_line *lines;
	uint8_t *arena;
	uint32_t depth, shift, arena_size;
	uint32_t flags;
	bool registered; /* this process takes part in barriers (softfield_mailbox.barriers) */
};

/* Whether this process takes part in expedited memory barriers; registers it the first time. */
bool gpu_barriers(void);
/* Stands for the fences of the mailbox's sender (softfield_mailbox.barriers). */
void gpu_barrier_now(const struct gpu_mailbox *mailbox);

/* Bytes of a head, its lines and their annexes. */
static inline size_t gpu_mailbox_size(uint32_t depth)
{
	return sizeof(struct softfield_mailbox) + (size_t)depth * (sizeof(struct softfield_line) + sizeof(struct softfield_annex));
}

/* Writes the head at base + offset and gives the view. The memory is zero. */
void gpu_mailbox_init(uint8_t *base, size_t offset, size_t arena_offset, uint32_t arena_size, uint32_t depth, uint32_t flags,
		      uint32_t number, struct gpu_mailbox *mailbox);

/* The view of a mailbox of the peer's. INVALID_VALUE: it is none, or does not fit into len, or flows the other way.
 * UNSUPPORTED_VERSION: another Softfield's. */
doca_error_t gpu_mailbox_view(uint8_t *base, size_t len, size_t offset, bool to_kernel, struct gpu_mailbox *mailbox);

/* The owner's word to its kernel: the mailbox ends. Wakes a kernel that sleeps on it. */
void gpu_mailbox_close(struct softfield_mailbox *head, enum softfield_mailbox_closed why);

/* Wakes a software GPU's threads that sleep on the mailbox, after something was written to it. barriers: they make one. */
void gpu_mailbox_wake_now(struct softfield_mailbox *head);
static inline void gpu_mailbox_wake(const struct gpu_mailbox *mailbox, bool barriers)
{
	if (mailbox->flags & SOFTFIELD_MAILBOX_HARDWARE)
		return;
	if (!barriers)
		softfield_fence_system(); /* what was written before the look; the sleeper sets the word, then looks */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&mailbox->head->sleeping, __ATOMIC_RELAXED) != 0, 0))
		gpu_mailbox_wake_now(mailbox->head);
}

/* ---- sending to a kernel ---- */

/*
 * The sender's account. All producers of the process that send to one consumer share it, from any thread.
 *
 * As long as there is one producer it takes no lock: a locked instruction would wait for the stores of the message before,
 * which have to fetch their lines from the kernel's CPU. It says that it is busy, looks whether it is alone, and goes on;
 * who joins it says so, makes a memory barrier in all threads of the process, and waits until it is not busy.
 */
struct gpu_sender {
	struct gpu_mailbox box;
	uint32_t shared;		/* there have been several producers */
	uint32_t busy;			/* the only producer is sending */
	uint32_t lock;			/* of several: spin; held for one message */
	uint32_t producers;		/* guarded by the caller's lock */
	uint32_t seq;			/* the one's who sends, as is what follows */
	uint32_t count, len, done;	/* the grant, as last read */
	bool closed;
	uint64_t arena_head, arena_tail;
	uint32_t arena_used;		/* bytes of the arena in turn */
	uint64_t *arena_end;		/* depth of them: where the arena's head stood behind each message */
};

doca_error_t gpu_sender_init(struct gpu_sender *sender, const struct gpu_mailbox *box);
void gpu_sender_fini(struct gpu_sender *sender);

/* One producer more, or less. Calls do not overlap, and between the two that producer sends from one thread at a time. */
void gpu_sender_join(struct gpu_sender *sender);
void gpu_sender_leave(struct gpu_sender *sender);

/* AGAIN: no receive is posted, or no arena bytes are free. TOO_BIG: longer than the receive, which stays. NOT_CONNECTED: closed. */
doca_error_t gpu_sender_send(struct gpu_sender *sender, const struct sf_iov *iov, uint32_t iov_num, const void *imm, uint32_t imm_len);

/* ---- receiving from a kernel ---- */

/* A message that arrived, inside the mailbox: copy it out. */
struct gpu_arrival {
	uint32_t len, imm_len;
	const uint8_t *arena;			  /* its bytes, or NULL: they are in line */
	uint8_t line[SOFTFIELD_INLINE_MAX + 16]; /* its bytes and then its immediate data; or the latter only */
};

struct gpu_receiver {
	struct gpu_mailbox box;
	uint32_t seq;	       /* messages taken */
	uint32_t count, len;   /* granted */
	uint32_t published;    /* seq as last written */
};

/* Looks at the next message. SUCCESS, AGAIN: none, IO_FAILED: what is there is not valid. */
doca_error_t gpu_receiver_peek(const struct gpu_receiver *receiver, struct gpu_arrival *arrival);
static inline void gpu_receiver_next(struct gpu_receiver *receiver) { receiver->seq++; }
/* Is there anything to look at? */
bool gpu_receiver_ready(const struct gpu_receiver *receiver);
/* Grants receives so that count of len bytes are open, as far as the ring holds them and those of another length are used up. */
void gpu_receiver_grant(struct gpu_receiver *receiver, uint32_t count, uint32_t len);
/* Grants no more. */
void gpu_receiver_close(struct gpu_receiver *receiver);

#endif
