/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: arguments, properties and capabilities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rdma_fixture.h"

static void null_arguments(void **state)
{
	struct rdma_fixture *f = *state;
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
	struct rdma_fixture *f = *state;
	struct doca_rdma *rdma = f->a.rdma;
	enum doca_rdma_transport_type transport;
	enum doca_mtu_size mtu;
	uint32_t number, gids;
	uint16_t connections;
	uint8_t small;

	CHECK_OK(doca_rdma_get_rnr_retry_count(rdma, &small));
	assert_int_equal(small, 7);
	CHECK_OK(doca_rdma_set_send_queue_size(rdma, 100));
	CHECK_OK(doca_rdma_get_send_queue_size(rdma, &number));
	assert_int_equal(number, 128);
	assert_int_equal(doca_rdma_set_send_queue_size(rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	CHECK_OK(doca_rdma_get_permissions(rdma, &number));
	assert_int_equal(number, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_int_equal(doca_rdma_set_transport_type(rdma, (enum doca_rdma_transport_type)2), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	CHECK_OK(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_TYPE_RC));
	CHECK_OK(doca_rdma_get_transport_type(rdma, &transport));
	assert_int_equal(transport, DOCA_RDMA_TRANSPORT_TYPE_RC);
	CHECK_OK(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_4K_BYTES));
	CHECK_OK(doca_rdma_get_mtu(rdma, &mtu));
	assert_int_equal(mtu, DOCA_MTU_SIZE_4K_BYTES);
	assert_int_equal(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_grh_enabled(rdma, 0), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_rdma_set_grh_enabled(rdma, 1));
	CHECK_OK(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(f->a.dev), &gids));
	CHECK_OK(doca_rdma_set_gid_index(rdma, gids - 1));
	assert_int_equal(doca_rdma_set_gid_index(rdma, gids), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_sl(rdma, 16), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_rnr_retry_count(rdma, 8), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_max_num_connections(rdma, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_get_max_num_connections(rdma, &connections));
	assert_int_equal(connections, 1);
	assert_int_equal(doca_rdma_task_receive_set_dst_buf_list_len(rdma, 7), DOCA_ERROR_INVALID_VALUE);
	rdma_rig_start(&f->a);
	assert_int_equal(doca_rdma_set_sl(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_task_send_set_conf(rdma, rdma_rig_send_good, rdma_rig_send_failed, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_destroy(rdma), DOCA_ERROR_BAD_STATE);
}

static void gids_are_the_devices(void **state)
{
	struct rdma_fixture *f = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(f->a.dev);
	struct doca_rdma_gid gids[4];
	uint8_t mac[6];
	uint32_t num;

	CHECK_OK(doca_rdma_cap_get_gid_table_size(devinfo, &num));
	assert_true(num >= 2 && num <= 4);
	CHECK_OK(doca_rdma_cap_get_gid(devinfo, 0, num, gids));
	CHECK_OK(doca_devinfo_get_mac_addr(devinfo, mac, sizeof(mac)));
	assert_int_equal(gids[0].raw[0], 0xfe);
	assert_int_equal(gids[0].raw[15], mac[5]);
	assert_int_equal(doca_rdma_cap_get_gid(devinfo, 1, num, gids), DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(null_arguments, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(properties_are_checked, rdma_prepare, rdma_teardown),
		cmocka_unit_test_setup_teardown(gids_are_the_devices, rdma_prepare, rdma_teardown),
	};

	return cmocka_run_group_tests_name("rdma properties", tests, NULL, NULL);
}
