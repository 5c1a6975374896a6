/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker context. A file x.h declares what x.c defines:
 *
 *   worker_peer      the connection to the worker process
 *   worker_task_cmd  the task that takes a command to a plugin
 */
#ifndef UROM_WORKER_H
#define UROM_WORKER_H

#include <sys/queue.h>

#include <doca_urom.h>

#include "base/liveness.h"
#include "core/ctx.h"
#include "urom/comm/comm.h"
#include "urom/service_request.h"

#define UROM_INFLIGHT_DEFAULT 128
#define UROM_INFLIGHT_MAX 16384
#define UROM_JOIN_NS UINT64_C(10000000000) /* time limit for a worker process to accept a context */

/* A request to a worker process to forget a domain. */
struct urom_leave {
	STAILQ_ENTRY(urom_leave) next;
	uint64_t domain;
};

enum urom_worker_phase {
	UROM_WORKER_OFF,
	UROM_WORKER_SPAWNING, /* the service was asked */
	UROM_WORKER_JOINING,  /* the process was asked */
	UROM_WORKER_ON,
	UROM_WORKER_LOST, /* the process is gone, or never existed */
	UROM_WORKER_RELEASING,
};

struct doca_urom_worker {
	struct doca_ctx ctx;
	struct sf_task_pool pool; /* of command tasks */
	struct doca_urom_service *service;
	uint64_t wanted_id, id, plugins;
	uint32_t gid, wanted_gid;
	bool has_gid, wants_gid, has_cpuset;
	doca_cpu_set_t cpuset;
	uint32_t max_inflight;
	char **env;
	size_t num_env;
	/* from start on */
	enum urom_worker_phase phase;
	bool registered; /* the service counts us among the process's clients */
	bool logged;	 /* the end of this run was logged */
	struct urom_request request;
	struct sf_comm *comm;
	struct sf_comm_peer *peer;
	struct sf_status_conn status_conn; /* to the daemon while its answer is awaited, else to the process */
	size_t message_max;
	uint8_t *payloads; /* of all tasks: for each, message_max bytes of the command, then as many of the response */
	struct doca_task *ended;
	int wake_fd;
	int join_fd;		 /* a timer, while JOINING; else -1 */
	struct sf_liveness join; /* the process's */
	uint8_t *addresses;	 /* the addresses of the process's plugins, packed */
	size_t addresses_len;
	LIST_HEAD(, urom_member) members;
	STAILQ_HEAD(, urom_leave) leaves; /* to be sent to the process once its queue has room */
};

#endif
