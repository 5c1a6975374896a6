/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random calls of every public function, held against the headers.
 *
 * A group (one file for each kind of object) lists its calls. A call picks its arguments from the objects that exist, sometimes
 * NULL, sometimes an object in a state that forbids the call, never one whose memory is gone; makes the call by CALL, which
 * judges what it returned; and notes what came to be or went. What it may return is what its header comment says, read by
 * codes.py; NULL must be INVALID_VALUE; and where a call knows more (refuse_if, expect_if) that must hold too.
 *
 * This header knows no API but the error codes: one executable is made with today's headers (abuse.h), one with those of DOCA 2.2
 * (legacy/legacy.h). What they do not share is in the suite of each.
 */
#ifndef ABUSE_CORE_H
#define ABUSE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

/* ---- what the headers say ---- */

#define CODES_MAX 24

struct documented {
	const char *function, *header;
	bool has_code, is_wanted;      /* wanted: it must be called */
	doca_error_t codes[CODES_MAX]; /* ends with DOCA_SUCCESS */
};

extern const struct documented documented[];
extern const size_t num_documented;

/* ---- calls ---- */

struct call {
	const char *function;
	void (*run)(void);
	unsigned weight; /* how often, against the others; 0 means 1 */
	bool ends;	 /* brings something nearer to its end: also made when a sequence clears up */
};

struct group {
	const struct call *calls;
	size_t num_calls;
	void (*prepare)(void); /* makes an object of the group that can be used: by chance alone few ever would be */
};

#define GROUP(calls, prepare)                                                                                                    \
	{                                                                                                                        \
		calls, sizeof(calls) / sizeof((calls)[0]), prepare                                                               \
	}

/* What the executable tests. */
struct reason {
	const char *function, *reason; /* a name that ends in * stands for all that begin with it */
};
struct suite {
	uint32_t num_sequences;
	size_t num_groups;
	const struct group *const *groups;
	size_t num_excluded, num_never;
	const struct reason *excluded;	     /* no call makes these */
	const struct reason *never_succeeds; /* these are called in vain */
	void (*ctx_changed)(void *ctx);	     /* the state of a context of today did, or NULL */
	bool (*open)(void);		     /* before the first sequence, or NULL; false: it cannot be tested */
	const char *(*check)(void); /* after a sequence, when all is given back: what is wrong with the rest of the world? */
	void (*close)(void);	    /* behind the last, or NULL */
};
extern const struct suite suite;
#define GROUPS_MAX 32

/* Calls function with arguments that were picked before, and judges its result, which is the value. */
#define CALL(function, ...)                                                                                                      \
	({                                                                                                                       \
		struct verdict verdict_ = verdict_take();                                                                        \
		judge(#function, verdict_, function(__VA_ARGS__));                                                               \
	})

/* The same for a function that returns no doca_error_t: the value is what it returns. */
#define CALL_VALUE(function, ...)                                                                                                \
	({                                                                                                                       \
		verdict_take();                                                                                                  \
		count_call(#function);                                                                                           \
		function(__VA_ARGS__);                                                                                           \
	})

/* Makes name(), which asks such an object for something. is_sure: where nothing is NULL, it must answer. */
#define CALL_GETTER(name, function, kind, object_type, type, is_sure)                                                            \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		type value;                                                                                                      \
		object_type *object = pick(kind);                                                                                \
		type *place = or_null(&value);                                                                                   \
		expect_if(is_sure);                                                                                              \
		CALL(function, object, place);                                                                                   \
	}

/* What is known about the next CALL from the arguments picked since the last one. */
struct verdict {
	bool null;   /* an argument that must not be NULL is: INVALID_VALUE */
	bool refuse; /* it must not succeed */
	bool expect; /* unless NULL, it must succeed */
};

struct verdict verdict_take(void);
doca_error_t judge(const char *function, struct verdict verdict, doca_error_t result);
void count_call(const char *function);
void refuse_if(bool condition);
void expect_if(bool condition);

/* Is the sequence over and everything on its way out? */
bool is_ending(void);

/* ---- chance ---- */

uint32_t random_below(uint32_t limit);
bool chance(uint32_t one_in);

/* p, or sometimes NULL, which the next CALL must then refuse. */
void *or_null(void *p);

/* ---- objects ---- */

enum kind {
	DEV_LIST,
	DEVINFO,
	DEV,
	REP_LIST,
	REPINFO,
	REP,
	MMAP,
	INVENTORY,
	POOL,
	ARRAY,
	BUF,
	PE,
	CTX,
	TASK,
	GPU,
	CLOCK,
	ADVISE,
	ADVISE_TASK,
	DMA,
	DMA_TASK,
	SHA,
	HASH_TASK,
	PARTIAL_TASK,
	EVENT,
	EVENT_NET,
	GET_TASK,
	SET_TASK,
	ADD_TASK,
	EQ_TASK,
	NEQ_TASK,
	GRAPH,
	NODE,
	INSTANCE,
	CC_EP,
	CC_ADDR,
	/* of Comch */
	SERVER,
	CLIENT,
	CONNECTION,
	SEND_TASK,
	CONSUMER,
	PRODUCER,
	RECV_TASK,
	DATA_TASK,
	COMPLETION,
	/* of RDMA */
	RDMA,
	RDMA_CONNECTION,
	RDMA_ADDR,
	RDMA_RECEIVE,
	RDMA_SEND,
	RDMA_SEND_IMM,
	RDMA_READ,
	RDMA_WRITE,
	RDMA_WRITE_IMM,
	RDMA_CMP_SWP,
	RDMA_FETCH_ADD,
	RDMA_EVENT_GET,
	RDMA_EVENT_SET,
	RDMA_EVENT_ADD,
	/* of the accelerators */
	COMPRESS,
	DEFLATE_TASK,
	INFLATE_TASK,
	LZ4_TASK,
	LZ4_STREAM_TASK,
	LZ4_BLOCK_TASK,
	AES_GCM,
	AES_GCM_KEY,
	ENCRYPT_TASK,
	DECRYPT_TASK,
	EC,
	EC_MATRIX,
	EC_MUL_TASK,
	EC_CREATE_TASK,
	EC_UPDATE_TASK,
	EC_RECOVER_TASK,
	/* of UROM */
	UROM_SERVICE,
	UROM_WORKER,
	UROM_DOMAIN,
	UROM_GROUP_TASK,
	UROM_COMMAND_TASK,
	/* of DOCA 2.2 */
	WORKQ,
	OLD_CTX,
	OLD_DMA,
	OLD_SHA,
	SESSION,
	OLD_EVENT,
	OLD_GRAPH,
	OLD_NODE,
	OLD_INSTANCE,
	OLD_ARRAY,
	OLD_POOL,
	LOG_SOURCE,
	KINDS,
};

#define OBJECTS_MAX 8 /* of one kind */

struct object {
	void *pointer;
	uint64_t id;	/* never the same twice */
	uint32_t users; /* of this test's objects that need it to stay */
	uint32_t kept;	/* by objects that the library does not know to need it: it is not stopped or destroyed */
	uint64_t of;	/* the id of what it was made from, or 0 */
	bool flag;	/* its kind's */
};

bool has_room(enum kind kind);				  /* false while the sequence ends: nothing is made then */
bool object_room(enum kind kind);			  /* at any time */
struct object *object_add(enum kind kind, void *pointer); /* there is room */
void object_drop(enum kind kind, void *pointer);	  /* one entry of it */
void object_drop_of(enum kind kind, uint64_t of);	  /* all that were made from it */
struct object *object_find(enum kind kind, const void *pointer);
struct object *object_by_id(enum kind kind, uint64_t id);
struct object *object_any(enum kind kind);	       /* one at random, or NULL */
struct object *object_of(enum kind kind, uint64_t of); /* one made from it, or NULL */
struct object *object_at(enum kind kind, uint32_t i);  /* by its place, which changes when objects go */
uint32_t object_count(enum kind kind);
uint32_t object_count_of(enum kind kind, uint64_t of);

/* The pointer of one at random; NULL, which the next CALL must refuse, sometimes and when there is none. */
void *pick(enum kind kind);

/* The same for an argument that may be NULL. */
void *pick_or_none(enum kind kind);

/* A few random calls, from inside a callback. */
void act(void);

/* Memory for ranges: MEMORY_SIZE bytes that always exist. */
#define MEMORY_SIZE (1 << 16)
extern uint8_t memory[MEMORY_SIZE];

/* A range inside memory, sometimes of length 0. */
void random_range(uint8_t **addr, size_t *len);

#endif
