/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path on a GPU (softfield/gpu_rdma.h): the instance's thread executes the operations that kernels cannot, through the
 * fabric as for tasks.
 *
 *   gpu.c           memory, handle, start and stop; the state of connections for kernels
 *   gpu_thread.c    the thread
 *   gpu_lock.c      the lock shared by it and the program's calls
 *   gpu_commands.c  operations requested by kernels
 *   gpu_memory.c    the peers' memory that these access
 *   gpu_receives.c  receives that kernels post
 *
 * The lock's holder owns the instance's endpoint and connections: the program's thread during a call, else the instance's own.
 * The program's callbacks run in its own thread only.
 */
#ifndef RDMA_GPU_H
#define RDMA_GPU_H

#include <pthread.h>
#include <stdatomic.h>

#include <softfield/gpu_rdma.h>

#include "core/gpu.h"
#include "mem/buf_remote.h"
#include "rdma/connection.h"
#include "rdma/rdma.h"

#define RDMA_GPU_DEPTH_MIN 16 /* commands of a connection that the host has at a time */
#define RDMA_GPU_DEPTH_MAX 1024
#define RDMA_GPU_COMMANDS_MAX (UINT32_C(1) << 16) /* of all connections, as far as DEPTH_MIN allows */
#define RDMA_GPU_ARENA_MIN (UINT32_C(1) << 16)	  /* bytes of a connection's arena */
#define RDMA_GPU_ARENA_MAX (UINT32_C(1) << 22)	  /* likewise, and of all connections as far as ARENA_MIN allows */
#define RDMA_GPU_RECV_ARENA_MIN (UINT32_C(1) << 22)
#define RDMA_GPU_RECV_ARENA_MAX (UINT32_C(1) << 24)
#define RDMA_GPU_DRAIN_MS 1500	/* what a stop waits for operations and receives that peers hold: they give up after a second */
#define RDMA_GPU_HELD_MAX 8	/* memory of peers that a queue's operations access at a time */
#define RDMA_GPU_RECV_ROOM 4096 /* bytes of the receives' arena for each, within these bounds */

struct rdma_gpu;

/* An operation that a kernel asked for; the next generation of the ring uses it again. */
struct rdma_gpu_op {
	struct sf_op op;
	struct sf_iov iov;
	struct rdma_gpu_queue *queue;
	uint64_t len;
	bool is_empty; /* it has no effect, and completes in its turn */
	uint8_t header[RDMA_HEADER_SIZE];
	uint8_t data[SOFTFIELD_RDMA_CMD_DATA];
};

struct rdma_gpu_queue {
	struct rdma_gpu *gpu;
	struct doca_rdma_connection *connection; /* in the slot of that number */
	struct softfield_rdma_cmd *cmds;
	struct softfield_slot16 *progress;
	uint8_t *arena;
	struct rdma_gpu_op *ops;			    /* depth of them */
	uint32_t taken, submitted, finished;		    /* commands */
	uint32_t published;				    /* finished as kernels know it */
	doca_error_t status, published_status;		    /* what ended it */
	uint32_t published_state;			    /* SOFTFIELD_RDMA_NEW and on */
	uint32_t num_lives;				    /* connections that there were in the slot */
	uint64_t not_ready_since;			    /* ns, or 0: as a connection's */
	struct sf_buf_remote_range held[RDMA_GPU_HELD_MAX]; /* num_held of them are */
	uint32_t num_held;
};

struct rdma_gpu_recv {
	struct sf_recv recv;
	struct sf_iov iov;
	struct rdma_gpu *gpu;
	uint32_t seq;
	uint32_t offset; /* in the arena */
	uint64_t arena_end;
};

struct rdma_gpu {
	struct doca_rdma *rdma;
	struct doca_gpu *device;
	/* kernels' memory */
	uint8_t *handle; /* the instance, its queues and their operations */
	size_t wqes_offset, recv_ops_offset;
	struct softfield_rdma_queue *images; /* the queues as they are at first */
	uint8_t *rings, *rings_gpu;	     /* what both reach */
	uint8_t *recv_arena, *recv_arena_gpu;
	struct sf_region *recv_region;
	uint32_t num_queues, depth, arena_size, recv_size, recv_arena_size;
	size_t queue_stride; /* bytes of rings for a connection */
	/* connections */
	struct rdma_gpu_queue *queues;
	uint32_t published_state; /* of the instance */
	/* receives */
	struct rdma_gpu_recv *recvs;
	struct softfield_slot16 *posts;
	struct softfield_rdma_arrival *arrivals;
	uint32_t *freed;
	uint32_t posted, reclaimed, num_posted; /* posted: of the kernels'; num_posted: at the endpoint */
	uint32_t freed_seen;			/* *freed as last read */
	uint64_t recv_head, recv_tail;
	bool flushing;
	/* the thread */
	pthread_mutex_t lock; /* recursive */
	pthread_t thread;
	bool has_thread;
	_Atomic bool stopping;
	_Atomic uint32_t wanted;     /* calls that wait for the lock */
	int event_fd;		     /* wakes the thread */
	uint32_t *sleeping;	     /* in rings */
	uint32_t *wanted_by_kernels; /* likewise */
	bool polls;		     /* as kernels know it */
};

/* Makes what kernels use; those of an earlier run may not use it any more. The endpoint is opened after it, with event_fd. */
doca_error_t rdma_gpu_create(struct doca_rdma *rdma);
/* Frees it: no kernel may use it. NULL does nothing. */
void rdma_gpu_release(struct doca_rdma *rdma);
/* Tells kernels what connections there are now. With the lock. */
void rdma_gpu_publish(struct rdma_gpu *gpu);
/* Tells kernels whether the thread polls for commands all the time, so that they may leave it writes that they could execute. */
void rdma_gpu_publish_polling(struct rdma_gpu *gpu, bool polls);
/* Wakes the thread: for softfield_rdma_ring. */
void rdma_gpu_ring(void *gpu);

#endif
