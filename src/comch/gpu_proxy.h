/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proxy thread: it moves messages between the GPU queues of this process's kernels and connections to peers that cannot map a
 * GPU queue, because they are on another machine or are reached through an RDMA device. No thread of the program takes part.
 *
 * There is one for the process, from the first consumer or producer that needs it to the last. It polls as long as messages come,
 * and a little longer; then it sleeps until a peer or a kernel of a software GPU rings its doorbell. A posted receive rings no
 * doorbell, so a sleep ends after 1 to 10 ms. A real GPU never rings, so with one a sleep ends after 1 ms.
 *
 * Everything that it polls is touched with its lock held.
 */
#ifndef COMCH_GPU_PROXY_H
#define COMCH_GPU_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

/* What the thread polls for one consumer or producer. */
struct gpu_proxy {
	bool (*poll)(struct gpu_proxy *proxy); /* returns whether anything moved */
	bool (*arm)(struct gpu_proxy *proxy);  /* returns true if something is due; otherwise the doorbell will ring */
	bool hardware;			       /* its GPU is real */
	struct gpu_proxy *next;
	uint64_t generation; /* of the process; a child made by fork has no proxy thread, and polls nothing of its parent's */
};

/* Starts the thread, or adds a user to it. *event_fd is its doorbell, for an endpoint. Errors are logged. */
doca_error_t comch_gpu_proxy_acquire(int *event_fd);
/* Ends the thread with its last user. Without the lock. */
void comch_gpu_proxy_release(void);

/* Waits at most for one round of the thread. */
void comch_gpu_proxy_lock(void);
void comch_gpu_proxy_unlock(void);

/* Begins and ends polling. With the lock. */
void comch_gpu_proxy_add(struct gpu_proxy *proxy);
void comch_gpu_proxy_remove(struct gpu_proxy *proxy);

/* Returns true if this process polls it; false in a child made by fork. */
bool comch_gpu_proxy_is_ours(const struct gpu_proxy *proxy);

/* Ends the thread's sleep. Any thread; for kernels of a software GPU, which give it an argument. */
void comch_gpu_proxy_ring(void *unused);

#endif
