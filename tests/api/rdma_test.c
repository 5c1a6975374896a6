/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA between two instances of one process: arguments, properties, every verb, each way to fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_rig.h"

#define SIZE (4 << 20)

struct fixture {
	struct rdma_rig a, b;
	struct doca_rdma_connection *ab, *ba; /* a's to b, b's to a */
	const void *a_details, *b_details;
	size_t a_size, b_size;
};

static void import_each_other(struct fixture *f)
{
	const void *descriptor;
	size_t len;

	OK(doca_mmap_export_rdma(f->a.mmap, f->a.dev, &descriptor, &len));
	rdma_rig_import(&f->b, descriptor, len);
	OK(doca_mmap_export_rdma(f->b.mmap, f->b.dev, &descriptor, &len));
	rdma_rig_import(&f->a, descriptor, len);
}

static void export_both(struct fixture *f)
{
	OK(doca_rdma_export(f->a.rdma, &f->a_details, &f->a_size, &f->ab));
	OK(doca_rdma_export(f->b.rdma, &f->b_details, &f->b_size, &f->ba));
}

static void connect_both(struct fixture *f)
{
	export_both(f);
	OK(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab));
	OK(doca_rdma_connect(f->b.rdma, f->a_details, f->a_size, f->ba));
}

static int prepare(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	rdma_rig_prepare(&f.a, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_prepare(&f.b, 1, SIZE, RIG_ALL, RIG_ALL);
	for (size_t i = 0; i < SIZE; i++) {
		f.a.memory[i] = (uint8_t)(i * 31 + (i >> 12));
		f.b.memory[i] = (uint8_t)(i * 17 + (i >> 11) + 5);
	}
	import_each_other(&f);
	*state = &f;
	return 0;
}

static int setup(void **state)
{
	(void)prepare(state);
	struct fixture *f = *state;
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rdma_rig_stop(&f->a);
	rdma_rig_stop(&f->b);
	OK(doca_mmap_destroy(f->a.remote));
	OK(doca_mmap_destroy(f->b.remote));
	f->a.remote = f->b.remote = NULL;
	rdma_rig_fini(&f->a);
	rdma_rig_fini(&f->b);
	return 0;
}

#define WAIT(condition) RDMA_RIG_WAIT(&f->a, &f->b, condition)

/* ---- arguments, properties ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma *rdma;
	struct doca_rdma_connection *connection;
	const void *details;
	size_t size;
	uint32_t number;

	assert_int_equal(doca_rdma_create(NULL, &rdma), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_create(f->a.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_rdma_as_ctx(NULL));
	assert_int_equal(doca_rdma_export(NULL, &details, &size, &connection), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_export(f->a.rdma, NULL, &size, &connection), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(NULL, "", 1, f->ab), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(f->a.rdma, NULL, 1, f->ab), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(f->a.rdma, "", 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connection_get_id(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_permissions(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_get_permissions(f->a.rdma, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_cap_get_max_message_size(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(f->a.dev), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_cap_task_send_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_rdma_task_write_as_task(NULL));
	assert_null(doca_rdma_task_receive_get_dst_buf(NULL));
	assert_int_equal(doca_rdma_task_read_get_result_len(NULL), 0);
}

static void properties_are_checked(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma *rdma = f->a.rdma;
	enum doca_rdma_transport_type transport;
	enum doca_mtu_size mtu;
	uint32_t number, gids;
	uint16_t connections;
	uint8_t small;

	OK(doca_rdma_get_rnr_retry_count(rdma, &small));
	assert_int_equal(small, 7);
	OK(doca_rdma_set_send_queue_size(rdma, 100));
	OK(doca_rdma_get_send_queue_size(rdma, &number));
	assert_int_equal(number, 128);
	assert_int_equal(doca_rdma_set_send_queue_size(rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	OK(doca_rdma_get_permissions(rdma, &number));
	assert_int_equal(number, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_int_equal(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_TYPE_DC), DOCA_ERROR_NOT_SUPPORTED);
	OK(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_TYPE_RC));
	OK(doca_rdma_get_transport_type(rdma, &transport));
	assert_int_equal(transport, DOCA_RDMA_TRANSPORT_TYPE_RC);
	OK(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_4K_BYTES));
	OK(doca_rdma_get_mtu(rdma, &mtu));
	assert_int_equal(mtu, DOCA_MTU_SIZE_4K_BYTES);
	assert_int_equal(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_grh_enabled(rdma, 0), DOCA_ERROR_NOT_SUPPORTED);
	OK(doca_rdma_set_grh_enabled(rdma, 1));
	OK(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(f->a.dev), &gids));
	OK(doca_rdma_set_gid_index(rdma, gids - 1));
	assert_int_equal(doca_rdma_set_gid_index(rdma, gids), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_sl(rdma, 16), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_rnr_retry_count(rdma, 8), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_max_num_connections(rdma, 0), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_get_max_num_connections(rdma, &connections));
	assert_int_equal(connections, 1);
	assert_int_equal(doca_rdma_task_receive_set_dst_buf_list_len(rdma, 7), DOCA_ERROR_INVALID_VALUE);
	rdma_rig_start(&f->a);
	assert_int_equal(doca_rdma_set_sl(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_task_send_set_conf(rdma, rdma_rig_send_good, rdma_rig_send_failed, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_destroy(rdma), DOCA_ERROR_BAD_STATE);
}

static void gids_are_the_devices(void **state)
{
	struct fixture *f = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(f->a.dev);
	struct doca_rdma_gid gids[4];
	uint8_t mac[6];
	uint32_t num;

	OK(doca_rdma_cap_get_gid_table_size(devinfo, &num));
	assert_true(num >= 2 && num <= 4);
	OK(doca_rdma_cap_get_gid(devinfo, 0, num, gids));
	OK(doca_devinfo_get_mac_addr(devinfo, mac, sizeof(mac)));
	assert_int_equal(gids[0].raw[0], 0xfe);
	assert_int_equal(gids[0].raw[15], mac[5]);
	assert_int_equal(doca_rdma_cap_get_gid(devinfo, 1, num, gids), DOCA_ERROR_INVALID_VALUE);
}

/* ---- connections ---- */

static void states_of_a_connection(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *one_more;
	union doca_data data = {.u64 = 0};
	const void *details;
	size_t size;
	uint32_t id = 9;

	assert_int_equal(doca_rdma_export(f->a.rdma, &details, &size, &one_more), DOCA_ERROR_BAD_STATE);
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	assert_int_equal(doca_rdma_export(f->a.rdma, &details, &size, &one_more), DOCA_ERROR_FULL);
	OK(doca_rdma_connection_get_id(f->ab, &id));
	assert_int_equal(id, 0);
	OK(doca_rdma_connection_set_user_data(f->ab, (union doca_data){.u64 = 41}));
	OK(doca_rdma_connection_get_user_data(f->ab, &data));
	assert_int_equal(data.u64, 41);
	assert_int_equal(rig_send(&f->a, f->ab, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ba), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(f->a.rdma, f->a_details, f->a_size, f->ab), DOCA_ERROR_INVALID_VALUE);
	OK(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab));
	assert_int_equal(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab), DOCA_ERROR_BAD_STATE);
	rdma_rig_stop(&f->a);
	rdma_rig_start(&f->a);
	OK(doca_rdma_export(f->a.rdma, &details, &size, &f->ab));
}

static void altered_details_are_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t copy[256];

	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	assert_true(f->b_size <= sizeof(copy));
	for (size_t len = 0; len < f->b_size; len++) {
		memcpy(copy, f->b_details, f->b_size);
		copy[len] ^= 0x10;
		assert_int_equal(doca_rdma_connect(f->a.rdma, copy, f->b_size, f->ab), DOCA_ERROR_INVALID_VALUE);
		copy[len] ^= 0x10;
		assert_int_equal(doca_rdma_connect(f->a.rdma, copy, len, f->ab), DOCA_ERROR_INVALID_VALUE);
	}
	OK(doca_rdma_connect(f->a.rdma, copy, f->b_size, f->ab));
}

/* Tasks submitted by the next statement, though the peer connects only later. */
static void one_side_connects_long_before(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 100), *dst = rig_room(&f->b, 1000, 100);

	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	OK(doca_rdma_connect(f->a.rdma, f->b_details, f->b_size, f->ab));
	OK(rig_send(&f->a, f->ab, src, 1));
	OK(rig_receive(&f->b, dst, 2));
	WAIT(f->a.num_good == 1 && f->b.num_received == 1);
	assert_ptr_equal(f->b.from, f->ba);
	assert_memory_equal(f->b.memory + 1000, f->a.memory, 100);
	OK(doca_rdma_connect(f->b.rdma, f->a_details, f->a_size, f->ba));
	OK(rig_receive(&f->a, NULL, 3));
	OK(rig_send(&f->b, f->ba, NULL, 4));
	WAIT(f->a.num_received == 1 && f->b.num_good == 2);
	rig_put(src);
	rig_put(dst);
}

static void several_connections(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *out[8], *in[8];
	const void *a_details, *b_details;
	size_t a_size, b_size;
	union doca_data data;

	OK(doca_rdma_set_max_num_connections(f->a.rdma, 8));
	OK(doca_rdma_set_max_num_connections(f->b.rdma, 8));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	for (int i = 0; i < 8; i++) {
		OK(doca_rdma_export(f->a.rdma, &a_details, &a_size, &out[i]));
		OK(doca_rdma_export(f->b.rdma, &b_details, &b_size, &in[i]));
		OK(doca_rdma_connection_set_user_data(in[i], (union doca_data){.u64 = 100 + (uint64_t)i}));
		OK(doca_rdma_connect(f->a.rdma, b_details, b_size, out[i]));
		OK(doca_rdma_connect(f->b.rdma, a_details, a_size, in[i]));
	}
	for (uint32_t i = 0; i < 8; i++) {
		OK(rig_receive(&f->b, NULL, 0));
		OK(rig_send_imm(&f->a, out[i], NULL, i, 0));
		WAIT(f->b.num_received == i + 1);
		assert_ptr_equal(f->b.from, in[i]);
		OK(doca_rdma_connection_get_user_data(f->b.from, &data));
		assert_int_equal(data.u64, 100 + i);
	}
}

/* ---- verbs ---- */

static void send_and_receive(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 4096, 3000), *dst = rig_room(&f->b, 8192, 5000);
	size_t len;

	OK(rig_receive(&f->b, dst, 0));
	OK(rig_send(&f->a, f->ab, src, 0));
	WAIT(f->a.num_good == 1 && f->b.num_received == 1);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_SEND);
	assert_int_equal(f->b.len, 3000);
	assert_int_equal(f->b.immediate, 0);
	assert_ptr_equal(f->b.from, f->ba);
	OK(doca_buf_get_data_len(dst, &len));
	assert_int_equal(len, 3000);
	assert_memory_equal(f->b.memory + 8192, f->a.memory + 4096, 3000);
	OK(rig_receive(&f->b, dst, 0)); /* appends */
	OK(rig_send_imm(&f->a, f->ab, src, 0xA1B2C3D4, 0));
	WAIT(f->b.num_received == 2 || f->a.num_failed > 0);
	assert_int_equal(f->a.num_failed, 1); /* 2000 bytes are left of 5000 */
	assert_int_equal(f->a.status, DOCA_ERROR_IO_FAILED);
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	rig_put(src);
	rig_put(dst);
}

static void immediates_pass_unchanged(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 64, 40), *dst = rig_room(&f->b, 128, 40),
			*there = rig_remote_room(&f->a, 512, 40);
	size_t len;

	OK(rig_receive(&f->b, dst, 0));
	OK(rig_send_imm(&f->a, f->ab, src, 0xA1B2C3D4, 0));
	WAIT(f->b.num_received == 1);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
	assert_int_equal(f->b.immediate, 0xA1B2C3D4);
	OK(rig_receive(&f->b, NULL, 0));
	OK(rig_write_imm(&f->a, f->ab, src, there, 0x01020304, 0));
	WAIT(f->b.num_received == 2 && f->a.num_good == 2);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	assert_int_equal(f->b.immediate, 0x01020304);
	assert_int_equal(f->b.len, 0);
	assert_memory_equal(f->b.memory + 512, f->a.memory + 64, 40);
	OK(doca_buf_get_data_len(there, &len));
	assert_int_equal(len, 40);
	OK(rig_receive(&f->b, NULL, 0));
	OK(rig_write_imm(&f->a, f->ab, NULL, NULL, 5, 0));
	WAIT(f->b.num_received == 3 && f->a.num_good == 3);
	assert_int_equal(f->b.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	rig_put(src);
	rig_put(dst);
	rig_put(there);
}

static void read_and_write(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 100, 70000), *there = rig_remote_room(&f->a, 4096, 200000);
	struct doca_buf *from = rig_remote_source(&f->a, 4096, 140000), *here = rig_room(&f->a, 1 << 20, 140000);
	size_t len;

	OK(rig_write(&f->a, f->ab, src, there, 0));
	WAIT(f->a.num_good == 1);
	OK(rig_write(&f->a, f->ab, src, there, 1)); /* appends */
	WAIT(f->a.num_good == 2);
	assert_memory_equal(f->b.memory + 4096, f->a.memory + 100, 70000);
	assert_memory_equal(f->b.memory + 74096, f->a.memory + 100, 70000);
	OK(rig_read(&f->a, f->ab, from, here, 2));
	WAIT(f->a.num_good == 3);
	OK(doca_buf_get_data_len(here, &len));
	assert_int_equal(len, 140000);
	assert_memory_equal(f->a.memory + (1 << 20), f->b.memory + 4096, 140000);
	rig_put(src);
	rig_put(there);
	rig_put(from);
	rig_put(here);
}

static void lists_are_gathered_and_scattered(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *dst = rig_room(&f->b, 9000, 7),
			*there = rig_remote_room(&f->a, 20000, 64);
	uint8_t expected[30];

	OK(doca_buf_chain_list(src, rig_source(&f->a, 100, 15)));
	OK(doca_buf_chain_list(src, rig_source(&f->a, 300, 5)));
	OK(doca_buf_chain_list(dst, rig_room(&f->b, 9100, 100)));
	memcpy(expected, f->a.memory, 10);
	memcpy(expected + 10, f->a.memory + 100, 15);
	memcpy(expected + 25, f->a.memory + 300, 5);
	OK(rig_receive(&f->b, dst, 0));
	OK(rig_send(&f->a, f->ab, src, 0));
	OK(rig_write(&f->a, f->ab, src, there, 0));
	WAIT(f->a.num_good == 2 && f->b.num_received == 1);
	assert_int_equal(f->b.len, 30);
	assert_memory_equal(f->b.memory + 9000, expected, 7);
	assert_memory_equal(f->b.memory + 9100, expected + 7, 23);
	assert_memory_equal(f->b.memory + 20000, expected, 30);
	OK(doca_buf_chain_list(src, rig_source(&f->a, 400, 5)));
	OK(doca_buf_chain_list(src, rig_source(&f->a, 500, 5)));
	assert_int_equal(rig_send(&f->a, f->ab, src, 0), DOCA_ERROR_INVALID_VALUE);
	rig_put(src);
	rig_put(dst);
	rig_put(there);
}

static void operations_of_nothing_keep_their_place(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *there = rig_remote_room(&f->a, 0, 64);

	OK(rig_write(&f->a, f->ab, src, there, 0));
	OK(rig_write(&f->a, f->ab, NULL, NULL, 1));
	OK(rig_read(&f->a, f->ab, NULL, NULL, 2));
	OK(rig_send(&f->a, f->ab, NULL, 3));
	OK(rig_write(&f->a, f->ab, src, there, 4));
	OK(rig_receive(&f->b, NULL, 0));
	WAIT(f->a.num_good == 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(f->a.order[i], i);
	rig_put(src);
	rig_put(there);
}

static void atomics(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *there = rig_remote_source(&f->a, 64, 8), *result = rig_room(&f->a, 128, 8),
			*odd = rig_remote_source(&f->a, 65, 8);
	uint64_t value = 1000;
	size_t len;

	memcpy(f->b.memory + 64, &value, 8);
	OK(rig_add(&f->a, f->ab, there, result, 7, 0));
	WAIT(f->a.num_good == 1);
	memcpy(&value, f->a.memory + 128, 8);
	assert_int_equal(value, 1000);
	OK(doca_buf_get_data_len(result, &len));
	assert_int_equal(len, 8);
	OK(rig_cas(&f->a, f->ab, there, result, 1, 2, 0));
	WAIT(f->a.num_good == 2);
	memcpy(&value, f->b.memory + 64, 8);
	assert_int_equal(value, 1007);
	OK(rig_cas(&f->a, f->ab, there, result, 1007, 2, 0));
	WAIT(f->a.num_good == 3);
	memcpy(&value, f->b.memory + 64, 8);
	assert_int_equal(value, 2);
	assert_int_equal(rig_add(&f->a, f->ab, odd, result, 7, 0), DOCA_ERROR_INVALID_VALUE);
	rig_put(there);
	rig_put(result);
	rig_put(odd);
}

static void tasks_are_submitted_again_from_their_callbacks(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 8);

	f->a.resubmits = 999;
	f->b.resubmits = 999;
	OK(rig_receive(&f->b, NULL, 0));
	struct doca_rdma_task_send *task;
	OK(doca_rdma_task_send_allocate_init(f->a.rdma, f->ab, NULL, (union doca_data){.u64 = 0}, &task));
	assert_ptr_equal(doca_rdma_task_send_get_rdma_connection(task), f->ab);
	OK(doca_task_submit(doca_rdma_task_send_as_task(task)));
	WAIT(f->a.num_good == 1000 && f->b.num_received == 1000);
	rig_put(src);
}

/* ---- what fails ---- */

static void wrong_buffers_are_refused(void **state)
{
	struct fixture *f = *state;
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
	struct fixture *f = *state;

	OK(doca_rdma_set_rnr_retry_count(f->a.rdma, 2));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	OK(rig_send(&f->a, f->ab, NULL, 0));
	OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_failed, 2);
	assert_int_equal(f->a.statuses[0], DOCA_ERROR_IO_FAILED);
	assert_int_equal(f->a.statuses[1], DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->a.order[1], 1);
}

static void the_instance_must_permit_it(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *there = rig_remote_room(&f->a, 0, 64),
			*from = rig_remote_source(&f->a, 0, 8);
	struct doca_buf *here = rig_room(&f->a, 100, 8);

	OK(doca_rdma_set_permissions(f->b.rdma, DOCA_ACCESS_FLAG_RDMA_READ));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	connect_both(f);
	OK(rig_read(&f->a, f->ab, from, here, 0));
	OK(rig_write(&f->a, f->ab, src, there, 1));
	OK(rig_read(&f->a, f->ab, NULL, NULL, 2));
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
	struct fixture *f = *state;
	struct doca_buf *result = rig_room(&f->a, 64, 8), *there;
	const void *descriptor;
	size_t len;

	struct doca_mmap *readable;

	OK(doca_mmap_destroy(f->a.remote));
	OK(doca_mmap_create(&readable));
	OK(doca_mmap_set_memrange(readable, f->b.memory, SIZE));
	OK(doca_mmap_set_permissions(readable, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ));
	OK(doca_mmap_add_dev(readable, f->b.dev));
	OK(doca_mmap_start(readable));
	OK(doca_mmap_export_rdma(readable, f->b.dev, &descriptor, &len));
	rdma_rig_import(&f->a, descriptor, len);
	there = rig_remote_source(&f->a, 64, 8);
	OK(rig_add(&f->a, f->ab, there, result, 1, 0));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_NOT_PERMITTED);
	rig_put(result);
	rig_put(there);
	OK(doca_mmap_destroy(readable));
}

static void stop_flushes_what_is_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *dst = rig_room(&f->a, 0, 10);

	OK(rig_receive(&f->a, dst, 0));
	OK(rig_send(&f->a, f->ab, NULL, 1));
	OK(rig_write(&f->a, f->ab, NULL, NULL, 2));
	assert_int_equal(doca_ctx_stop(f->a.ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.num_failed, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(f->a.statuses[i], DOCA_ERROR_BAD_STATE);
	rdma_rig_start(&f->a);
	rig_put(dst);
}

static void a_peer_that_stops_is_told_by_the_next_task(void **state)
{
	struct fixture *f = *state;

	OK(rig_receive(&f->b, NULL, 0));
	OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.num_good == 1);
	rdma_rig_stop(&f->b);
	OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_CONNECTION_ABORTED);
}

static void a_stale_export(void **state)
{
	struct fixture *f = *state;
	uint8_t copy[256];

	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	export_both(f);
	memcpy(copy, f->b_details, f->b_size);
	rdma_rig_stop(&f->b);
	assert_int_equal(doca_rdma_connect(f->a.rdma, copy, f->b_size, f->ab) == DOCA_SUCCESS, true);
	OK(rig_send(&f->a, f->ab, NULL, 1));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_CONNECTION_ABORTED);
}

static void a_peer_that_ends_its_memory_map(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = rig_source(&f->a, 0, 10), *there = rig_remote_room(&f->a, 0, 64);

	OK(doca_mmap_destroy(f->b.mmap)); /* an exported one cannot be stopped */
	f->b.mmap = NULL;
	OK(rig_write(&f->a, f->ab, src, there, 0));
	WAIT(f->a.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(f->a.status, DOCA_ERROR_CONNECTION_ABORTED);
	rig_put(src);
	rig_put(there);
}

static void other_connections_go_on(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *out[2], *in[2];
	const void *a_details, *b_details;
	size_t a_size, b_size;
	struct doca_buf *src = rig_source(&f->a, 0, 10);

	OK(doca_rdma_set_max_num_connections(f->a.rdma, 2));
	OK(doca_rdma_set_max_num_connections(f->b.rdma, 2));
	rdma_rig_start(&f->a);
	rdma_rig_start(&f->b);
	for (int i = 0; i < 2; i++) {
		OK(doca_rdma_export(f->a.rdma, &a_details, &a_size, &out[i]));
		OK(doca_rdma_export(f->b.rdma, &b_details, &b_size, &in[i]));
		OK(doca_rdma_connect(f->a.rdma, b_details, b_size, out[i]));
		OK(doca_rdma_connect(f->b.rdma, a_details, a_size, in[i]));
	}
	OK(rig_receive(&f->b, NULL, 0));
	OK(rig_send(&f->a, out[0], src, 0)); /* too long for the receive */
	WAIT(f->a.num_failed == 1);
	assert_int_equal(f->a.status, DOCA_ERROR_IO_FAILED);
	OK(rig_send(&f->a, out[1], NULL, 1));
	WAIT(f->b.num_received == 1 && f->a.num_good == 1);
	assert_int_equal(f->a.state, DOCA_CTX_STATE_RUNNING);
	rig_put(src);
}

/* ---- order ---- */

#define ROUNDS 3000
#define SLOTS 64
#define SLOT 2048

/* Random verbs and sizes on a few slots of the peer's memory, against a model that does them in the order of submission. */
static void random_verbs_against_a_model(void **state)
{
	struct fixture *f = *state;
	static uint8_t model[SLOTS * SLOT];
	unsigned int seed = 4711;

	memcpy(model, f->b.memory, sizeof(model));
	for (int round = 0; round < ROUNDS; round++) {
		struct doca_buf *put[64], *here[16];
		size_t reads[16], lens[16];
		static uint8_t expected[16][SLOT];
		uint32_t num_put = 0, num_reads = 0, depth = 1 + (uint32_t)rand_r(&seed) % 16, before = f->a.num_ended;

		for (uint32_t i = 0; i < depth; i++) {
			size_t at = (size_t)rand_r(&seed) % 4 * SLOT, len = (size_t)rand_r(&seed) % SLOT;
			size_t from = (size_t)rand_r(&seed) % (SIZE / 2 - SLOT);
			struct doca_buf *src, *dst;

			switch (rand_r(&seed) % 5) {
			case 0:
			case 1:
				put[num_put++] = src = rig_source(&f->a, from, len);
				put[num_put++] = dst = rig_remote_room(&f->a, at, SLOT);
				OK(rig_write(&f->a, f->ab, src, dst, before + i));
				memcpy(model + at, f->a.memory + from, len);
				break;
			case 2:
				put[num_put++] = src = rig_remote_source(&f->a, at, len);
				reads[num_reads] = SIZE / 2 + num_reads * SLOT;
				lens[num_reads] = len;
				memcpy(expected[num_reads], model + at, len);
				put[num_put++] = here[num_reads] = rig_room(&f->a, reads[num_reads], SLOT);
				OK(rig_read(&f->a, f->ab, src, here[num_reads], before + i));
				num_reads++;
				break;
			case 3: {
				uint64_t word;

				memcpy(&word, model + at, 8);
				reads[num_reads] = SIZE / 2 + num_reads * SLOT;
				lens[num_reads] = 8;
				memcpy(expected[num_reads], &word, 8);
				word += from;
				memcpy(model + at, &word, 8);
				put[num_put++] = dst = rig_remote_source(&f->a, at, 8);
				put[num_put++] = here[num_reads] = rig_room(&f->a, reads[num_reads], 8);
				OK(rig_add(&f->a, f->ab, dst, here[num_reads], from, before + i));
				num_reads++;
				break;
			}
			default: /* waits for the receive, and all behind it does */
				OK(rig_send_imm(&f->a, f->ab, NULL, (doca_be32_t)i, before + i));
				if (f->b.num_ended % 2 == 0)
					(void)doca_pe_progress(f->a.pe);
				OK(rig_receive(&f->b, NULL, 0));
			}
		}
		WAIT(f->a.num_ended == before + depth);
		assert_int_equal(f->a.num_failed, 0);
		for (uint32_t i = before; i < f->a.num_ended; i++)
			assert_int_equal(f->a.order[i % RIG_LOG], i);
		for (uint32_t i = 0; i < num_reads; i++)
			assert_memory_equal(f->a.memory + reads[i], expected[i], lens[i]);
		for (uint32_t i = 0; i < num_put; i++)
			rig_put(put[i]);
		assert_memory_equal(f->b.memory, model, 4 * SLOT);
	}
	WAIT(f->b.num_received == f->b.num_ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(null_arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(properties_are_checked, prepare, teardown),
		cmocka_unit_test_setup_teardown(gids_are_the_devices, prepare, teardown),
		cmocka_unit_test_setup_teardown(states_of_a_connection, prepare, teardown),
		cmocka_unit_test_setup_teardown(altered_details_are_refused, prepare, teardown),
		cmocka_unit_test_setup_teardown(one_side_connects_long_before, prepare, teardown),
		cmocka_unit_test_setup_teardown(several_connections, prepare, teardown),
		cmocka_unit_test_setup_teardown(send_and_receive, setup, teardown),
		cmocka_unit_test_setup_teardown(immediates_pass_unchanged, setup, teardown),
		cmocka_unit_test_setup_teardown(read_and_write, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_are_gathered_and_scattered, setup, teardown),
		cmocka_unit_test_setup_teardown(operations_of_nothing_keep_their_place, setup, teardown),
		cmocka_unit_test_setup_teardown(atomics, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks_are_submitted_again_from_their_callbacks, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_buffers_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(no_receive_in_all_retries, prepare, teardown),
		cmocka_unit_test_setup_teardown(the_instance_must_permit_it, prepare, teardown),
		cmocka_unit_test_setup_teardown(the_memory_map_must_permit_it, setup, teardown),
		cmocka_unit_test_setup_teardown(stop_flushes_what_is_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_stops_is_told_by_the_next_task, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stale_export, prepare, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_ends_its_memory_map, setup, teardown),
		cmocka_unit_test_setup_teardown(other_connections_go_on, prepare, teardown),
		cmocka_unit_test_setup_teardown(random_verbs_against_a_model, setup, teardown),
	};

	return cmocka_run_group_tests_name("rdma", tests, NULL, NULL);
}
