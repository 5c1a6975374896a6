/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: what is rejected, and each way to fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_fixture.h"

static void wrong_buffers_are_rejected(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 100), *small = rig_remote_room(&f->a, 0, 99),
			*own = rig_room(&f->a, 500, 100);
	struct doca_buf *there = rig_remote_source(&f->a, 0, 100);

	assert_int_equal(rig_write(&f->a, f->ab, src, small, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_write(&f->a, f->ab, src, own, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_write(&f->a, f->ab, src, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_write(&f->a, f->ab, there, small, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_read(&f->a, f->ab, there, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_read(&f->a, f->ab, there, small, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_receive(&f->a, small, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_send(&f->a, f->ba, src, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->a.state, DOCA_CTX_STATE_RUNNING);
	rig_put(src);
	rig_put(small);
	rig_put(own);
	rig_put(there);
}

static void no_receive_in_all_retries(void **state)
{
	struct rdma_fixture *f = *state;

	CHECK_OK(doca_rdma_set_rnr_retry_count(f->a.rdma, 2));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 0));
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_failed, 2);
	assert_int_equal(f->a.statuses[0], DOCA_ERROR_IO_FAILED);
	assert_int_equal(f->a.statuses[1], DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->a.order[1], 1);
}

static void the_instance_must_permit_it(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *there = rig_remote_room(&f->a, 0, 64),
			*from = rig_remote_source(&f->a, 0, 8);
	struct doca_buf *here = rig_room(&f->a, 100, 8);

	CHECK_OK(doca_rdma_set_permissions(f->b.rdma, DOCA_ACCESS_FLAG_RDMA_READ));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	CHECK_OK(rig_read(&f->a, f->ab, from, here, 0));
	CHECK_OK(rig_write(&f->a, f->ab, src, there, 1));
	CHECK_OK(rig_read(&f->a, f->ab, NULL, NULL, 2));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_good, 1);
	assert_int_equal(f->a.statuses[1], DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(f->a.statuses[2], DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->b.state, DOCA_CTX_STATE_RUNNING);
	rig_put(src);
	rig_put(there);
	rig_put(from);
	rig_put(here);
}

static void the_memory_map_must_permit_it(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *result = rig_room(&f->a, 64, 8), *there;
	const void *descriptor;
	size_t len;

	struct doca_mmap *readable;

	CHECK_OK(doca_mmap_destroy(f->a.remote));
	CHECK_OK(doca_mmap_create(&readable));
	CHECK_OK(doca_mmap_set_memrange(readable, f->b.memory, SIZE));
	CHECK_OK(doca_mmap_set_permissions(readable, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ));
	CHECK_OK(doca_mmap_add_dev(readable, f->b.dev));
	CHECK_OK(doca_mmap_start(readable));
	CHECK_OK(doca_mmap_export_rdma(readable, f->b.dev, &descriptor, &len));
	rdma_rig_import(&f->a, descriptor, len);
	there = rig_remote_source(&f->a, 64, 8);
	CHECK_OK(rig_add(&f->a, f->ab, there, result, 1, 0));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_NOT_PERMITTED);
	rig_put(result);
	rig_put(there);
	CHECK_OK(doca_mmap_destroy(readable));
}

static void stop_flushes_what_is_in_flight(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *dst = rig_room(&f->a, 0, 10);

	CHECK_OK(rig_receive(&f->a, dst, 0));
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 1));
	CHECK_OK(rig_write(&f->a, f->ab, NULL, NULL, 2));
	assert_int_equal(doca_ctx_stop(f->a.ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_failed, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(f->a.statuses[i], DOCA_ERROR_BAD_STATE);
	rdma_rig_start(&f->a);
	rig_put(dst);
}

static void freed_in_flight(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *dst = rig_room(&f->a, 0, 10);
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *sending;

	f->a.keep = true;
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_OK(doca_rdma_task_receive_allocate_init(f->a.rdma, dst, (union doca_data){.u64 = i}, &receive));
		CHECK_OK(doca_task_submit(doca_rdma_task_receive_as_task(receive)));
		doca_task_free(doca_rdma_task_receive_as_task(receive));
	}
	CHECK_OK(doca_rdma_task_send_allocate_init(f->a.rdma, f->ab, NULL, (union doca_data){.u64 = 3}, &sending));
	CHECK_OK(doca_task_submit(doca_rdma_task_send_as_task(sending))); /* it waits for a receive */
	doca_task_free(doca_rdma_task_send_as_task(sending));
	CHECK_OK(rig_send(&f->b, f->ba, NULL, 0));
	WAIT(f->a.num_received == 1);
	assert_int_equal(doca_ctx_stop(f->a.ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_ended, 4);
	f->a.keep = false;
	rdma_rig_start(&f->a);
	rig_put(dst);
}

static void a_peer_that_stops_is_reported_by_the_next_task(void **state)
{
	struct rdma_fixture *f = *state;

	CHECK_OK(rig_receive(&f->b, NULL, 0));
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.num_good == 1);
	rdma_rig_stop(&f->b);
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_CONNECTION_ABORTED);
}

static void a_stale_export(void **state)
{
	struct rdma_fixture *f = *state;
	uint8_t copy[256];

	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	memcpy(copy, f->b_details, f->b_size);
	rdma_rig_stop(&f->b);
	assert_int_equal(doca_rdma_connect(f->a.rdma, copy, f->b_size, f->ab) == DOCA_SUCCESS, true);
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_CONNECTION_ABORTED);
}

static void a_peer_that_ends_its_memory_map(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *there = rig_remote_room(&f->a, 0, 64);

	CHECK_OK(doca_mmap_destroy(f->b.mmap));
	f->b.mmap = NULL;
	CHECK_OK(rig_write(&f->a, f->ab, src, there, 0));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_CONNECTION_ABORTED);
	rig_put(src);
	rig_put(there);
}

static void other_connections_still_work(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_rdma_connection *out[2], *in[2];
	const void *a_details, *b_details;
	size_t a_size, b_size;
	struct doca_buf *src = rig_source(&f->a, 0, 10);

	CHECK_OK(doca_rdma_set_max_num_connections(f->a.rdma, 2));
	CHECK_OK(doca_rdma_set_max_num_connections(f->b.rdma, 2));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	for (int i = 0; i < 2; i++) {
		CHECK_OK(doca_rdma_export(f->a.rdma, &a_details, &a_size, &out[i]));
		CHECK_OK(doca_rdma_export(f->b.rdma, &b_details, &b_size, &in[i]));
		CHECK_OK(doca_rdma_connect(f->a.rdma, b_details, b_size, out[i]));
		CHECK_OK(doca_rdma_connect(f->b.rdma, a_details, a_size, in[i]));
	}
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	CHECK_OK(rig_send(&f->a, out[0], src, 0)); /* too long for the receive */
	WAIT(f->a.num_failed == 1);
	assert_int_equal(f->a.status, DOCA_ERROR_IO_FAILED);
	CHECK_OK(rig_send(&f->a, out[1], NULL, 1));
	WAIT(f->b.num_received == 1 && f->a.num_good == 1);
	assert_int_equal(f->a.state, DOCA_CTX_STATE_RUNNING);
	rig_put(src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(wrong_buffers_are_rejected, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(no_receive_in_all_retries, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(the_instance_must_permit_it, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(the_memory_map_must_permit_it, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(stop_flushes_what_is_in_flight, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(freed_in_flight, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_stops_is_reported_by_the_next_task, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_stale_export, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_ends_its_memory_map, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(other_connections_still_work, rdma_prepare, rdma_teardown),
	};

	return cmocka_run_group_tests_name("rdma failures", tests, NULL, NULL);
}
