/* SPDX-License-Identifier: BSD-3-Clause */
/* All limits of the service. */
#ifndef UROM_DAEMON_BOUNDS_H
#define UROM_DAEMON_BOUNDS_H

#include <stdint.h>

#define DAEMON_WORKERS_DEFAULT 256
#define DAEMON_WORKERS_MAX 4096
#define DAEMON_WORKERS_KEPT 8 /* reserved for other clients once one has half of all */
#define DAEMON_PATH_MAX 4096
#define DAEMON_PLUGIN_TIMEOUT_S 10
#define DAEMON_PLUGIN_TIMEOUT_MAX_S 3600
#define DAEMON_MEMORY_MIN_MIB 16
#define DAEMON_FILES_MIN 32 /* open files that the daemon itself needs */
#define DAEMON_OUTPUT_LINE 4096
#define DAEMON_BACKLOG_MAX (UINT32_C(1) << 20) /* bytes queued for a client: one that stops reading is disconnected */
#define DAEMON_LINES 200		       /* log lines about clients and workers that start and end, in LOG_RATE_SECONDS */
#define DAEMON_PACKETS_MAX 16		       /* from one worker through its socket: it has two to send */
/* Limits of a worker's own time (own_time.h). */
#define DAEMON_SPAWN_NS UINT64_C(10000000000)	 /* for a worker to become ready; else it is ended */
#define DAEMON_ADMITTED_NS UINT64_C(10000000000) /* for a worker to read about a new client; else it gets none */
#define DAEMON_END_NS UINT64_C(2000000000)	 /* for a worker to end; else it is killed */
#define DAEMON_END_MAX_NS UINT64_C(10000000000)	 /* the same in elapsed time, so that ending is bounded */
#define DAEMON_ADMIT_NS UINT64_C(10000000)	 /* between retries for a worker whose socket was full */
#define DAEMON_REQUESTS_MAX 4096		 /* pending, for one worker */
#define DAEMON_HANDSHAKE_NS UINT64_C(2000000000) /* for a client to authenticate; else it is disconnected */

#endif
