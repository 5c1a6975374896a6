/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_comch.h
 * The Comch consumer and producer as a kernel sees them: filled by the library when the context starts, then used by the
 * doca_dev_gpu_comch_* device functions alone.
 *
 * A handle lies in GPU memory. At any time one thread, one warp or one block uses it; kernels may use every pointer in it.
 * Programs only pass handles on and do not access their members; the layout may change between releases.
 */
#ifndef SOFTFIELD_GPU_COMCH_H_
#define SOFTFIELD_GPU_COMCH_H_

#include <stdint.h>
#include <softfield/gpu_queue.h>
#include <softfield/gpu_trace.h>

/** The message's bytes were in the line and its overflow slot. */
#define SOFTFIELD_IN_LINE UINT32_C(0xffffffff)
/** Consumers that one GPU producer can send to between its start and its stop. */
#define SOFTFIELD_GPU_PEERS_MAX 64

/** A posted receive, and what has arrived in it. */
struct softfield_gpu_recv {
	uint64_t addr;
	uint32_t len; /**< posted */
	uint32_t mkey;
	uint32_t got; /**< arrived */
	uint32_t imm_len;
	uint32_t offset; /**< position in the arena of a message that a warp or block still has to copy; else SOFTFIELD_IN_LINE */
	uint32_t reserved;
} __attribute__((aligned(16)));

/**
 * A consumer. The fields that every call reads are together, separate from those that empty polls write, so they stay in a GPU's
 * cache.
 */
struct doca_comch_gpu_consumer {
	/* fixed while the context runs */
	struct softfield_gpu_queue *gpu_queue;
	struct softfield_line *lines; /**< followed by their overflow slots */
	uint8_t *arena;
	struct softfield_gpu_recv *recvs; /**< depth of them */
	uint8_t *imm;			  /**< depth times SOFTFIELD_IMM_MAX bytes */
	uint32_t arena_size;
	uint32_t depth, shift; /**< lines, and its logarithm */
	uint32_t recv_max;     /**< posted at a time, at most depth */
	uint32_t hardware;
	/* the kernel's */
	uint32_t head;	     /**< messages returned to the kernel */
	uint32_t delivered;  /**< messages in their buffers */
	uint32_t posted;     /**< receives posted */
	uint32_t credited;   /**< of these, the sender has credits for */
	uint32_t credit_len; /**< their length */
	uint32_t rounds;     /**< loads in flight per thread, if the last poll found many messages */
	uint32_t status;     /**< a doca_error_t that ended it, or 0 */
	uint32_t found;	     /**< messages that a thread's last poll found */
	uint32_t goes_on;    /**< one of these used its overflow slot */
	uint32_t reserved_0;
	void *trace;	     /**< fixed, as the next: the ring for its events */
	uint64_t trace_salt; /**< the GPU queue's */
	uint32_t reserved_1[4];
	/* the kernel's, for empty polls */
	uint32_t empties; /**< polls in a row that found nothing */
	uint32_t lock;	  /**< the software GPU's, for warp and block scope */
	uint32_t reserved_2[30];
} __attribute__((aligned(128)));

/**
 * A consumer of the peer, as described by the host to the producer. An entry is used once; when the consumer ends its id is
 * cleared.
 */
struct softfield_gpu_peer {
	uint32_t consumer_id; /**< 0: none. Written last */
	uint32_t depth, shift;
	uint32_t arena_size; /**< the most bytes of one message to it */
	struct softfield_gpu_queue *gpu_queue;
	struct softfield_line *lines;
	void (*ring)(void *ring_arg); /**< software GPU: wakes the peer */
	void *ring_arg;
	uint32_t registered; /**< this process is registered for barriers (softfield_gpu_queue.barriers) */
	uint32_t reserved;
	uint64_t trace_salt; /**< the GPU queue's */
};

/** The producer's send state for such a consumer. */
struct softfield_gpu_dest {
	struct softfield_gpu_peer peer; /**< a copy */
	uint32_t seq;			/**< messages sent */
	uint32_t count, len, done;	/**< its credits, as last read */
	uint32_t closed;
	uint32_t reserved[3];
};

/** A message sent, until it is polled for and its arena bytes are free. */
struct softfield_gpu_send {
	uint64_t user_msg_id;
	uint32_t
		inline_len; /**< bytes in the line and its overflow slot, or UINT32_MAX: in the arena, and the next fields hold */
	uint32_t dest;
	uint64_t addr;
	uint64_t imm;
	uint64_t arena_end; /**< the arena's head after it */
	uint32_t len, imm_len;
	uint32_t offset; /**< in the arena */
	uint32_t seq;
};

/** A producer. It holds the send state of the consumer that it last sent to, beside the fields that every call reads. */
struct doca_comch_gpu_producer {
	struct softfield_gpu_dest current; /**< the send state of last_dest, which is stale in dests meanwhile */
	uint32_t last_dest;
	uint32_t status;       /**< a doca_error_t that ended it, or 0 */
	uint32_t sent, polled; /**< messages */
	uint32_t freed;	       /**< messages whose arena bytes are free */
	uint32_t send_ring;    /**< a power of two; fixed, as the next fields */
	uint32_t send_max;     /**< sent and not yet polled for, at most send_ring */
	uint32_t hardware;
	/* in the next cache line */
	struct softfield_gpu_send *sends; /**< send_ring of them */
	uint8_t *arena;
	struct softfield_gpu_queue *control; /**< its control word is set when the producer is stopped */
	struct softfield_gpu_peer *peers;    /**< SOFTFIELD_GPU_PEERS_MAX of them, in memory the host writes */
	struct softfield_gpu_dest *dests;    /**< as many, the kernel's */
	uint32_t arena_size;
	uint32_t arena_used; /**< bytes of it that are in use: a small ring stays in the CPU's cache. The kernel's, as the rest */
	uint64_t arena_head, arena_tail;
	uint32_t plan;	  /**< of a warp's or block's send: the decision of its first thread */
	uint32_t lock;	  /**< the software GPU's, for warp and block scope */
	uint32_t empties; /**< polls in a row that found nothing */
	uint32_t reserved;
	void *trace; /**< fixed: the ring for its events */
} __attribute__((aligned(128)));

#endif /* SOFTFIELD_GPU_COMCH_H_ */
