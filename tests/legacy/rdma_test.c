/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA of the 2.2 API: two instances of this process, each with a work queue. */
#include <poll.h>
#include <stdlib.h>

#include "fixture.h"

#include <doca_rdma.h>

#define DEPTH 64
#define LEN 256
#define IMMEDIATE 0xabcd

struct side {
	struct fixture f;
	struct doca_rdma *rdma;
	struct doca_mmap *mmap, *peers; /* with RDMA permissions; the map of the other side */
	const void *details, *descriptor;
	size_t details_len, descriptor_len;
	struct doca_rdma_result result;
};

static struct side a, b;

static void side_open(struct side *s, uint32_t queue_size)
{
	struct doca_ctx *ctx;

	memset(s, 0, sizeof(*s));
	fixture_open(&s->f, DEPTH);
	assert_ok(doca_mmap_create(NULL, &s->mmap));
	assert_ok(doca_mmap_set_memrange(s->mmap, s->f.memory, FIXTURE_MEMORY));
	assert_ok(doca_mmap_dev_add(s->mmap, s->f.dev));
	assert_ok(doca_mmap_set_permissions(s->mmap, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ |
							     DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC));
	assert_ok(doca_mmap_start(s->mmap));
	assert_ok(doca_mmap_export_rdma(s->mmap, s->f.dev, &s->descriptor, &s->descriptor_len));
	assert_ok(doca_rdma_create(&s->rdma));
	ctx = doca_rdma_as_ctx(s->rdma);
	assert_ok(doca_ctx_dev_add(ctx, s->f.dev));
	assert_ok(doca_rdma_set_permissions(s->rdma, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ |
							     DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC));
	assert_ok(doca_rdma_set_send_queue_size(s->rdma, queue_size));
	assert_ok(doca_rdma_set_recv_queue_size(s->rdma, queue_size));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_rdma_export(s->rdma, &s->details, &s->details_len));
	assert_ok(doca_ctx_workq_add(ctx, s->f.workq));
}

static void side_connect(struct side *s, const struct side *peer)
{
	assert_ok(doca_rdma_connect(s->rdma, peer->details, peer->details_len));
	assert_ok(doca_mmap_create_from_export(NULL, peer->descriptor, peer->descriptor_len, s->f.dev, &s->peers));
}

static void side_close(struct side *s)
{
	if (s->rdma != NULL) {
		fixture_stop(&s->f, doca_rdma_as_ctx(s->rdma));
		assert_ok(doca_rdma_destroy(s->rdma));
	}
	if (s->peers != NULL)
		assert_ok(doca_mmap_destroy(s->peers));
	assert_ok(doca_mmap_destroy(s->mmap));
	fixture_close(&s->f);
}

static void pair_open(uint32_t queue_size)
{
	side_open(&a, queue_size);
	side_open(&b, queue_size);
	side_connect(&a, &b);
	side_connect(&b, &a);
}

static void pair_close(void)
{
	side_close(&a);
	side_close(&b);
}

static struct doca_job base_of(const struct side *s, int type, uint64_t user_data)
{
	return (struct doca_job){.type = type, .ctx = doca_rdma_as_ctx(s->rdma), .user_data.u64 = user_data};
}

/* The next event of a side; meanwhile the other side progresses. */
static doca_error_t event_await(struct side *s, struct side *other, struct doca_event *event)
{
	double end = sf_now_s() + 10;
	struct doca_event none = {.result.ptr = NULL};
	doca_error_t result;

	do {
		event->result.ptr = &s->result;
		result = doca_workq_progress_retrieve(s->f.workq, event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
		if (result == DOCA_ERROR_AGAIN && other != NULL)
			assert_int_equal(doca_workq_progress_retrieve(other->f.workq, &none, DOCA_WORKQ_RETRIEVE_FLAGS_NONE),
					 DOCA_ERROR_AGAIN);
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	return result;
}

static struct doca_buf *remote_at(struct side *s, const struct side *peer, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_by_data(s->f.inventory, s->peers, peer->f.memory + offset, len, &buf));
	return buf;
}

static struct doca_buf *remote_room_at(struct side *s, const struct side *peer, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_by_addr(s->f.inventory, s->peers, peer->f.memory + offset, len, &buf));
	return buf;
}

static void receive_post(struct side *s, struct doca_buf *buf, uint64_t user_data)
{
	struct doca_rdma_job_recv job = {.base = base_of(s, DOCA_RDMA_JOB_RECV, user_data), .dst_buff = buf};

	assert_ok(doca_workq_submit(s->f.workq, &job.base));
}

static void a_send_arrives_in_a_receive(void **state)
{
	struct doca_event event;
	void *data;
	size_t len;

	pair_open(8);
	for (int with_imm = 0; with_imm < 2; with_imm++) {
		struct doca_buf *to = room_at(&b.f, 4096, LEN), *from = source_at(&a.f, 0, "a message", 10);
		struct doca_rdma_job_send send = {.base = base_of(&a, with_imm ? DOCA_RDMA_JOB_SEND_IMM : DOCA_RDMA_JOB_SEND, 7),
						  .src_buff = from,
						  .immediate_data = IMMEDIATE};

		receive_post(&b, to, 8);
		assert_ok(doca_workq_submit(a.f.workq, &send.base));
		assert_ok(event_await(&b, NULL, &event));
		assert_int_equal(event.type, DOCA_RDMA_JOB_RECV);
		assert_int_equal(event.user_data.u64, 8);
		assert_int_equal(b.result.result, DOCA_SUCCESS);
		assert_int_equal(b.result.opcode, with_imm ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM : DOCA_RDMA_OPCODE_RECV_SEND);
		assert_int_equal(b.result.length, 10);
		assert_int_equal(b.result.immediate_data, with_imm ? IMMEDIATE : 0);
		assert_ok(doca_buf_get_data(to, &data));
		assert_ok(doca_buf_get_data_len(to, &len));
		assert_int_equal(len, 10);
		assert_string_equal(data, "a message");
		assert_ok(event_await(&a, &b, &event));
		assert_int_equal(event.type, send.base.type);
		assert_int_equal(event.user_data.u64, 7);
		assert_int_equal(a.result.result, DOCA_SUCCESS);
		assert_int_equal(a.result.length, 0);
		release(to);
		release(from);
	}
	pair_close();
	(void)state;
}

/* A buf full of data has no room after them. */
static void a_receive_may_replace_the_data_of_its_buf(void **state)
{
	struct doca_event event;
	void *data;
	size_t len;

	pair_open(8);
	struct doca_buf *to = source_at(&b.f, 4096, NULL, LEN), *from = source_at(&a.f, 0, "a message", 10);
	struct doca_rdma_job_send send = {.base = base_of(&a, DOCA_RDMA_JOB_SEND, 7), .src_buff = from};

	receive_post(&b, to, 8);
	assert_ok(doca_workq_submit(a.f.workq, &send.base));
	assert_ok(event_await(&b, NULL, &event));
	assert_ok(event_await(&a, &b, &event));
	assert_ok(doca_buf_get_data(to, &data));
	assert_ok(doca_buf_get_data_len(to, &len));
	assert_int_equal(len, 10);
	assert_ptr_equal(data, b.f.memory + 4096);
	assert_string_equal(data, "a message");
	release(to);
	release(from);
	pair_close();
	(void)state;
}

static void reads_and_writes_reach_the_peers_memory(void **state)
{
	struct doca_event event;

	pair_open(8);
	struct doca_buf *local = source_at(&a.f, 0, "written", 8), *remote = remote_room_at(&a, &b, 512, LEN);
	struct doca_buf *room = room_at(&a.f, 1024, LEN), *source = remote_at(&a, &b, 2048, 5);
	struct doca_rdma_job_read_write job = {
		.base = base_of(&a, DOCA_RDMA_JOB_WRITE, 1), .dst_buff = remote, .src_buff = local, .immediate_data = IMMEDIATE};

	assert_ok(doca_workq_submit(a.f.workq, &job.base));
	assert_ok(event_await(&a, &b, &event));
	assert_memory_equal(b.f.memory + 512, "written", sizeof("written"));
	memset(b.f.memory + 512, 0, 8);
	release(remote);
	job.dst_buff = remote = remote_room_at(&a, &b, 512, LEN);
	receive_post(&b, NULL, 2);
	job.base.type = DOCA_RDMA_JOB_WRITE_IMM;
	assert_ok(doca_workq_submit(a.f.workq, &job.base));
	assert_ok(event_await(&b, NULL, &event));
	assert_int_equal(b.result.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	assert_int_equal(b.result.immediate_data, IMMEDIATE);
	assert_memory_equal(b.f.memory + 512, "written", sizeof("written"));
	assert_ok(event_await(&a, &b, &event));
	memcpy(b.f.memory + 2048, "read", 5);
	job = (struct doca_rdma_job_read_write){.base = base_of(&a, DOCA_RDMA_JOB_READ, 3), .dst_buff = room, .src_buff = source};
	assert_ok(doca_workq_submit(a.f.workq, &job.base));
	assert_ok(event_await(&a, &b, &event));
	assert_int_equal(event.user_data.u64, 3);
	assert_string_equal(a.f.memory + 1024, "read");
	release(local);
	release(remote);
	release(room);
	release(source);
	pair_close();
	(void)state;
}

static void atomics_return_the_old_value(void **state)
{
	struct doca_event event;
	uint64_t *word, *before;

	pair_open(8);
	word = (uint64_t *)(void *)(b.f.memory + 64);
	before = (uint64_t *)(void *)(a.f.memory + 128);
	*word = 40;
	struct doca_buf *remote = remote_at(&a, &b, 64, 8), *result = source_at(&a.f, 128, NULL, 8);
	struct doca_rdma_job_atomic job = {.base = base_of(&a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, 1),
					   .cmp_or_add_dest_buff = remote,
					   .result_buff = result,
					   .swap_or_add_data = 2};

	assert_ok(doca_workq_submit(a.f.workq, &job.base));
	assert_ok(event_await(&a, &b, &event));
	assert_int_equal(*before, 40);
	assert_int_equal(*word, 42);
	job.base.type = DOCA_RDMA_JOB_ATOMIC_CMP_SWP;
	job.cmp_data = 42;
	job.swap_or_add_data = 7;
	assert_ok(doca_workq_submit(a.f.workq, &job.base));
	assert_ok(event_await(&a, &b, &event));
	assert_int_equal(*before, 42);
	assert_int_equal(*word, 7);
	release(remote);
	release(result);
	pair_close();
	(void)state;
}

/* The queue is full for one type of job; jobs of another type still have room, in slots that had tasks of the first. */
static void a_full_queue_rejects_more_of_its_type(void **state)
{
	struct doca_event event;
	struct doca_buf *bufs[4];

	pair_open(4);
	for (int i = 0; i < 4; i++) {
		struct doca_rdma_job_send send = {.base = base_of(&b, DOCA_RDMA_JOB_SEND, 0)};

		receive_post(&a, NULL, 0); /* so that slots of b get tasks of another type */
		assert_ok(doca_workq_submit(b.f.workq, &send.base));
	}
	for (int i = 0; i < 4; i++) {
		assert_ok(event_await(&a, NULL, &event));
		assert_ok(event_await(&b, &a, &event));
	}
	for (int i = 0; i < 4; i++) {
		bufs[i] = room_at(&b.f, 4096 + (size_t)i * LEN, LEN);
		receive_post(&b, bufs[i], (uint64_t)i);
	}
	struct doca_rdma_job_recv fifth = {.base = base_of(&b, DOCA_RDMA_JOB_RECV, 4)};
	struct doca_rdma_job_send send = {.base = base_of(&a, DOCA_RDMA_JOB_SEND, 9)};

	assert_int_equal(doca_workq_submit(b.f.workq, &fifth.base), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 4; i++)
		assert_ok(doca_workq_submit(a.f.workq, &send.base));
	for (uint64_t i = 0; i < 4; i++) {
		assert_ok(event_await(&b, NULL, &event));
		assert_int_equal(event.user_data.u64, i);
		assert_int_equal(b.result.length, 0);
		assert_ok(event_await(&a, &b, &event));
	}
	for (uint64_t i = 0; i < 4; i++) { /* their four tasks are in slots that have no job now */
		struct doca_rdma_job_send back = {.base = base_of(&b, DOCA_RDMA_JOB_SEND, i)};

		receive_post(&a, NULL, i);
		assert_ok(doca_workq_submit(b.f.workq, &back.base));
	}
	for (int i = 0; i < 4; i++) {
		assert_ok(event_await(&a, NULL, &event));
		assert_ok(event_await(&b, &a, &event));
		release(bufs[i]);
	}
	pair_close();
	(void)state;
}

static void calls_out_of_order_are_rejected(void **state)
{
	enum doca_rdma_state where;
	struct doca_rdma *rdma;
	uint32_t value;

	side_open(&a, 8);
	side_open(&b, 8);
	assert_ok(doca_rdma_create(&rdma));
	assert_int_equal(doca_rdma_set_permissions(rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_DC), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_set_sl(rdma, 16), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_send_queue_size(rdma, 100));
	assert_ok(doca_rdma_get_send_queue_size(rdma, &value));
	assert_int_equal(value, 128);
	assert_ok(doca_rdma_get_state(rdma, &where));
	assert_int_equal(where, DOCA_RDMA_STATE_RESET);
	assert_int_equal(doca_rdma_connect(rdma, a.details, a.details_len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_start(doca_rdma_as_ctx(rdma)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_destroy(rdma));
	assert_int_equal(doca_rdma_job_get_supported(NULL, DOCA_RDMA_JOB_SEND), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_job_get_supported(doca_dev_as_devinfo(a.f.dev), (enum doca_rdma_job_types)1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_job_get_supported(doca_dev_as_devinfo(a.f.dev), DOCA_RDMA_JOB_ATOMIC_FETCH_ADD));
	struct doca_rdma_job_send send = {.base = base_of(&a, DOCA_RDMA_JOB_SEND, 0)};

	assert_int_equal(doca_workq_submit(a.f.workq, &send.base), DOCA_ERROR_BAD_STATE); /* not connected */
	assert_int_equal(doca_rdma_set_mtu(a.rdma, DOCA_MTU_SIZE_4K_BYTES), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_connect(a.rdma, "damaged", 8), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_rdma_destroy(a.rdma), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_get_state(a.rdma, &where));
	assert_int_equal(where, DOCA_RDMA_STATE_INIT);
	side_connect(&a, &b);
	assert_ok(doca_rdma_get_state(a.rdma, &where));
	assert_int_equal(where, DOCA_RDMA_STATE_CONNECTED);
	assert_int_equal(doca_rdma_connect(a.rdma, b.details, b.details_len), DOCA_ERROR_BAD_STATE);
	pair_close();
	(void)state;
}

/* The job of an instance fails after its peer has ended; another run of the context connects again. */
static void a_peer_that_has_ended_fails_the_job(void **state)
{
	struct doca_ctx *ctx;
	struct doca_event event;

	pair_open(8);
	fixture_stop(&b.f, doca_rdma_as_ctx(b.rdma));
	assert_ok(doca_rdma_destroy(b.rdma));
	b.rdma = NULL;
	struct doca_rdma_job_send send = {.base = base_of(&a, DOCA_RDMA_JOB_SEND, 5)};

	assert_ok(doca_workq_submit(a.f.workq, &send.base));
	assert_int_equal(event_await(&a, NULL, &event), DOCA_ERROR_IO_FAILED);
	assert_int_equal(event.user_data.u64, 5);
	assert_int_not_equal(a.result.result, DOCA_SUCCESS);
	side_close(&b);
	ctx = doca_rdma_as_ctx(a.rdma);
	fixture_stop(&a.f, ctx);
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_rdma_export(a.rdma, &a.details, &a.details_len));
	assert_ok(doca_ctx_workq_add(ctx, a.f.workq));
	assert_ok(doca_mmap_destroy(a.peers));
	side_open(&b, 8);
	side_connect(&a, &b);
	side_connect(&b, &a);
	receive_post(&b, NULL, 6);
	assert_ok(doca_workq_submit(a.f.workq, &send.base));
	assert_ok(event_await(&b, NULL, &event));
	assert_ok(event_await(&a, &b, &event));
	pair_close();
	(void)state;
}

static void a_sleeper_is_woken_by_a_message(void **state)
{
	doca_event_handle_t handle;
	struct doca_event event;
	struct pollfd fd;

	side_open(&a, 8);
	side_open(&b, 8);
	side_connect(&a, &b);
	side_connect(&b, &a);
	assert_ok(doca_workq_set_event_driven_enable(b.f.workq, 1));
	assert_ok(doca_workq_get_event_handle(b.f.workq, &handle));
	for (uint64_t i = 0; i < 100; i++) {
		struct doca_rdma_job_send send = {.base = base_of(&a, DOCA_RDMA_JOB_SEND, i)};

		receive_post(&b, NULL, i);
		assert_ok(doca_workq_event_handle_arm(b.f.workq));
		assert_ok(doca_workq_submit(a.f.workq, &send.base));
		for (;;) {
			event.result.ptr = &b.result;
			doca_error_t result = doca_workq_progress_retrieve(b.f.workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
			if (result != DOCA_ERROR_AGAIN) {
				assert_ok(result);
				break;
			}
			assert_ok(doca_workq_event_handle_arm(b.f.workq));
			fd = (struct pollfd){.fd = handle, .events = POLLIN};
			assert_int_equal(poll(&fd, 1, 10000), 1);
			assert_ok(doca_workq_event_handle_clear(b.f.workq, handle));
		}
		assert_int_equal(event.user_data.u64, i);
		assert_ok(event_await(&a, NULL, &event));
	}
	pair_close();
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_arrives_in_a_receive),
		cmocka_unit_test(a_receive_may_replace_the_data_of_its_buf),
		cmocka_unit_test(reads_and_writes_reach_the_peers_memory),
		cmocka_unit_test(atomics_return_the_old_value),
		cmocka_unit_test(a_full_queue_rejects_more_of_its_type),
		cmocka_unit_test(calls_out_of_order_are_rejected),
		cmocka_unit_test(a_peer_that_has_ended_fails_the_job),
		cmocka_unit_test(a_sleeper_is_woken_by_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
