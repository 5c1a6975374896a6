/* SPDX-License-Identifier: BSD-3-Clause */
/* All limits of a worker process. */
#ifndef UROM_WORKER_BOUNDS_H
#define UROM_WORKER_BOUNDS_H

#include <stdint.h>

#include "urom/comm/comm.h"

#define WORKER_TOKENS_MAX SF_COMM_PEERS_MAX	     /* admitted clients that have not joined yet */
#define WORKER_DOMAINS_MAX 1024			     /* of all clients */
#define WORKER_DIRECTORY_BYTES (UINT64_C(512) << 20) /* of all directories */
/* Bytes 0xff behind a directory: plugins do not know how long another worker's address is, and a length in it may be wrong. */
#define WORKER_DIRECTORY_SLACK 16384
#define WORKER_COMMANDS_MAX 16384		  /* unanswered, of one client: the task limit of a worker context */
#define WORKER_JOIN_NS UINT64_C(2000000000)	  /* for a client to show its token; else it is disconnected */
#define WORKER_UNASKED_MAX 1024			  /* notifications of one plugin beyond the number of its commands */
#define WORKER_NOTIFY_BACKLOG (UINT32_C(1) << 20) /* bytes in a client's connection: more stays in its queue */
#define WORKER_BACKLOG_MAX (UINT32_C(4) << 20)	  /* the same with all other answers to it */
#define WORKER_DRAIN_NS UINT64_C(1000000000)	  /* for unanswered commands when the daemon ends the worker */

#endif
