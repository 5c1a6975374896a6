/* SPDX-License-Identifier: BSD-3-Clause */
/* Every bound of the service. */
#ifndef UROM_DAEMON_BOUNDS_H
#define UROM_DAEMON_BOUNDS_H

#include <stdint.h>

#define DAEMON_WORKERS_DEFAULT 256
#define DAEMON_WORKERS_MAX 4096
#define DAEMON_WORKERS_KEPT 8 /* that part of them for clients other than one that has half of all */
#define DAEMON_PATH_MAX 4096
#define DAEMON_PLUGIN_TIMEOUT_S 10
#define DAEMON_PLUGIN_TIMEOUT_MAX_S 3600
#define DAEMON_MEMORY_MIN_MIB 16
#define DAEMON_FILES_MIN 32 /* open ones, for itself */
#define DAEMON_OUTPUT_LINE 4096
#define DAEMON_BACKLOG_MAX (UINT32_C(1) << 20) /* bytes that wait for a client: one that takes them no more is disconnected */
#define DAEMON_LINES 200		       /* about clients and workers that come and go, in LOG_RATE_SECONDS */
#define DAEMON_PACKETS_MAX 16		       /* of one worker, by its socket: it has two to send */
/* Limits of a worker's own time (own_time.h). */
#define DAEMON_SPAWN_NS UINT64_C(10000000000)	 /* a worker that is not ready by then is ended */
#define DAEMON_ADMITTED_NS UINT64_C(10000000000) /* and one that reads of no new client by then gets none */
#define DAEMON_END_NS UINT64_C(2000000000)	 /* and one that has not ended by then is killed */
#define DAEMON_END_MAX_NS UINT64_C(10000000000)	 /* or, whatever it had, by then: an end is not to take for ever */
#define DAEMON_ADMIT_NS UINT64_C(10000000)	 /* until clients are sent again to a worker whose socket was full */
#define DAEMON_REQUESTS_MAX 4096		 /* for one worker, that are not answered */
#define DAEMON_HELLO_NS UINT64_C(2000000000)	 /* a client that says nothing for so long before it is known is disconnected */

#endif
