/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random calls of every public function, compared with the headers.
 *
 * A group (one file for each kind of object) lists its calls. A call picks its arguments from the objects that exist: sometimes
 * NULL, sometimes an object in a state that forbids the call, never one whose memory is gone. It makes the call by CALL, which
 * checks the result, and records what was created or destroyed. The permitted results are those that the function's header
 * comment names, extracted by codes.py. NULL must give INVALID_VALUE. Where a call knows more (refuse_if, expect_if), that must
 * hold, too.
 *
 * This header depends only on the error codes: one executable uses today's headers (abuse.h), another those of DOCA 2.2
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
	bool has_code, is_wanted;      /* wanted: some call must call it */
	doca_error_t codes[CODES_MAX]; /* terminated by DOCA_SUCCESS */
};

extern const struct documented documented[];
extern const size_t num_documented;

/* ---- calls ---- */

struct call {
	const char *function;
	void (*run)(void);
	unsigned weight; /* relative frequency; 0 means 1 */
	bool ends;	 /* brings an object closer to its end: also called when a sequence cleans up */
};

struct group {
	const struct call *calls;
	size_t num_calls;
	void (*prepare)(void); /* creates a usable object of the group: by chance alone, few would ever be usable */
};

#define GROUP(calls, prepare)                                                                                                    \
	{                                                                                                                        \
		calls, sizeof(calls) / sizeof((calls)[0]), prepare                                                               \
	}

/* A function that the suite treats specially. */
struct reason {
	const char *function, *reason; /* a name that ends in * stands for all that begin with the rest */
};
struct suite {
	uint32_t num_sequences;
	size_t num_groups;
	const struct group *const *groups;
	size_t num_excluded, num_never;
	const struct reason *excluded;	     /* no call calls these */
	const struct reason *never_succeeds; /* calls of these never succeed */
	void (*ctx_changed)(void *ctx);	     /* called when the state of a context of today's API has changed, or NULL */
	bool (*open)(void);	    /* called before the first sequence, or NULL; returns false if the suite cannot be tested */
	const char *(*check)(void); /* called after a sequence, when everything is released: returns what is wrong with the
				       environment, or NULL */
	void (*close)(void);	    /* called after the last sequence, or NULL */
};
extern const struct suite suite;
#define GROUPS_MAX 32

/* Calls function with arguments that were picked before, checks its result, and evaluates to the result. */
#define CALL(function, ...)                                                                                                      \
	({                                                                                                                       \
		struct verdict verdict_ = verdict_take();                                                                        \
		judge(#function, verdict_, function(__VA_ARGS__));                                                               \
	})

/* The same for a function that does not return doca_error_t: evaluates to what it returns. */
#define CALL_VALUE(function, ...)                                                                                                \
	({                                                                                                                       \
		verdict_take();                                                                                                  \
		count_call(#function);                                                                                           \
		function(__VA_ARGS__);                                                                                           \
	})

/* Defines name(), which calls a getter of such an object. is_sure: with no NULL argument it must succeed. */
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
	bool null;   /* an argument that must not be NULL is NULL: INVALID_VALUE */
	bool refuse; /* it must fail */
	bool expect; /* unless an argument is NULL, it must succeed */
};

struct verdict verdict_take(void);
doca_error_t judge(const char *function, struct verdict verdict, doca_error_t result);
void count_call(const char *function);
void refuse_if(bool condition);
void expect_if(bool condition);

/* Returns true once the sequence is over, so that everything is being released. */
bool is_ending(void);

/* ---- chance ---- */

uint32_t random_below(uint32_t limit);
bool chance(uint32_t one_in);

/* Returns p, or sometimes NULL, which the next CALL must then reject. */
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

#define OBJECTS_MAX 8 /* of each kind */

struct object {
	void *pointer;
	uint64_t id;	/* never used twice */
	uint32_t users; /* number of this test's objects that need it */
	uint32_t kept;	/* number of objects that need it without the library knowing: it is not stopped or destroyed while any
			   exist */
	uint64_t of;	/* the id of the object that it was created from, or 0 */
	bool flag;	/* its meaning depends on the kind */
};

bool has_room(enum kind kind);				  /* false while the sequence ends: nothing is created then */
bool object_room(enum kind kind);			  /* whether the table has room, at any time */
struct object *object_add(enum kind kind, void *pointer); /* the table must have room */
void object_drop(enum kind kind, void *pointer);	  /* drops one entry of it */
void object_drop_of(enum kind kind, uint64_t of);	  /* drops all that were created from it */
struct object *object_find(enum kind kind, const void *pointer);
struct object *object_by_id(enum kind kind, uint64_t id);
struct object *object_any(enum kind kind);	       /* a random one, or NULL */
struct object *object_of(enum kind kind, uint64_t of); /* one that was created from it, or NULL */
struct object *object_at(enum kind kind, uint32_t i);  /* by its place, which changes when objects are dropped */
uint32_t object_count(enum kind kind);
uint32_t object_count_of(enum kind kind, uint64_t of);

/* Returns the pointer of a random one. Sometimes, and if there is none, returns NULL, which the next CALL must reject. */
void *pick(enum kind kind);

/* The same for an argument that may be NULL. */
void *pick_or_none(enum kind kind);

/* Makes a few random calls from inside a callback. */
void act(void);

/* Memory for ranges: MEMORY_SIZE bytes that are never freed. */
#define MEMORY_SIZE (1 << 16)
extern uint8_t memory[MEMORY_SIZE];

/* Chooses a range inside memory, sometimes of length 0. */
void random_range(uint8_t **addr, size_t *len);

#endif
