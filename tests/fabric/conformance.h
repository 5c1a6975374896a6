/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance suite: what fabric.h promises, for any provider. A provider's test is one call of conformance_run.
 *
 * Each case runs in a process of its own, forked from one that never touched the provider: a case may crash or hang without
 * harm to others, and may fork a peer before it uses the provider.
 */
#ifndef TESTS_FABRIC_CONFORMANCE_H
#define TESTS_FABRIC_CONFORMANCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/clock.h"
#include "fabric/fabric.h"
#include "support/check.h"
#include "support/slow.h"

/* Runs the suite on a provider; returns the exit status of a test. */
int conformance_run(const char *provider);

/* What follows is for the cases. */

struct conformance_case {
	const char *name;
	void (*run)(void);
	uint32_t caps; /* the case is skipped for a provider that lacks one of them */
};

#define ONE_MACHINE (UINT32_C(1) << 31) /* in caps: its processes share a runtime folder */

#define CASE(function, needs)                                                                                                    \
	{                                                                                                                        \
#function, function, needs                                                                                       \
	}

extern const struct conformance_case connect_cases[], message_cases[], receive_cases[], region_cases[], access_cases[],
	wake_cases[], process_cases[], death_cases[], soak_cases[], lie_cases[], hostile_cases[], doorbell_cases[],
	allocation_cases[];

/* The provider under test. */
extern const struct sf_fabric_ops *fabric;

#define WAIT_MS 60000u /* only a hang takes longer, even on a busy machine */
/* Polls every end of this thread until the condition holds; fails after ms milliseconds. */
#define WAIT_WITHIN(ms, condition)                                                                                               \
	do {                                                                                                                     \
		uint64_t wait_end_ = sf_now_ms() + (ms);                                                                         \
		while (!(condition))                                                                                             \
			wait_step(wait_end_, __FILE__, __LINE__, #condition);                                                    \
	} while (0)
#define WAIT(condition) WAIT_WITHIN(WAIT_MS, condition)

void wait_step(uint64_t end_ms, const char *file, int line, const char *what);

#define CONNS_MAX 64
#define PIECES_MAX 64
#define END_MEMORY ((size_t)16 << 20)
#define ALL_RIGHTS (SF_RIGHT_READ | SF_RIGHT_WRITE | SF_RIGHT_ATOMIC)

/* A domain with one endpoint, one region over memory of its own, and a record of what its callbacks reported. */
struct end {
	struct sf_domain *domain;
	struct sf_ep *ep;
	struct sf_region *region;
	char *memory; /* END_MEMORY bytes, on a page boundary */
	int event_fd;
	struct sf_listener *listener;
	char name[SF_NAME_MAX];
	uint32_t posted; /* receives not completed yet */

	uint32_t requests, accepts, connects, closes;
	struct sf_request *request;
	struct sf_conn *accepted[CONNS_MAX];
	struct sf_conn *connected, *closed;
	doca_error_t connect_status, close_reason;
	uint8_t data[SF_PRIVATE_MAX]; /* of the last request, accepted or connected */
	size_t data_len;

	/* Run after recording, if set. */
	void (*on_request)(struct end *end);
	void (*on_accepted)(struct end *end, struct sf_conn *conn);
	void (*on_connected)(struct end *end, struct sf_conn *conn);
	void (*on_closed)(struct end *end, struct sf_conn *conn);
};

void end_open(struct end *end, const char *device, uint32_t recv_max);
/* Listens on a unique name. */
void end_listen(struct end *end, uint32_t flags);
uint32_t end_poll(struct end *end, uint32_t budget);
/* Flushes and waits for its receives, then closes everything except connections. */
void end_close(struct end *end);
/* Starts to connect to another end's name. */
struct sf_conn *end_connect(struct end *end, const char *name);

/* Two connected ends in this process; a connected to b. */
struct pair {
	struct end a, b;
	struct sf_conn *ab, *ba;
};

void pair_open(struct pair *pair, uint32_t recv_max);
void pair_close(struct pair *pair);

struct send {
	struct sf_op op;
	struct sf_iov pieces[PIECES_MAX];
	uint32_t done;
	void (*then)(struct send *send);
};

struct slot {
	struct sf_recv recv;
	struct sf_iov pieces[PIECES_MAX];
	struct end *end;
	uint32_t done;
	uint64_t order; /* counts completions of all slots */
	void (*then)(struct slot *slot);
};

void slot_set(struct end *end, struct slot *slot, size_t offset, size_t len); /* one piece of the end's memory */
doca_error_t slot_post_set(struct slot *slot);
doca_error_t slot_post(struct end *end, struct slot *slot, size_t offset, size_t len);

void send_set(struct send *send, const void *data, size_t len);
void one_sided_set(struct send *send, enum sf_op_kind kind, struct sf_region *region, uint64_t remote, void *data, size_t len);
doca_error_t submit(struct sf_conn *conn, struct send *send);
/* Submits, repeats on AGAIN, and waits; returns the status. */
doca_error_t submit_wait(struct sf_conn *conn, struct send *send);
void send_wait(struct sf_conn *conn, const void *data, size_t len);

/* Exports and imports. */
struct sf_region *region_pass(struct sf_region *region, struct sf_domain *to);

void fill(void *data, size_t len, uint32_t seed);
bool filled(const void *data, size_t len, uint32_t seed);
uint32_t seed_new(void); /* prints the seed; SOFTFIELD_TEST_SEED sets it */
uint32_t random_below(uint32_t *state, uint32_t bound);

/* A forked peer that runs a script; fork it before the case opens an end. */
struct peer {
	pid_t pid;
	int sock; /* connected to the script's socket */
};

void peer_fork(struct peer *peer, void (*script)(int sock));
void peer_end(struct peer *peer);  /* waits for a clean exit */
void peer_kill(struct peer *peer); /* SIGKILL, and reaps it */
void say(int sock, const void *data, size_t len);
void hear(int sock, void *data, size_t len); /* polls while it waits */
void say_word(int sock, char word);
void hear_word(int sock, char word);
bool word_waits(int sock);
/* A listener's name, and its network address, if the processes are on several machines. */
void say_name(int sock, const char *name);
void hear_name(int sock, char name[SF_NAME_MAX]);

/* Peers may be on other machines. */
bool on_machines(void);
void machine_enter(unsigned number);			       /* before this process uses the provider */
void name_add(const char *name, struct sf_listener *listener); /* one of this process */
const char *name_address(const char *name);		       /* for sf_conn_connect; NULL: in the runtime folder */

int mappings_num(void);
/* The rounds of a stress: fewer where each is a system call, or in a slow build. */
uint32_t rounds_of(uint32_t rounds);

#endif
