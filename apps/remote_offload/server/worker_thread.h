/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a worker's thread: executes orders, polls its sockets and its queue, and sleeps when there is no work. */
#ifndef REMOTE_OFFLOAD_SERVER_WORKER_THREAD_H
#define REMOTE_OFFLOAD_SERVER_WORKER_THREAD_H

/* Start routine for pthread_create; the argument is the worker. It ends with WORKER_EXIT. */
void *worker_thread(void *worker);

#endif
