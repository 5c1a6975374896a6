/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA tasks on remote sync events: b owns the event, and a has made a remote one of its export. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_event_fixture.h"
#include "support/log_lines.h"
#include "support/provider.h"

/* ---- arguments ---- */

static void null_arguments(void **state)
{
	struct rdma_fixture *f = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(f->a.dev);
	const union doca_data data = {.u64 = 0};
	struct doca_rdma_task_remote_net_sync_event_get *get;
	struct doca_rdma_task_remote_net_sync_event_notify_set *set;
	struct doca_rdma_task_remote_net_sync_event_notify_add *add;

	CHECK_OK(doca_rdma_cap_task_remote_net_sync_event_get_is_supported(devinfo));
	CHECK_OK(doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(devinfo));
	CHECK_OK(doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(devinfo));
	assert_int_equal(doca_rdma_cap_task_remote_net_sync_event_get_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_get_allocate_init(NULL, f->ab, NULL, NULL, data, &get),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(f->a.rdma, NULL, NULL, NULL, data, &set),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(
		doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(f->a.rdma, f->ab, NULL, NULL, 0, data, NULL),
		DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_get_set_conf(NULL, rdma_rig_remote_net_sync_event_get_good,
									   rdma_rig_remote_net_sync_event_get_failed, 1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_get_set_conf(f->a.rdma, rdma_rig_remote_net_sync_event_get_good,
									   rdma_rig_remote_net_sync_event_get_failed, 1),
			 DOCA_ERROR_BAD_STATE);
	assert_null(doca_rdma_task_remote_net_sync_event_get_as_task(NULL));
	assert_null(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(NULL));
	assert_null(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(NULL));
	assert_int_equal(doca_rdma_task_remote_net_sync_event_get_get_result_len(NULL), 0);
	CHECK_OK(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(f->a.rdma, f->ab, NULL, NULL, 9, data, &add));
	assert_int_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(add), 9);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(add), f->ab);
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_add_as_task(add));
}

/* A task that is allocated without arguments, which are set afterwards. */
static void setters_and_getters(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 8), *dst = rig_room(&f->a, 64, 8);
	struct doca_rdma_task_remote_net_sync_event_notify_set *set;
	struct doca_rdma_task_remote_net_sync_event_get *get;
	struct event event;

	open_event(f, &event, false);
	f->a.keep = true;
	CHECK_OK(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(f->a.rdma, f->ab, NULL, NULL,
									       (union doca_data){.u64 = 1}, &set));
	doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(set, event.remote);
	doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(set, src);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(set), event.remote);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(set), src);
	CHECK_OK(doca_rdma_task_remote_net_sync_event_get_allocate_init(f->a.rdma, f->ab, NULL, NULL, (union doca_data){.u64 = 2},
									&get));
	doca_rdma_task_remote_net_sync_event_get_set_sync_event(get, event.remote);
	doca_rdma_task_remote_net_sync_event_get_set_dst_buf(get, dst);
	doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(get, f->ab);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(get), dst);
	for (uint64_t i = 1; i <= 3; i++) {
		put_number(&f->a, 0, 1000 * i);
		CHECK_OK(doca_buf_reset_data_len(dst));
		CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set)));
		CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(get)));
		WAIT(f->a.num_good == 2 * i);
		assert_int_equal(number_at(&f->a, 64), 1000 * i);
		assert_int_equal(doca_rdma_task_remote_net_sync_event_get_get_result_len(get), 8);
	}
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set));
	doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(get));
	close_event(&event);
	rig_put(src);
	rig_put(dst);
}

/* ---- effects ---- */

static void get_set_and_add(struct rdma_fixture *f, bool in_word)
{
	struct doca_buf *src = rig_source(&f->a, 0, 8), *dst = rig_room(&f->a, 64, 24), *result = rig_room(&f->a, 128, 8);
	struct event event;
	size_t len;

	open_event(f, &event, in_word);
	put_number(&f->a, 0, 1000);
	CHECK_OK(rig_event_get(&f->a, f->ab, event.remote, dst, 0));
	CHECK_OK(rig_event_set(&f->a, f->ab, event.remote, src, 1));
	WAIT(f->a.num_good == 2);
	CHECK_OK(rig_event_get(&f->a, f->ab, event.remote, dst, 2));
	WAIT(f->a.num_good == 3);
	CHECK_OK(rig_event_add(&f->a, f->ab, event.remote, result, 7, 3));
	WAIT(f->a.num_good == 4);
	CHECK_OK(rig_event_get(&f->a, f->ab, event.remote, dst, 4));
	WAIT(f->a.num_good == 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(f->a.order[i], i);
	assert_int_equal(number_at(&f->a, 64), 0); /* each get appends */
	assert_int_equal(number_at(&f->a, 72), 1000);
	assert_int_equal(number_at(&f->a, 80), 1007);
	assert_int_equal(number_at(&f->a, 128), 1000);
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	assert_int_equal(len, 24);
	CHECK_OK(doca_buf_get_data_len(result, &len));
	assert_int_equal(len, 8);
	assert_int_equal(value_of(&event), 1007);
	close_event(&event);
	if (in_word)
		assert_int_equal(word, 1007);
	rig_put(src);
	rig_put(dst);
	rig_put(result);
}

static void on_an_event(void **state)
{
	get_set_and_add(*state, false);
}

static void on_an_event_in_the_programs_memory(void **state)
{
	get_set_and_add(*state, true);
}

static void lists_are_gathered_and_scattered(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 3), *dst = rig_room(&f->a, 200, 1);
	const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct event event;
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	memcpy(f->a.memory, bytes, 3);
	memcpy(f->a.memory + 100, bytes + 3, 5);
	CHECK_OK(doca_buf_chain_list(src, rig_source(&f->a, 100, 5)));
	CHECK_OK(doca_buf_chain_list(dst, rig_room(&f->a, 300, 4)));
	CHECK_OK(doca_buf_chain_list(dst, rig_room(&f->a, 400, 100)));
	open_event(f, &event, false);
	CHECK_OK(rig_event_set(&f->a, f->ab, event.remote, src, 0));
	CHECK_OK(rig_event_get(&f->a, f->ab, event.remote, dst, 1));
	WAIT(f->a.num_good == 2);
	assert_int_equal(value_of(&event), value);
	assert_memory_equal(f->a.memory + 200, bytes, 1);
	assert_memory_equal(f->a.memory + 300, bytes + 1, 4);
	assert_memory_equal(f->a.memory + 400, bytes + 5, 3);
	close_event(&event);
	rig_put(src);
	rig_put(dst);
}

/* Submitted after a send that waits, so a later receive decides when it takes effect. */
static void they_keep_their_place(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 8), *result = rig_room(&f->a, 64, 8), *data = rig_source(&f->a, 4096, 100),
			*there = rig_remote_room(&f->a, 4096, 100);
	struct event event;

	open_event(f, &event, false);
	put_number(&f->a, 0, 5);
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 0));
	CHECK_OK(rig_write(&f->a, f->ab, data, there, 1));
	CHECK_OK(rig_event_set(&f->a, f->ab, event.remote, src, 2));
	CHECK_OK(rig_event_add(&f->a, f->ab, event.remote, result, 1, 3));
	for (int i = 0; i < 1000; i++) {
		(void)doca_pe_progress(f->a.pe);
		(void)doca_pe_progress(f->b.pe);
	}
	assert_int_equal(value_of(&event), 0);
	CHECK_OK(rig_receive(&f->b, NULL, 0));
	CHECK_OK(doca_sync_event_get(event.own, &(uint64_t){0}));
	WAIT(value_of(&event) == 6);
	assert_memory_equal(f->b.memory + 4096, f->a.memory + 4096, 100);
	WAIT(f->a.num_good == 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(f->a.order[i], i);
	close_event(&event);
	rig_put(src);
	rig_put(result);
	rig_put(data);
	rig_put(there);
}

/* ---- failures ---- */

static void wrong_operands_are_rejected(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *seven = rig_source(&f->a, 0, 7), *nine = rig_source(&f->a, 0, 9), *eight = rig_source(&f->a, 0, 8),
			*room = rig_room(&f->a, 64, 7), *there = rig_remote_source(&f->a, 0, 8);
	struct doca_sync_event_remote_net *others;
	const uint8_t *data;
	struct event event;
	size_t len;

	open_event(f, &event, false);
	CHECK_OK(doca_sync_event_export_to_remote_net(event.own, &data, &len));
	CHECK_OK(doca_sync_event_remote_net_create_from_export(f->b.dev, data, len, &others));
	log_lines_forget();
	assert_int_equal(rig_event_set(&f->a, f->ab, event.remote, seven, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma set of a remote sync event", "7 bytes", "8");
	assert_int_equal(rig_event_set(&f->a, f->ab, event.remote, nine, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma set of a remote sync event", "9 bytes", "8");
	assert_int_equal(rig_event_set(&f->a, f->ab, event.remote, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma set of a remote sync event", "no source", "");
	assert_int_equal(rig_event_set(&f->a, f->ab, event.remote, there, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("local buffer", "use this process's own", "");
	assert_int_equal(rig_event_set(&f->a, f->ab, NULL, eight, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma set of a remote sync event", "no sync event", "");
	assert_int_equal(rig_event_set(&f->a, f->ab, others, eight, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma set of a remote sync event", "another device", "");
	assert_int_equal(rig_event_get(&f->a, f->ab, event.remote, room, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_forget();
	assert_int_equal(rig_event_get(&f->a, f->ab, event.remote, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma get of a remote sync event", "no destination", "");
	assert_int_equal(rig_event_get(&f->a, f->ab, NULL, room, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma get of a remote sync event", "no sync event", "");
	assert_int_equal(rig_event_add(&f->a, f->ab, event.remote, NULL, 1, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma add to a remote sync event", "no result buffer", "");
	assert_int_equal(rig_event_add(&f->a, f->ab, event.remote, room, 1, 0), DOCA_ERROR_INVALID_VALUE);
	log_lines_expect("rdma add to a remote sync event", "result buffer", "8 bytes");
	assert_int_equal(f->a.state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(value_of(&event), 0);
	CHECK_OK(doca_sync_event_remote_net_destroy(others));
	close_event(&event);
	rig_put(seven);
	rig_put(nine);
	rig_put(eight);
	rig_put(room);
	rig_put(there);
}

/* kind: 0 get, 1 set, 2 add, as in the guide's table. */
static void right_missing(struct rdma_fixture *f, uint32_t permissions, int kind, const char *flag)
{
	struct doca_buf *src = rig_source(&f->a, 0, 8), *room = rig_room(&f->a, 64, 8);
	struct event event;

	CHECK_OK(doca_rdma_set_permissions(f->b.rdma, permissions));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	open_event(f, &event, false);
	log_lines_forget();
	CHECK_OK(kind == 0   ? rig_event_get(&f->a, f->ab, event.remote, room, 0)
		 : kind == 1 ? rig_event_set(&f->a, f->ab, event.remote, src, 0)
			     : rig_event_add(&f->a, f->ab, event.remote, room, 1, 0));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_good, 0);
	assert_int_equal(f->a.status, DOCA_ERROR_NOT_PERMITTED);
	log_lines_expect("remote sync event", "the peer's instance does not permit it", flag);
	assert_int_equal(value_of(&event), 0);
	assert_int_equal(f->b.state, DOCA_CTX_STATE_RUNNING);
	close_event(&event);
	rig_put(src);
	rig_put(room);
}

static void a_get_needs_rdma_read(void **state)
{
	right_missing(*state, RIG_ALL & ~DOCA_ACCESS_FLAG_RDMA_READ, 0, "RDMA_READ");
}

static void a_set_needs_rdma_write(void **state)
{
	right_missing(*state, RIG_ALL & ~DOCA_ACCESS_FLAG_RDMA_WRITE, 1, "RDMA_WRITE");
}

static void an_add_needs_rdma_atomic(void **state)
{
	right_missing(*state, RIG_ALL & ~DOCA_ACCESS_FLAG_RDMA_ATOMIC, 2, "RDMA_ATOMIC");
}

/* On one of two connections: the other still works. */
static void an_event_that_its_owner_stopped(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_rdma_connection *other, *others_peer;
	struct doca_buf *src = rig_source(&f->a, 0, 8), *room = rig_room(&f->a, 64, 8);
	struct event event, lasting;

	CHECK_OK(doca_rdma_set_max_num_connections(f->a.rdma, 2));
	CHECK_OK(doca_rdma_set_max_num_connections(f->b.rdma, 2));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	other = f->ab;
	others_peer = f->ba;
	connect_both(f);
	open_event(f, &event, false);
	open_event(f, &lasting, false);
	CHECK_OK(rig_event_set(&f->a, f->ab, event.remote, src, 0));
	WAIT(f->a.num_good == 1);
	CHECK_OK(doca_sync_event_stop(event.own));
	log_lines_forget();
	CHECK_OK(rig_event_set(&f->a, f->ab, event.remote, src, 1));
	CHECK_OK(rig_event_add(&f->a, f->ab, lasting.remote, room, 1, 2)); /* submitted after the one that fails */
	WAIT(f->a.num_failed + f->a.num_good == 3);
	uint32_t good = f->a.num_good;
	if (!provider_is("tcp")) /* by TCP a task behind one that fails may already be done */
		assert_int_equal(good, 1);
	assert_int_equal(f->a.statuses[1], DOCA_ERROR_CONNECTION_ABORTED);
	log_lines_expect("rdma set of a remote sync event", "owner has stopped it, or is gone", "");
	CHECK_OK(rig_event_add(&f->a, other, lasting.remote, room, 3, 3));
	WAIT(f->a.num_good == good + 1);
	assert_int_equal(f->a.state, DOCA_CTX_STATE_RUNNING);
	CHECK_OK(rig_receive(&f->a, NULL, 4));
	CHECK_OK(rig_send(&f->b, others_peer, NULL, 4));
	WAIT(f->a.num_received == 1);
	CHECK_OK(doca_sync_event_remote_net_destroy(event.remote));
	CHECK_OK(doca_sync_event_destroy(event.own));
	close_event(&lasting);
	rig_put(src);
	rig_put(room);
}

static void a_stale_or_wrong_export(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_sync_event_remote_net *remote;
	struct doca_sync_event *pci;
	const uint8_t *data;
	uint8_t copy[4096];
	struct event event;
	size_t len;

	open_event(f, &event, false);
	CHECK_OK(doca_sync_event_export_to_remote_net(event.own, &data, &len));
	assert_true(len <= sizeof(copy));
	memcpy(copy, data, len);
	close_event(&event);
	assert_int_equal(doca_sync_event_remote_net_create_from_export(f->a.dev, copy, len, &remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_create(&pci));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(pci));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(pci, f->b.dev));
	CHECK_OK(doca_sync_event_start(pci));
	CHECK_OK(doca_sync_event_export_to_remote_pci(pci, f->b.dev, &data, &len));
	assert_int_equal(doca_sync_event_remote_net_create_from_export(f->a.dev, data, len, &remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_stop(pci));
	CHECK_OK(doca_sync_event_destroy(pci));
}

/* A flushed task has no effect. */
static void stop_flushes_without_effect(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 8), *room = rig_room(&f->a, 64, 8);
	struct event event;

	open_event(f, &event, false);
	put_number(&f->a, 0, 77);
	CHECK_OK(rig_send(&f->a, f->ab, NULL, 0));
	CHECK_OK(rig_event_set(&f->a, f->ab, event.remote, src, 1));
	CHECK_OK(rig_event_add(&f->a, f->ab, event.remote, room, 1, 2));
	assert_int_equal(doca_ctx_stop(f->a.ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_failed, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(f->a.statuses[i], DOCA_ERROR_BAD_STATE);
	assert_int_equal(value_of(&event), 0);
	close_event(&event);
	rig_put(src);
	rig_put(room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(null_arguments, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(setters_and_getters, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(on_an_event, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(on_an_event_in_the_programs_memory, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(lists_are_gathered_and_scattered, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(they_keep_their_place, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(wrong_operands_are_rejected, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_get_needs_rdma_read, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_set_needs_rdma_write, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(an_add_needs_rdma_atomic, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(an_event_that_its_owner_stopped, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_stale_or_wrong_export, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(stop_flushes_without_effect, rdma_setup, rdma_teardown),
	};

	log_lines_open();
	return cmocka_run_group_tests_name("rdma sync events", tests, NULL, NULL);
}
