/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, memory, bufs, logs and flags of the 2.2 API, where names or signatures differ from today's. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"

#include <doca_argp.h>
#include <doca_buf_array.h>
#include <doca_bufpool.h>
#include <doca_log.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(LEGACY::OBJECTS);

static void errors_have_names_and_texts(void **state)
{
	assert_string_equal(doca_get_error_name(DOCA_ERROR_AGAIN), "DOCA_ERROR_AGAIN");
	assert_true(strlen(doca_get_error_string(DOCA_ERROR_IO_FAILED)) > 0);
	assert_non_null(doca_get_error_string((doca_error_t)12345));
	(void)state;
}

static void the_version_is_2_2(void **state)
{
	assert_string_equal(doca_version(), "2.2.0080");
	assert_true(DOCA_VERSION_EQ_CURRENT(2, 2, 80));
	assert_true(DOCA_VERSION_LTE_CURRENT(2, 0, 2));
	assert_false(DOCA_VERSION_LTE_CURRENT(2, 5, 0));
	assert_non_null(doca_version_runtime());
	(void)state;
}

static void devices_and_representors_are_listed(void **state)
{
	struct doca_devinfo **list;
	struct doca_devinfo_rep **reps;
	struct doca_dev *dpu = open_device("03:00.0"), *host = open_device("d8:00.0");
	uint32_t num;
	uint8_t flag;

	assert_ok(doca_devinfo_list_create(&list, &num));
	assert_true(num >= 2);
	assert_ok(doca_devinfo_list_destroy(list));
	assert_int_equal(doca_devinfo_list_create(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_rep_get_is_list_all_supported(doca_dev_as_devinfo(dpu), &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_devinfo_rep_get_is_list_net_supported(doca_dev_as_devinfo(host), &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_devinfo_rep_get_is_list_emulated_supported(doca_dev_as_devinfo(dpu), &flag));
	assert_ok(doca_devinfo_get_is_hotplug_manager_supported(doca_dev_as_devinfo(dpu), &flag));
	assert_ok(doca_devinfo_get_is_mmap_export_dpu_supported(doca_dev_as_devinfo(host), &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_devinfo_get_is_mmap_from_export_dpu_supported(doca_dev_as_devinfo(dpu), &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_devinfo_rep_list_create(dpu, DOCA_DEV_REP_FILTER_ALL, &reps, &num));
	assert_true(num > 0);
	assert_ok(doca_devinfo_rep_get_is_pci_addr_equal(reps[0], "0000:ff:1f.7", &flag));
	assert_int_equal(flag, 0);
	enum doca_pci_func_type type;

	assert_ok(doca_devinfo_rep_get_pci_func_type(reps[0], &type));
	assert_true(type == DOCA_PCI_FUNC_PF || type == DOCA_PCI_FUNC_VF || type == DOCA_PCI_FUNC_SF);
	assert_ok(doca_devinfo_rep_list_destroy(reps));
	assert_ok(doca_dev_close(dpu));
	assert_ok(doca_dev_close(host));
	(void)state;
}

static void memory_maps_have_user_data_and_devices(void **state)
{
	union doca_data user_data = {.u64 = 99}, got;
	struct doca_dev *dev = open_device("03:00.0"), *other = open_device("03:00.1");
	struct doca_mmap *mmap;
	uint8_t flag;
	uint32_t num;
	char memory[64];

	assert_int_equal(doca_mmap_create(&user_data, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_create(&user_data, &mmap));
	assert_ok(doca_mmap_get_user_data(mmap, &got));
	assert_int_equal(got.u64, 99);
	assert_ok(doca_mmap_dev_add(mmap, dev));
	assert_int_equal(doca_mmap_dev_add(mmap, dev), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_mmap_dev_rm(mmap, other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_dev_add(NULL, dev), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	assert_ok(doca_mmap_start(mmap));
	assert_int_equal(doca_mmap_dev_add(mmap, other), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(mmap, dev), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_exported(mmap, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_mmap_get_from_export(mmap, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_mmap_get_num_bufs(mmap, &num));
	assert_int_equal(num, 0);
	assert_ok(doca_mmap_get_max_num_devices(mmap, &num));
	assert_true(num > 0);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_dev_rm(mmap, dev));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(dev));
	assert_ok(doca_dev_close(other));
	(void)state;
}

static void a_host_exports_to_its_dpu(void **state)
{
	struct doca_dev *host = open_device("d8:00.0"), *dpu = open_device("03:00.0");
	char *memory = aligned_alloc(4096, 8192);
	struct doca_mmap *mmap, *imported;
	const void *descriptor;
	size_t size, len;
	void *addr;

	assert_non_null(memory);
	assert_ok(doca_mmap_create(NULL, &mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, 8192));
	assert_ok(doca_mmap_dev_add(mmap, host));
	assert_ok(doca_mmap_start(mmap));
	assert_int_equal(doca_mmap_export_dpu(mmap, host, &descriptor, &size),
			 DOCA_ERROR_NOT_PERMITTED); /* without the flag for the DPU */
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE));
	assert_ok(doca_mmap_start(mmap));
	assert_int_equal(doca_mmap_export_dpu(mmap, dpu, &descriptor, &size),
			 DOCA_ERROR_INVALID_VALUE); /* not the map's device */
	assert_ok(doca_mmap_export_dpu(mmap, host, &descriptor, &size));
	assert_ok(doca_mmap_create_from_export(NULL, descriptor, size, dpu, &imported));
	assert_ok(doca_mmap_get_memrange(imported, &addr, &len));
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, 8192);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(host));
	assert_ok(doca_dev_close(dpu));
	free(memory);
	(void)state;
}

static void a_descriptor_is_mapped(void **state)
{
	struct doca_mmap *mmap;
	int fd = memfd_create("dmabuf", MFD_CLOEXEC);
	struct doca_dev *dev = open_device("03:00.0");
	size_t len;
	void *addr;

	assert_true(fd >= 0 && ftruncate(fd, 8192) == 0);
	assert_int_equal(pwrite(fd, "mapped", 7, 4096), 7);
	assert_ok(doca_mmap_create(NULL, &mmap));
	assert_int_equal(doca_mmap_set_dmabuf_memrange(NULL, fd, 0, 4096), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, 1, 4096), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, -1, 0, 4096), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_dmabuf_memrange(mmap, fd, 4096, 4096));
	close(fd);
	assert_int_equal(doca_mmap_set_memrange(mmap, &len, sizeof(len)), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_dev_add(mmap, dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_string_equal(addr, "mapped");
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(dev));
	(void)state;
}

static void bufs_are_counted_and_chained(void **state)
{
	struct fixture f;
	uint16_t count;
	uint32_t num;
	bool flag;

	fixture_open(&f, 1);
	struct doca_buf *a = room_at(&f, 0, 8), *b = room_at(&f, 8, 8), *got;

	assert_ok(doca_buf_refcount_add(a, &count));
	assert_int_equal(count, 1);
	assert_ok(doca_buf_get_refcount(a, &count));
	assert_int_equal(count, 2);
	assert_ok(doca_buf_refcount_rm(a, &count));
	assert_int_equal(count, 2);
	assert_ok(doca_buf_list_chain(a, b));
	assert_ok(doca_buf_list_num_elements(a, &num));
	assert_int_equal(num, 2);
	assert_ok(doca_buf_list_next(a, &got));
	assert_ptr_equal(got, b);
	assert_ok(doca_buf_list_last(a, &got));
	assert_ptr_equal(got, b);
	assert_ok(doca_buf_list_is_first(a, &flag));
	assert_true(flag);
	assert_ok(doca_buf_list_is_last(a, &flag));
	assert_false(flag);
	assert_int_equal(doca_buf_list_num_elements(b, &num), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_list_unchain(a, b));
	assert_ok(doca_buf_list_is_last(a, &flag));
	assert_true(flag);
	assert_ok(doca_buf_inventory_get_num_elements(f.inventory, &num));
	assert_int_equal(num, FIXTURE_BUFS);
	assert_ok(doca_buf_inventory_get_num_free_elements(f.inventory, &num));
	assert_int_equal(num, FIXTURE_BUFS - 2);
	assert_ok(doca_buf_refcount_rm(a, NULL));
	assert_ok(doca_buf_refcount_rm(b, NULL));
	fixture_close(&f);
	(void)state;
}

static void inventories_have_no_extensions(void **state)
{
	union doca_data user_data = {.u64 = 5}, got;
	struct doca_buf_inventory *inventory;

	assert_int_equal(doca_buf_inventory_create(NULL, 4, 1, &inventory), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_create(NULL, 0, DOCA_BUF_EXTENSION_NONE, &inventory), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_create(NULL, 4, DOCA_BUF_EXTENSION_NONE, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_inventory_create(&user_data, 4, DOCA_BUF_EXTENSION_NONE, &inventory));
	assert_ok(doca_buf_inventory_get_user_data(inventory, &got));
	assert_int_equal(got.u64, 5);
	assert_ok(doca_buf_inventory_destroy(inventory));
	(void)state;
}

static void pools_allocate_until_empty(void **state)
{
	union doca_data user_data = {.u64 = 6}, got;
	struct doca_bufpool *pool;
	struct doca_buf *buf[2], *more;
	struct fixture f;
	uint32_t num;
	void *head;

	fixture_open(&f, 1);
	assert_int_equal(doca_bufpool_create(NULL, 2, 1, 100, 64, f.mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_bufpool_create(NULL, 2, 0, 100, 63, f.mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_bufpool_create(NULL, 2, 0, 100, 64, NULL, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_bufpool_create(&user_data, 2, DOCA_BUF_EXTENSION_NONE, 100, 64, f.mmap, &pool));
	assert_int_equal(doca_bufpool_buf_alloc(pool, &more), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_bufpool_start(pool));
	assert_int_equal(doca_bufpool_start(pool), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_bufpool_get_user_data(pool, &got));
	assert_int_equal(got.u64, 6);
	for (int i = 0; i < 2; i++) {
		assert_ok(doca_bufpool_buf_alloc(pool, &buf[i]));
		assert_ok(doca_buf_get_head(buf[i], &head));
		assert_int_equal((uintptr_t)head % 64, 0);
	}
	assert_int_equal(doca_bufpool_buf_alloc(pool, &more), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_bufpool_get_num_elements(pool, &num));
	assert_int_equal(num, 2);
	assert_ok(doca_bufpool_get_num_free_elements(pool, &num));
	assert_int_equal(num, 0);
	assert_int_equal(doca_bufpool_destroy(pool), DOCA_ERROR_IN_USE);
	assert_ok(doca_buf_refcount_rm(buf[0], NULL));
	assert_ok(doca_buf_refcount_rm(buf[1], NULL));
	assert_ok(doca_bufpool_stop(pool));
	assert_ok(doca_bufpool_destroy(pool));
	fixture_close(&f);
	(void)state;
}

/* Without a GPU: errors that are checked before one is needed. */
static void arrays_report_what_is_missing(void **state)
{
	struct doca_gpu_buf_arr *handle;
	struct doca_buf_arr *array;
	struct fixture f;

	fixture_open(&f, 1);
	assert_int_equal(doca_buf_arr_create(NULL, &array), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_arr_create(f.mmap, &array));
	assert_int_equal(doca_buf_arr_start(array), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_arr_set_params(array, 0, 4, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_arr_set_params(array, 64, 4, 0));
	assert_int_equal(doca_buf_arr_start(array), DOCA_ERROR_BAD_STATE); /* no target */
	assert_int_equal(doca_buf_arr_set_target_gpu(array, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_arr_get_gpu_handle(array, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_arr_stop(array));
	assert_ok(doca_buf_arr_destroy(array));
	assert_int_equal(doca_buf_arr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	fixture_close(&f);
	(void)state;
}

/* ---- logs ---- */

static char log_buffer[4096];
static char log_text[65536];

static void collect(char *buffer)
{
	strncat(log_text, buffer, sizeof(log_text) - strlen(log_text) - 1);
}

static uint32_t count(const char *word)
{
	uint32_t num = 0;

	for (const char *at = log_text; (at = strstr(at, word)) != NULL; at++)
		num++;
	return num;
}

static void records_name_their_source(void **state)
{
	struct doca_logger_backend *backend;
	char long_text[2000];
	int source, bucket;

	assert_ok(doca_log_create_buffer_backend(log_buffer, sizeof(log_buffer), collect, &backend));
	assert_ok(doca_log_backend_level_set(backend, DOCA_LOG_LEVEL_INFO));
	DOCA_LOG_INFO("%d apples", 3);
	assert_non_null(strstr(log_text, "3 apples"));
	assert_non_null(strstr(log_text, "LEGACY::OBJECTS"));
	assert_null(strstr(log_text, "[]")); /* the name of the function, which these macros do not know */
	DOCA_LOG_DBG("hidden");
	assert_null(strstr(log_text, "hidden"));
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	DOCA_LOG_ERR("%s.", long_text);
	assert_non_null(strstr(log_text, "xxx."));
	DOCA_DLOG_INFO("%s", long_text + 1000); /* compiled out */
	assert_ok(doca_log_source_register("MINE", &source));
	assert_ok(doca_log_rate_bucket_register(source, &bucket));
	assert_int_equal(doca_log_rate_bucket_register(source, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_rate_bucket_register(-1, &bucket), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_rate_limit(DOCA_LOG_LEVEL_INFO, source, 1, 4095, "x"), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_log_developer(DOCA_LOG_LEVEL_INFO, source, 7, "%s", "developed"));
	assert_non_null(strstr(log_text, "MINE:7"));
	assert_ok(doca_log_source_destroy(source));
	assert_int_equal(doca_log_source_destroy(source), DOCA_ERROR_INVALID_VALUE);
	(void)state;
}

static void buckets_drop_records_over_their_rate(void **state)
{
	uint16_t quantity = doca_log_get_quantity(), seconds = doca_log_get_bucket_time();

	doca_log_set_quantity(3);
	doca_log_set_bucket_time(3600);
	assert_int_equal(doca_log_get_quantity(), 3);
	assert_int_equal(doca_log_get_bucket_time(), 3600);
	for (int i = 0; i < 10; i++)
		DOCA_LOG_RATE_LIMIT_INFO("dripping");
	assert_int_equal(count("dripping"), 3);
	doca_log_set_bucket_time(0);
	for (int i = 0; i < 10; i++)
		DOCA_LOG_RATE_LIMIT_INFO("flowing");
	assert_int_equal(count("flowing"), 10);
	doca_log_set_quantity(quantity);
	doca_log_set_bucket_time(seconds);
	(void)state;
}

/* ---- flags ---- */

static doca_error_t set_name(void *value, void *config)
{
	snprintf(config, 32, "%s", (const char *)value);
	return DOCA_SUCCESS;
}

static void flags_and_grpc_addresses_are_parsed(void **state)
{
	char *argv[] = {"legacy", "-n", "anna", "--grpc-address", "127.0.0.1:1234"};
	struct doca_argp_param *param;
	callback_func callback = set_name;
	const char *address;
	char name[32] = "";

	assert_ok(doca_argp_init("legacy", name));
	assert_ok(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, "n");
	doca_argp_param_set_long_name(param, "name");
	doca_argp_param_set_description(param, "A name");
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	assert_ok(doca_argp_register_param(param));
	doca_argp_set_grpc_program();
	assert_int_equal(doca_argp_get_grpc_addr(&address), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_argp_start(5, argv));
	assert_string_equal(name, "anna");
	assert_ok(doca_argp_get_grpc_addr(&address));
	assert_string_equal(address, "127.0.0.1:1234");
	assert_int_equal(doca_argp_get_grpc_addr(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_argp_destroy());
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_names_and_texts),	       cmocka_unit_test(the_version_is_2_2),
		cmocka_unit_test(devices_and_representors_are_listed), cmocka_unit_test(memory_maps_have_user_data_and_devices),
		cmocka_unit_test(a_host_exports_to_its_dpu),	       cmocka_unit_test(a_descriptor_is_mapped),
		cmocka_unit_test(bufs_are_counted_and_chained),	       cmocka_unit_test(inventories_have_no_extensions),
		cmocka_unit_test(pools_allocate_until_empty),	       cmocka_unit_test(arrays_report_what_is_missing),
		cmocka_unit_test(records_name_their_source),	       cmocka_unit_test(buckets_drop_records_over_their_rate),
		cmocka_unit_test(flags_and_grpc_addresses_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
