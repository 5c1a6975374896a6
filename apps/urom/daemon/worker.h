/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker as the daemon knows it: its process, its clients, and what they wait for. */
#ifndef UROM_DAEMON_WORKER_H
#define UROM_DAEMON_WORKER_H

#include <sys/queue.h>
#include <sys/types.h>

#include "../heartbeat.h"
#include "../own_time.h"
#include "output.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"

struct daemon_client;

/* A client's request for a worker that is not ready yet, or does not read that it may join. */
struct daemon_request {
	TAILQ_ENTRY(daemon_request) next;
	struct daemon_client *client;
	uint64_t tag; /* the message's, which the answer repeats */
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
	int door;		/* the socket by which it is handed connections */
	struct sf_comm_key key; /* of TLS with it */
	struct daemon_source source;
	struct daemon_output output;
	struct heartbeat *heartbeat; /* in memory that is the process's too: not to be relied upon */
	uint64_t last_word;	     /* of the heartbeat */
	struct own_time idle;	     /* that it had since it said so */
	bool looked;
	uint32_t num_packets; /* that it sent */
	enum daemon_worker_state state;
	bool asked; /* to end */
	bool killed;
	bool unborn;		    /* its process failed before it was the worker's program */
	struct own_time time;	    /* that it had in STARTING or ENDING; READY: since it is full */
	uint64_t limit_ns;	    /* of it */
	bool is_full;		    /* its socket: it reads of no new clients just now */
	char reason[UROM_TEXT_MAX]; /* it said why it failed */
	TAILQ_HEAD(, daemon_request) requests;
	uint32_t num_requests;
	LIST_HEAD(, daemon_ref) refs;
};

#endif
