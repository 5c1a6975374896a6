/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker's thread does: it carries out orders, asks its sockets and its queue for work, and sleeps when there is none. */
#ifndef REMOTE_OFFLOAD_SERVER_WORKER_THREAD_H
#define REMOTE_OFFLOAD_SERVER_WORKER_THREAD_H

/* For pthread_create; the argument is the worker. It ends with WORKER_EXIT. */
void *worker_thread(void *worker);

#endif
