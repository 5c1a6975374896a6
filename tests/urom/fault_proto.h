/* SPDX-License-Identifier: BSD-3-Clause */
/* What worker_fault can be asked to do wrong. */
#ifndef TEST_FAULT_PROTO_H
#define TEST_FAULT_PROTO_H

#include <stdint.h>

enum fault_what {
	FAULT_NONE, /* answer */
	FAULT_CRASH,
	FAULT_EXIT,
	FAULT_SPIN,  /* never come back */
	FAULT_PAUSE, /* the same, asleep */
	FAULT_FLOOD, /* notifications, a few with each call */
	FAULT_FLOOD_AT_ONCE,
	FAULT_STRANGERS,    /* notifications for nobody, and of another type; then the answer */
	FAULT_TOO_LARGE,    /* an answer of more than a message holds */
	FAULT_PRINT,	    /* to standard error, with each call from now on */
	FAULT_CHILD,	    /* a process that stays; the answer's value is its number */
	FAULT_FILES,	    /* open them until that fails; the answer's value is how many */
	FAULT_MEMORY,	    /* take it until that fails, and give it back; the answer's value is how many MiB */
	FAULT_MEMORY_CRASH, /* take it, and crash when that fails */
	FAULT_HEARTBEAT,    /* write to the page that the daemon reads, and try to make it smaller */
	FAULT_SOCKET,	    /* close the socket to the daemon */
	FAULT_PACKETS,	    /* write to it, again and again */
	FAULT_WHEN_FILE,    /* answer once the file that FAULT_FILE names is there */
	FAULT_LARGE,	    /* an answer of 2,048 bytes */
	FAULT_LEAVE,	    /* leave it in the list */
	FAULT_COMPUTE,	    /* for FAULT_COMPUTE_NS of a processor's time; then the answer */
};

enum fault_where { FAULT_IN_CMD, FAULT_IN_PROGRESS };

/* FAULT=load-crash, open-crash, open-spin, addr-crash, pack-crash, pack-spin, close-crash, close-spin or close-compute does that
 * then. */
#define FAULT_ENV "FAULT"
#define FAULT_FILE_ENV "FAULT_FILE"
#define FAULT_LARGE_SIZE 2048
#define FAULT_COMPUTE_NS UINT64_C(700000000)

struct fault_command {
	uint32_t what, where;
};

struct fault_answer {
	uint64_t value;
};

#endif
