/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing on the data path allocates. This program's malloc counts; the provider's library and libc use it, too. */
#include "conformance.h"

#include <stdlib.h>

#include "support/sanitizers.h"

#define ROUNDS 200
#define LONG ((size_t)1 << 20)

#if !HAS_SANITIZER && defined(__GLIBC__)
#define COUNTS 1

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t num, size_t size);
void *__libc_realloc(void *old, size_t size);

/* Of this thread only: the agent allocates for processes that connect meanwhile. */
static _Thread_local bool counts;
static uint32_t num_allocations;

static void count_one(void)
{
	if (counts)
		num_allocations++;
}

void *malloc(size_t size)
{
	count_one();
	return __libc_malloc(size);
}

void *calloc(size_t num, size_t size)
{
	count_one();
	return __libc_calloc(num, size);
}

void *realloc(void *old, size_t size)
{
	count_one();
	return __libc_realloc(old, size);
}
#else
#define COUNTS 0
#endif

/* A message of each length, a write and a read, and an atomic where there are any. */
static void data_move(struct pair *pair, struct sf_region *import)
{
	static const size_t lengths[] = {0, 8, 64, 2000, 5000, LONG};
	static uint64_t word;
	struct send send;
	struct slot slot;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		CHECK_OK(slot_post(&pair->b, &slot, 0, lengths[i]));
		send_wait(pair->ab, pair->a.memory, lengths[i]);
		WAIT(slot.done == 1);
		if (import == NULL || lengths[i] == 0)
			continue;
		one_sided_set(&send, SF_OP_WRITE, import, import->addr + LONG, pair->a.memory, lengths[i]);
		CHECK_OK(submit_wait(pair->ab, &send));
		one_sided_set(&send, SF_OP_READ, import, import->addr + LONG, pair->a.memory, lengths[i]);
		CHECK_OK(submit_wait(pair->ab, &send));
	}
	if (import == NULL || (fabric->caps & SF_CAP_ATOMIC) == 0)
		return;
	one_sided_set(&send, SF_OP_FAA, import, import->addr, &word, sizeof(word));
	CHECK_OK(submit_wait(pair->ab, &send));
}

static void the_data_path_allocates_nothing(void)
{
	struct sf_region *import = NULL;
	struct pair pair;

	pair_open(&pair, 4);
	if ((fabric->caps & SF_CAP_ONE_SIDED) != 0)
		import = region_pass(pair.b.region, pair.a.domain);
	for (int i = 0; i < ROUNDS; i++)
		data_move(&pair, import); /* the first ones attach memory */
#if COUNTS
	counts = true;
#endif
	for (int i = 0; i < ROUNDS; i++)
		data_move(&pair, import);
#if COUNTS
	counts = false;
	/* Fault injection wraps every operation, and OpenSSL gives back a connection's buffers while it is idle. */
	if (strncmp(fabric->name, "faulty:", strlen("faulty:")) != 0 && getenv("SOFTFIELD_TCP_KEY") == NULL)
		CHECK(num_allocations == 0);
#endif
	if (import != NULL)
		sf_region_close(import);
	pair_close(&pair);
}

/* Programs poll much more often than something arrives. */
static void an_empty_poll_allocates_nothing(void)
{
	struct pair pair;

	pair_open(&pair, 4);
	data_move(&pair, NULL);
#if COUNTS
	num_allocations = 0;
	counts = true;
#endif
	for (int i = 0; i < ROUNDS; i++) {
		sf_ep_poll(pair.a.ep, 16);
		sf_ep_poll(pair.b.ep, 16);
	}
#if COUNTS
	counts = false;
	CHECK(num_allocations == 0);
#endif
	pair_close(&pair);
}

const struct conformance_case allocation_cases[] = {
	CASE(the_data_path_allocates_nothing, 0),
	CASE(an_empty_poll_allocates_nothing, 0),
	{0},
};
