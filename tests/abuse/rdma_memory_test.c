/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA without memory and without descriptors. Each allocation of create, start, export, import and connect fails in turn, and
 * each descriptor is the last one in turn. A failed call reports it, everything created can be destroyed, and nothing is left. If
 * the agents lack memory for a connection, its first task fails. Tasks themselves need no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/rdma_pair.h"

#define PORT 18600
#define SIZE 20000
#define DESCRIPTORS_MAX 64 /* descriptors of one scenario; more means that it never ends */

struct rig {
	struct rdma_rig a, b;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_mmap *mmap, *imported;
	struct doca_rdma_addr *addr;
	const void *details;
	size_t details_size;
};

#include "starved.h"

/* ---- an instance ---- */

static uint8_t memory[SIZE] __attribute__((aligned(4096)));

static void begin_with_pe(struct rig *rig)
{
	rig->dev = test_dev_open(0);
	assert_non_null(rig->dev);
	CHECK_OK(doca_pe_create(&rig->pe));
}

static doca_error_t make_instance(struct rig *rig)
{
	struct doca_rdma_connection *connection;

	STEP(doca_rdma_create(rig->dev, &rig->rdma));
	STEP(doca_rdma_set_max_num_connections(rig->rdma, 100));
	STEP(doca_rdma_task_receive_set_conf(rig->rdma, rdma_rig_received, rdma_rig_receive_failed, 64));
	STEP(doca_rdma_task_write_set_conf(rig->rdma, rdma_rig_write_good, rdma_rig_write_failed, 64));
	STEP(doca_rdma_task_read_set_conf(rig->rdma, rdma_rig_read_good, rdma_rig_read_failed, 64));
	STEP(doca_pe_connect_ctx(rig->pe, doca_rdma_as_ctx(rig->rdma)));
	STEP(doca_ctx_start(doca_rdma_as_ctx(rig->rdma)));
	return doca_rdma_export(rig->rdma, &rig->details, &rig->details_size, &connection);
}

static void on_request(struct doca_rdma_connection *connection, union doca_data data) {}
static void on_change(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data) {}

/* Without memory to listen, the call returns CONNECTION_ABORTED. */
static doca_error_t make_listener(struct rig *rig)
{
	STEP(doca_rdma_create(rig->dev, &rig->rdma));
	STEP(doca_rdma_set_connection_state_callbacks(rig->rdma, on_request, on_change, on_change, on_change));
	STEP(doca_rdma_task_receive_set_conf(rig->rdma, rdma_rig_received, rdma_rig_receive_failed, 64));
	STEP(doca_pe_connect_ctx(rig->pe, doca_rdma_as_ctx(rig->rdma)));
	STEP(doca_ctx_start(doca_rdma_as_ctx(rig->rdma)));
	doca_error_t result = doca_rdma_start_listen_to_port(rig->rdma, PORT);

	return result == DOCA_ERROR_CONNECTION_ABORTED ? DOCA_ERROR_NO_MEMORY : result;
}

static doca_error_t make_addr(struct rig *rig)
{
	return doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", PORT, &rig->addr);
}

static doca_error_t make_export(struct rig *rig)
{
	const void *descriptor;
	size_t len;

	STEP(doca_mmap_create(&rig->mmap));
	STEP(doca_mmap_set_memrange(rig->mmap, memory, SIZE));
	STEP(doca_mmap_set_permissions(rig->mmap, RIG_ALL));
	STEP(doca_mmap_add_dev(rig->mmap, rig->dev));
	STEP(doca_mmap_start(rig->mmap));
	STEP(doca_mmap_export_rdma(rig->mmap, rig->dev, &descriptor, &len));
	return doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &rig->imported);
}

static void rig_end(struct rig *rig)
{
	enum doca_ctx_states state;

	if (rig->rdma != NULL) {
		(void)doca_ctx_stop(doca_rdma_as_ctx(rig->rdma));
		CHECK_OK(doca_ctx_get_state(doca_rdma_as_ctx(rig->rdma), &state));
		assert_int_equal(state, DOCA_CTX_STATE_IDLE);
		CHECK_OK(doca_rdma_destroy(rig->rdma));
	}
	END(rig->addr, doca_rdma_addr_destroy);
	END(rig->imported, doca_mmap_destroy);
	END(rig->mmap, doca_mmap_destroy);
	END(rig->pe, doca_pe_destroy);
	END(rig->dev, doca_dev_close);
}

TEST(instance, begin_with_pe, 0)
TEST(listener, begin_with_pe, 0)
TEST(addr, NULL, 0)
TEST(export, begin_with_pe, 4) /* without that memory, pages are not shared */

/* ---- connecting ---- */

static const void *a_details, *b_details;
static size_t a_size, b_size;
static struct doca_rdma_connection *ab, *ba;

static void both_begin(struct rdma_rig *a, struct rdma_rig *b)
{
	rdma_rig_prepare(a, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_prepare(b, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(a);
	rdma_rig_start(b);
	CHECK_OK(doca_rdma_export(a->rdma, &a_details, &a_size, &ab));
	CHECK_OK(doca_rdma_export(b->rdma, &b_details, &b_size, &ba));
}

static doca_error_t both_connect(struct rdma_rig *a, struct rdma_rig *b)
{
	doca_error_t result = doca_rdma_connect(a->rdma, b_details, b_size, ab);

	return result == DOCA_SUCCESS ? doca_rdma_connect(b->rdma, a_details, a_size, ba) : result;
}

/* A failed allocation must lead to one of the documented ends of a connection. In any case both sides must stop. */
static void out_of_memory_for_connect(void **state)
{
	uint32_t descriptors = 0, refused = 0, broken = 0;
	bool has_failed = true;

	(void)state;
	for (uint64_t n = 0; has_failed || n == 1;
	     n++) { /* first without a failure, then with each allocation failing, until none fails */
		static struct rdma_rig a, b;

		assert_true(n < ALLOCATIONS_MAX);
		both_begin(&a, &b);
		if (n > 0)
			starve_begin(n);
		doca_error_t result = both_connect(&a, &b);

		if (result == DOCA_SUCCESS) {
			CHECK_OK(rig_receive(&b, NULL, 0));
			CHECK_OK(rig_send(&a, ab, NULL, 0));
			RDMA_RIG_WAIT(&a, &b, a.num_ended == 1);
			assert_true(a.num_good == 1 || a.status == DOCA_ERROR_CONNECTION_ABORTED);
			broken += a.num_failed;
		} else {
			assert_true(result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_CONNECTION_ABORTED);
			refused++;
		}
		has_failed = n == 0 || starve_end();
		rdma_rig_fini(&a);
		rdma_rig_fini(&b);
		if (n == 0)
			descriptors = num_descriptors();
		assert_int_equal(num_descriptors(), descriptors);
	}
	print_message("%u connects failed, %u connections ended with their first task\n", refused, broken);
	assert_true(refused > 0);
}

/* The first receive into a memory map registers the map, and fails if that fails. */
static void post(struct rdma_rig *rig, struct doca_buf *into)
{
	doca_error_t result = rig_receive(rig, into, 0);

	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY);
	if (result != DOCA_SUCCESS)
		CHECK_OK(rig_receive(rig, into, 0));
}

/* After the connection is established, lets the first operation of each verb run out of memory: then the peer's memory is
 * mapped, or reached in another way. */
static void tasks_without_memory(void **state)
{
	static struct pair pair;

	(void)state;
	for (uint64_t n = 1; n <= 8; n++) {
		pair_prepare(&pair, RIG_ALL, RIG_ALL, RIG_ALL);
		pair_start(&pair, 1);
		CHECK_OK(rig_receive(&pair.b, NULL, 0));
		CHECK_OK(rig_send(&pair.a, pair.ab[0], NULL, 0));
		PAIR_WAIT(&pair, pair.a.num_good == 1);
		starve_begin(n);
		for (enum verb verb = 0; verb < VERBS; verb++) {
			size_t len = verb == VERB_CAS || verb == VERB_ADD ? 8 : 9000;
			struct doca_buf *here = verb_here(verb, &pair.a, 8, len), *into = rig_room(&pair.b, 16, 9000);
			struct doca_buf *there = verb_is_one_sided(verb) ? verb_there(verb, &pair.a, 40000, len) : NULL;

			if (verb_takes_receive(verb))
				post(&pair.b, into);
			CHECK_OK(verb_submit(verb, &pair.a, pair.ab[0], here, there, 0));
			PAIR_WAIT(&pair, pair.a.num_good == verb + 2);
			if (verb_takes_receive(verb))
				PAIR_WAIT(&pair, pair.b.num_received == pair.b.num_ended && pair.b.num_received > 1);
			rig_put(here);
			rig_put(into);
			if (there != NULL)
				rig_put(there);
		}
		(void)starve_end();
		pair_fini(&pair);
	}
}

/* ---- descriptors ---- */

/* Limits the number of descriptors that may still be opened. */
static void allow_descriptors(uint32_t num)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	if (num != UINT32_MAX) {
		int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

		assert_true(lowest >= 0);
		close(lowest);
		limit.rlim_cur = (rlim_t)lowest + num;
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void out_of_descriptors_for(void (*begin)(struct rig *rig), doca_error_t (*make)(struct rig *rig))
{
	doca_error_t result = DOCA_ERROR_UNKNOWN;
	uint32_t failures = 0;

	for (uint32_t num = 0; result != DOCA_SUCCESS; num++) {
		struct rig rig = {0};
		uint32_t before;

		assert_true(num < DESCRIPTORS_MAX);
		begin(&rig);
		before = num_descriptors();
		allow_descriptors(num);
		result = make(&rig);
		allow_descriptors(UINT32_MAX);
		failures += result != DOCA_SUCCESS;
		rig_end(&rig);
		assert_true(num_descriptors() <= before);
	}
	assert_true(failures > 0);
}

static void out_of_descriptors(void **state)
{
	(void)state;
	out_of_descriptors_for(begin_with_pe, make_instance);
	out_of_descriptors_for(begin_with_pe, make_listener);
	out_of_descriptors_for(begin_with_pe, make_export);
}

static void out_of_descriptors_for_connect(void **state)
{
	uint32_t refused = 0;
	bool good = false;

	(void)state;
	for (uint32_t num = 0; !good; num++) {
		static struct rdma_rig a, b;

		assert_true(num < DESCRIPTORS_MAX);
		both_begin(&a, &b);
		allow_descriptors(num);
		doca_error_t result = both_connect(&a, &b);

		if (result == DOCA_SUCCESS) {
			CHECK_OK(rig_receive(&b, NULL, 0));
			CHECK_OK(rig_send(&a, ab, NULL, 0));
			RDMA_RIG_WAIT(&a, &b, a.num_ended == 1);
			assert_true(a.num_good == 1 || a.status == DOCA_ERROR_CONNECTION_ABORTED);
			good = a.num_good == 1;
		} else {
			assert_int_equal(result, DOCA_ERROR_CONNECTION_ABORTED);
			refused++;
		}
		allow_descriptors(UINT32_MAX);
		rdma_rig_fini(&a);
		rdma_rig_fini(&b);
	}
	assert_true(refused > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_for_instance), cmocka_unit_test(out_of_memory_for_listener),
		cmocka_unit_test(out_of_memory_for_addr),     cmocka_unit_test(out_of_memory_for_export),
		cmocka_unit_test(out_of_memory_for_connect),  cmocka_unit_test(tasks_without_memory),
		cmocka_unit_test(out_of_descriptors),	      cmocka_unit_test(out_of_descriptors_for_connect),
	};

	return cmocka_run_group_tests_name("rdma without memory", tests, install, uninstall);
}
