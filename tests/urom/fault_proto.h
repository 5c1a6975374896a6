/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults that worker_fault can be asked for. */
#ifndef TEST_FAULT_PROTO_H
#define TEST_FAULT_PROTO_H

#include <stdint.h>

enum fault_what {
	FAULT_NONE, /* just answer */
	FAULT_CRASH,
	FAULT_EXIT,
	FAULT_SPIN,  /* never return */
	FAULT_PAUSE, /* never return, asleep */
	FAULT_FLOOD, /* send notifications, a few with each progress call */
	FAULT_FLOOD_AT_ONCE,
	FAULT_STRANGERS,    /* send notifications with unknown destinations, and of another type; then answer */
	FAULT_TOO_LARGE,    /* send an answer that is larger than a message */
	FAULT_PRINT,	    /* print to standard error, with each progress call from now on */
	FAULT_CHILD,	    /* start a process that stays; the answer's value is its process id */
	FAULT_ORPHAN,	    /* the same, by a shell that ends */
	FAULT_FILES,	    /* open files until that fails; the answer's value is their number */
	FAULT_MEMORY,	    /* allocate memory until that fails, and free it; the answer's value is the size in MiB */
	FAULT_MEMORY_CRASH, /* allocate memory, and crash when that fails */
	FAULT_HEARTBEAT,    /* write to the page that the daemon reads, and try to truncate it */
	FAULT_SOCKET,	    /* close the socket to the daemon */
	FAULT_PACKETS,	    /* write to the socket to the daemon, again and again */
	FAULT_WHEN_FILE,    /* answer when the file that FAULT_FILE names exists */
	FAULT_LARGE,	    /* send an answer of 2,048 bytes */
	FAULT_LEAVE,	    /* leave the command in the list */
	FAULT_COMPUTE,	    /* use FAULT_COMPUTE_NS of processor time, then answer */
};

enum fault_where { FAULT_IN_CMD, FAULT_IN_PROGRESS };

/* FAULT=load-crash, open-crash, open-spin, addr-crash, pack-crash, pack-spin, close-crash, close-spin or close-compute causes
 * that fault in that operation. */
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
