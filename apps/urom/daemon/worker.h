/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's record of a worker: its process, its clients and their pending requests. */
#ifndef UROM_DAEMON_WORKER_H
#define UROM_DAEMON_WORKER_H

#include <sys/queue.h>
#include <sys/types.h>

#include "../heartbeat.h"
#include "../own_time.h"
#include "output.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"

struct daemon;
struct daemon_client;

/* A client's request for a worker that is not ready yet or whose socket is full. */
struct daemon_request {
	TAILQ_ENTRY(daemon_request) next;
	struct daemon_client *client;
	uint64_t tag; /* of the message; the answer repeats it */
};

enum daemon_worker_state { WORKER_STARTING, WORKER_READY, WORKER_ENDING };

struct daemon_worker {
	TAILQ_ENTRY(daemon_worker) next;
	uint64_t id, plugins;
	char names[UROM_TEXT_MAX]; /* of the plugins */
	uint32_t gid;
	bool has_gid;
	pid_t pid;
	int fd;			/* its socket */
	int door;		/* the socket that passes connections to it */
	struct sf_comm_key key; /* its TLS key */
	struct daemon_source source;
	struct daemon_output output;
	struct heartbeat *heartbeat; /* in memory shared with the process: untrusted */
	uint64_t last_word;	     /* of the heartbeat */
	struct own_time idle;	     /* own time since the last word */
	bool looked;
	uint32_t num_packets; /* received from it */
	enum daemon_worker_state state;
	bool asked; /* was asked to end */
	bool killed;
	bool unborn;		    /* its process failed before execve */
	struct own_time time;	    /* own time in STARTING or ENDING; in READY since it is full */
	uint64_t limit_ns;	    /* of `time` */
	bool is_full;		    /* its socket is full: it does not read about new clients */
	char reason[UROM_TEXT_MAX]; /* the failure that it reported */
	TAILQ_HEAD(, daemon_request) requests;
	uint32_t num_requests;
	LIST_HEAD(, daemon_ref) refs;
};

/* Adds it to the daemon's, without a process. No other has this id. NULL: no memory. */
struct daemon_worker *worker_create(struct daemon *daemon, const struct urom_spawn *spawn, uint64_t id);
/* Frees it with its requests and its clients' references, without notifying the clients. */
void worker_free(struct daemon *daemon, struct daemon_worker *worker);
/* The request is answered. */
void worker_drop_request(struct daemon_worker *worker, struct daemon_request *request);

#endif
