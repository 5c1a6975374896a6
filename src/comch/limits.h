/* SPDX-License-Identifier: BSD-3-Clause */
/* Every bound of Comch, in one place. The capability calls answer with these. */
#ifndef COMCH_LIMITS_H
#define COMCH_LIMITS_H

#include <stdint.h>

#define COMCH_NAME_MAX 120		/* a server's name, with its NUL */
#define COMCH_MSG_SIZE_MAX 4080		/* one control message, bytes */
#define COMCH_RECV_QUEUE_MAX 12288	/* control messages that wait in a server or client */
#define COMCH_RECV_QUEUE_MIN_DEFAULT 16 /* if the program sets no size: at least so many, and as many as its send tasks */
#define COMCH_INTERNAL_RECVS 16		/* receives beyond the user's, for the library's own messages */
#define COMCH_CLIENTS_MAX 8192		/* clients of one server */
#define COMCH_SEND_TASKS_MAX 65536	/* control send tasks of one server or client */

#define COMCH_CONSUMERS_MAX 1024 /* living consumers of one side of a connection */
#define COMCH_PRODUCERS_MAX 1024
#define COMCH_DATA_TASKS_MAX 65536	       /* tasks of one producer or consumer */
#define COMCH_BUF_SIZE_MAX (UINT32_C(1) << 30) /* bytes of one data message */
#define COMCH_LIST_MAX 16		       /* buffers of one chained list */
#define COMCH_IMM_MAX 32		       /* immediate data, bytes */

#define COMCH_POLL_BUDGET 64 /* callbacks of one progress call */
#define COMCH_OUT_MAX 4096   /* internal messages that wait for a full peer; more is a broken peer */

#endif
