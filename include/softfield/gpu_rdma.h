/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma.h
 * An RDMA instance between its kernels and its host: shared by doca_gpunetio_dev_rdma.cuh and libdoca_rdma. Not for programs.
 *
 * A kernel itself executes writes and reads of peer memory that it has an address for. The instance's host thread executes
 * operations that consume a receive of the peer (all senders share the receives, and PCIe has no atomics), and those on memory
 * that the kernel has no address for. It also executes short writes that follow one another in order: a CPU's stores stay in
 * order, while a kernel needs a fence across PCIe behind each. The two communicate in memory that both map:
 *
 * - Command: 128 bytes, eight 16-byte slots of 12 payload bytes and a mark. The mark holds the generation of the ring, never 0,
 *   so each slot shows by itself whether it is complete. Only as many slots are written as the command needs. Up to 64 bytes of
 *   data travel in it; more lies in an arena, or in memory that the CPU can access.
 * - Progress: the host's 16-byte slot for each connection: how many commands it has finished, and the error if one failed.
 * - Post: one 16-byte slot for each receive, with its length, and how many receives were consumed before.
 * - Arrival: 64 bytes for each receive, in the same marked 16-byte slots: what has arrived. Up to 32 bytes of it travel in it;
 *   more lies in an arena, where the peer put it.
 *
 * The host writes the states, which it publishes to all kernels, into the GPU's memory, where reading them costs almost nothing.
 */
#ifndef SOFTFIELD_GPU_RDMA_H_
#define SOFTFIELD_GPU_RDMA_H_

#include <stdint.h>
#include <softfield/device.h>
#include <softfield/gpu_buf.h>

#define SOFTFIELD_RDMA_CMD_SLOTS16 8
#define SOFTFIELD_RDMA_CMD_HEADER 32 /**< bytes of a command's payload before its data */
#define SOFTFIELD_RDMA_CMD_DATA 64   /**< bytes of data in it */
#define SOFTFIELD_RDMA_ARRIVAL_HEADER 16
#define SOFTFIELD_RDMA_ARRIVAL_DATA 32
#define SOFTFIELD_RDMA_SEND_INLINE 44  /**< bytes of an inline send */
#define SOFTFIELD_RDMA_WRITE_INLINE 28 /**< bytes of an inline write */
#define SOFTFIELD_RDMA_LEN_MAX (UINT32_C(1) << 31)
#define SOFTFIELD_RDMA_ALIGN 64 /**< where a message begins in an arena */
/** A software GPU passes messages of up to this many bytes by the arena; a real one passes all by it. */
#define SOFTFIELD_RDMA_STAGED 4096

/** The operation of a command. */
enum softfield_rdma_kind {
	SOFTFIELD_RDMA_SEND = 1,
	SOFTFIELD_RDMA_WRITE,	/**< to memory that the kernel has no address for */
	SOFTFIELD_RDMA_READ,	/**< from such memory */
	SOFTFIELD_RDMA_WRITTEN, /**< the bytes are written: complete the peer's receive with the immediate */
	SOFTFIELD_RDMA_REFUSED, /**< the connection ends with the status that word IMM holds */
};

/** Words of a command's header. Word KIND holds the flags too, and in its upper half the bytes of data in the command. */
enum {
	SOFTFIELD_RDMA_CMD_KIND,
	SOFTFIELD_RDMA_CMD_IMM,
	SOFTFIELD_RDMA_CMD_LEN,
	SOFTFIELD_RDMA_CMD_AT, /**< two words: the CPU's address of the local bytes, or where they are in the arena */
	SOFTFIELD_RDMA_CMD_ID = 5,
	SOFTFIELD_RDMA_CMD_REMOTE, /**< two words: the owner's address */
};

/**
 * A write of a word that the kernel leaves to the host is a command of one slot: two words with the word, two with the address
 * for kernels, of 48 bits, or 0: no effect. The last word's upper half holds these bits, and 13 of the generation in place of a
 * mark.
 */
#define SOFTFIELD_RDMA_STORE (UINT32_C(1) << 30)
#define SOFTFIELD_RDMA_STORE_4 (UINT32_C(1) << 29) /**< of 4 bytes, not 8 */
#define SOFTFIELD_RDMA_STORE_ADDRESS_BITS 48

/** Flags of a command, beside its kind. */
enum {
	SOFTFIELD_RDMA_HAS_IMM = 1 << 8,
	SOFTFIELD_RDMA_IN_ARENA = 1 << 9,
	SOFTFIELD_RDMA_IN_COMMAND = 1 << 10,
	SOFTFIELD_RDMA_WORD = 1 << 11,	 /**< of a work queue entry: the kernel executes it by one load and one store */
	SOFTFIELD_RDMA_BY_CPU = 1 << 15, /**< likewise: or the host's thread does, which can also access the remote memory */
};

/** Words of an arrival. Word KIND is a doca_rdma_opcode, and IN_COMMAND or IN_ARENA. */
enum {
	SOFTFIELD_RDMA_ARR_KIND,
	SOFTFIELD_RDMA_ARR_LEN,
	SOFTFIELD_RDMA_ARR_IMM,
	SOFTFIELD_RDMA_ARR_CONNECTION,
	SOFTFIELD_RDMA_ARR_DATA
};

/** A command's place in the ring of its connection. */
struct softfield_rdma_cmd {
	struct softfield_slot16 slot16[SOFTFIELD_RDMA_CMD_SLOTS16];
} __attribute__((aligned(128)));

/** What has arrived in a receive. */
struct softfield_rdma_arrival {
	struct softfield_slot16 slot16[4];
} __attribute__((aligned(64)));

/**
 * A work queue entry: an operation, from its post until it is done. In the GPU's memory, the kernels' alone. The last word of
 * each 16-byte slot is its position plus 1, so all of it can be loaded together, and shows by itself whether it is complete.
 * The other words:
 *
 *     slot  operation on memory                            inline operation
 *     0     kind, flags, number of slots, permissions;     the same
 *           the remote address
 *     1     bytes; the local address                       bytes; words 0 and 1
 *     2     the immediate; the remote memory's id          the same; word 2
 *     3     the local address for the CPU                  words 3 to 5
 *     4, 5                                                 words 6 to 11
 *
 * Most have only the first two.
 */
struct softfield_rdma_wqe {
	struct softfield_slot16 slot16[6];
	struct softfield_slot16 sent; /**< since it was sent to the host; its words are below */
} __attribute__((aligned(128)));

/** Commands of the connection up to it; whether its bytes are in the arena; two words: the arena's head after it. */
enum { SOFTFIELD_RDMA_SENT_COMMAND, SOFTFIELD_RDMA_SENT_STAGED, SOFTFIELD_RDMA_SENT_ARENA_END };

#define SOFTFIELD_RDMA_WQE_SLOTS16 12	  /**< in word 0 of slot 0: where the number of slots is */
#define SOFTFIELD_RDMA_WQE_PERMISSIONS 16 /**< and the permissions of the remote memory */
#define SOFTFIELD_RDMA_WQE_WORDS 12	  /**< of an inline operation */

/** A decoded operation. */
struct softfield_rdma_op {
	uint32_t kind; /**< enum softfield_rdma_kind, and HAS_IMM; IN_COMMAND: its bytes are in words */
	uint32_t imm, len;
	uint32_t id;	      /**< the host finds the remote memory by it */
	uint32_t permissions; /**< of the remote memory */
	uint32_t by_cpu;      /**< SOFTFIELD_RDMA_BY_CPU, or 0 */
	uint64_t local;	      /**< an address for kernels */
	uint64_t local_cpu;   /**< the CPU's, or 0 */
	uint64_t remote;      /**< an address for kernels; if id is not 0, the owner's */
	uint32_t words[SOFTFIELD_RDMA_WQE_WORDS];
	struct softfield_rdma_wqe *wqe;
};

/**
 * Of a connection, or of an instance: word STATE, and the result of calls after it has ended; the permissions of the connection's
 * peer; whether the instance's thread polls for commands all the time, and so may get a kernel's own writes.
 */
enum { SOFTFIELD_RDMA_STATE, SOFTFIELD_RDMA_STATUS, SOFTFIELD_RDMA_PERMISSIONS, SOFTFIELD_RDMA_POLLS };
enum { SOFTFIELD_RDMA_NEW, SOFTFIELD_RDMA_OPEN, SOFTFIELD_RDMA_ENDED };

/** Writes to the peer since the last fence: those that later ones may overtake, as the peer's memory map allows, and others. */
enum { SOFTFIELD_RDMA_DIRTY_RELAXED = 1, SOFTFIELD_RDMA_DIRTY = 2 };
#define SOFTFIELD_RDMA_READING 4 /**< beside them in a queue */

/**
 * A connection's operations. The fields that every post reads do not change while the connection is open, so their line stays in
 * a multiprocessor's cache. Fields that change with every post, and those that change under the lock, are in other lines.
 */
struct softfield_rdma_queue {
	struct softfield_slot16 state; /**< the host writes it */
	struct softfield_rdma_wqe *wqes;
	struct softfield_rdma_cmd *cmds;
	const struct softfield_slot16 *progress;
	uint8_t *arena;
	uint32_t size;		     /**< entries, a power of two */
	uint32_t depth, shift;	     /**< commands, and the logarithm */
	uint32_t arena_size;	     /**< bytes, a power of two */
	struct doca_gpu_buf nothing; /**< a buffer of no bytes, for requests that lack one */
	/* changed by each post */
	uint64_t tail __attribute__((aligned(128))); /**< the next free position, and how posts go to the host directly */
	uint32_t lock;
	/* changed under the lock: what struct softfield_rdma_held has meanwhile */
	struct softfield_slot16 held[3] __attribute__((aligned(128)));
	uint32_t done; /**< position: completed up to here */
} __attribute__((aligned(128)));

/** Words of held[0], and of held[1], that others read, too. */
enum { SOFTFIELD_RDMA_HELD_COMMITTED, SOFTFIELD_RDMA_HELD_COMMITS = 2 };
enum { SOFTFIELD_RDMA_HELD_FINISHED = 1 };

/**
 * A queue whose lock the calling thread has. What the lock guards is in registers meanwhile: each access to the GPU's memory
 * takes 0.15 us.
 */
struct softfield_rdma_held {
	struct doca_gpu_dev_rdma *rdma;
	struct softfield_rdma_queue *q;
	uint32_t given; /**< permissions of the peer's instance */
	uint64_t tail;	/**< the queue's, as it was then */
	uint32_t words; /**< words left to the host since the lock was last taken */
	/* held[0] */
	uint32_t committed; /**< position: committed up to here */
	uint32_t executed;  /**< position: begun up to here */
	uint32_t commits;   /**< since the last wait_all */
	uint32_t status;    /**< a doca_error_t that ended it, or 0 */
	/* held[1] */
	uint32_t sent, finished; /**< commands; finished as last read */
	uint32_t dirty;		 /**< flags above */
	uint32_t reading;	 /**< the operation at executed is a read by way of the arena */
	uint32_t direct_from;	 /**< if posts go to the host directly: from this position on they have */
	/* held[2] */
	uint64_t arena_head, arena_tail;
};

struct doca_gpu_dev_rdma;

#define SOFTFIELD_RDMA_SLOT16_LOCK 2 /**< the word of a 16-byte slot that is the lock of its other words */

/**
 * Words of the receives' positions, beside their lock: committed up to there; consumed up to there; the position behind the last
 * committed receive that is not small.
 */
enum { SOFTFIELD_RECV_COMMITTED, SOFTFIELD_RECV_TAKEN, SOFTFIELD_RECV_LARGE = SOFTFIELD_RDMA_SLOT16_LOCK + 1 };

/** The receives of an instance, for messages of all its connections. */
struct doca_gpu_dev_rdma_r {
	struct doca_gpu_dev_rdma *rdma;
	struct softfield_slot16 *ops; /**< posted receives: address for kernels, length, position plus 1 */
	struct softfield_slot16 *posts;
	const struct softfield_rdma_arrival *arrivals;
	uint32_t *freed; /**< kernels write taken there, unless all receives are small: the arena's bytes up to it are free */
	const uint8_t *arena;
	uint32_t size, shift; /**< receives, a power of two, and its logarithm */
	uint32_t arena_size;
	uint32_t small_max; /**< bytes of a small receive: the arena has room for twice as many as there can be */
	/* what changes */
	struct softfield_slot16 positions __attribute__((aligned(128)));
	uint64_t tail __attribute__((aligned(32))); /**< the next free position */
} __attribute__((aligned(128)));

/** An RDMA instance. Its connections' queues are behind it in memory, so their addresses need not be loaded. */
struct doca_gpu_dev_rdma {
	struct softfield_slot16 state; /**< the host writes it; for receives, which end when no connection is left */
	uint32_t num_queues;	       /**< connections that there can be */
	uint32_t hardware;
	void (*ring)(void *ring_arg); /**< software GPU: wakes the host's thread, if it sleeps */
	void *ring_arg;
	uint32_t *sleeping; /**< whether it sleeps */
	uint32_t *wanted;   /**< a kernel sets it for writes that the host's thread would have got, had it polled */
	struct doca_gpu_dev_rdma_r recv;
} __attribute__((aligned(128)));

/** The queue of a connection that there is. */
SOFTFIELD_DEVICE struct softfield_rdma_queue *softfield_rdma_queue_of(struct doca_gpu_dev_rdma *rdma, uint32_t index)
{
	return (struct softfield_rdma_queue *)(void *)(rdma + 1) + index;
}

/** The mark of message number seq in a ring of 1 << shift: never 0, and different in the next generation. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_mark(uint32_t seq, uint32_t shift)
{
	return 0x80000000u | seq >> shift;
}

/** The same for a write of a word. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_store_mark(uint32_t seq, uint32_t shift)
{
	return (uint32_t)SOFTFIELD_RDMA_STORE | (seq >> shift & 0x1fff) << 16;
}

#define SOFTFIELD_RDMA_STORE_MARK_MASK (UINT32_C(0xdfff) << 16)

/** Bytes that a message of len takes in an arena. */
SOFTFIELD_DEVICE uint64_t softfield_rdma_room(uint32_t len)
{
	return ((uint64_t)len + SOFTFIELD_RDMA_ALIGN - 1) & ~(uint64_t)(SOFTFIELD_RDMA_ALIGN - 1);
}

/**
 * Allocates len contiguous bytes; head and tail only grow. @return 1 and the offset, and head advances; 0 when there is no room
 * now
 */
SOFTFIELD_DEVICE int softfield_rdma_take(uint64_t *head, uint64_t tail, uint32_t size, uint32_t len, uint32_t *offset)
{
	uint64_t room = softfield_rdma_room(len), at = *head & (size - 1);
	uint64_t begin = at + room > size ? *head + (size - at) : *head;

	if (begin + room - tail > size)
		return 0;
	*offset = (uint32_t)(begin & (size - 1));
	*head = begin + room;
	return 1;
}

#endif /* SOFTFIELD_GPU_RDMA_H_ */
