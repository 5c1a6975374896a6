/* SPDX-License-Identifier: BSD-3-Clause */
/* 16-byte slots between two CPUs: if the last word of a slot is new, the whole slot is new. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <softfield/device.h>

#define LOADS_MAX 2000000 /* or until the last of */
#define STORES 1000000

static struct softfield_slot16 slots16[2] __attribute__((aligned(64)));

static void *store(void *unused)
{
	for (uint32_t n = 1; n <= STORES; n++) {
		struct softfield_slot16 slot16 = {{n, n, n, n}};

		softfield_store_slot16(&slots16[1], slot16);
		softfield_store_slot16(&slots16[0], slot16);
	}
	return unused;
}

static void the_last_word_comes_last(void **state)
{
	uint32_t torn = 0, early = 0, seen = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, store, NULL), 0);
	for (uint32_t i = 0; i < LOADS_MAX && seen < STORES; i++) {
		struct softfield_slot16 first = softfield_load_slot16(&slots16[0]), second = softfield_load_slot16(&slots16[1]);

		seen = first.w[3];
		torn += first.w[0] != first.w[1] || first.w[2] != first.w[3] || first.w[0] < seen;
		early += second.w[0] < seen || second.w[3] < seen; /* it was stored before */
	}
	pthread_join(thread, NULL);
	assert_int_equal(torn, 0);
	assert_int_equal(early, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_word_comes_last)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
