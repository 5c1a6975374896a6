/* SPDX-License-Identifier: BSD-3-Clause */
/* What DOCA 2.5 declares differently, except CC and RDMA: a small program for each object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <time.h>

#include <doca_argp.h>
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>
#include <doca_dpa.h>
#include <doca_log.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "support/test_dev.h"

DOCA_LOG_REGISTER(LEGACY25::OBJECTS);

#define assert_ok(call) assert_int_equal((call), DOCA_SUCCESS)
#define assert_invalid(call) assert_int_equal((call), DOCA_ERROR_INVALID_VALUE)
#define WAIT_S 20
#define WAIT(pe, condition)                                                                                                      \
	do {                                                                                                                     \
		time_t begin_ = time(NULL);                                                                                      \
                                                                                                                                 \
		while (!(condition)) {                                                                                           \
			(void)doca_pe_progress(pe);                                                                              \
			assert_true(time(NULL) - begin_ < WAIT_S);                                                               \
		}                                                                                                                \
	} while (0)

/* ---- numbers, versions, logs, command lines ---- */

static void numbers_and_names_of_errors(void **state)
{
	static const char *const names[] = {
		"DOCA_SUCCESS",
		"DOCA_ERROR_UNKNOWN",
		"DOCA_ERROR_NOT_PERMITTED",
		"DOCA_ERROR_IN_USE",
		"DOCA_ERROR_NOT_SUPPORTED",
		"DOCA_ERROR_AGAIN",
		"DOCA_ERROR_INVALID_VALUE",
		"DOCA_ERROR_NO_MEMORY",
		"DOCA_ERROR_INITIALIZATION",
		"DOCA_ERROR_TIME_OUT",
		"DOCA_ERROR_SHUTDOWN",
		"DOCA_ERROR_CONNECTION_RESET",
		"DOCA_ERROR_CONNECTION_ABORTED",
		"DOCA_ERROR_CONNECTION_INPROGRESS",
		"DOCA_ERROR_NOT_CONNECTED",
		"DOCA_ERROR_NO_LOCK",
		"DOCA_ERROR_NOT_FOUND",
		"DOCA_ERROR_IO_FAILED",
		"DOCA_ERROR_BAD_STATE",
		"DOCA_ERROR_UNSUPPORTED_VERSION",
		"DOCA_ERROR_OPERATING_SYSTEM",
		"DOCA_ERROR_DRIVER",
		"DOCA_ERROR_UNEXPECTED",
		"DOCA_ERROR_ALREADY_EXIST",
		"DOCA_ERROR_FULL",
		"DOCA_ERROR_EMPTY",
		"DOCA_ERROR_IN_PROGRESS",
		"DOCA_ERROR_TOO_BIG",
	};

	(void)state;
	assert_int_equal(DOCA_ERROR_TOO_BIG + 1, sizeof(names) / sizeof(names[0]));
	for (int i = 0; i <= DOCA_ERROR_TOO_BIG; i++)
		assert_string_equal(doca_error_get_name((doca_error_t)i), names[i]);
}

static void the_version_is_2_5(void **state)
{
	(void)state;
	assert_string_equal(doca_version(), "2.5.0108");
	assert_true(DOCA_VERSION_EQ_CURRENT(2, 5, 108));
	assert_true(DOCA_VERSION_LTE_CURRENT(2, 2, 80));
	assert_false(DOCA_VERSION_LTE_CURRENT(2, 6, 0));
	assert_non_null(doca_version_runtime());
}

static char log_text[4096];

static void log_flushed(char *buffer)
{
	strncat(log_text, buffer, sizeof(log_text) - strlen(log_text) - 1);
}

static void records_go_to_a_buffer(void **state)
{
	static char buffer[1024];
	struct doca_log_backend *backend;

	(void)state;
	assert_ok(doca_log_backend_create_with_buffer(buffer, sizeof(buffer), log_flushed, &backend));
	DOCA_LOG(WARNING, "a level is a word: %d", 5);
	DOCA_LOG_ERR("so it was");
	assert_non_null(strstr(log_text, "a level is a word: 5"));
	assert_non_null(strstr(log_text, "[WRN]"));
	assert_non_null(strstr(log_text, "so it was"));
	assert_ok(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DISABLE));
}

static doca_error_t number_given(void *param, void *config)
{
	*(int *)config = *(int *)param;
	return DOCA_SUCCESS;
}

static void a_command_line(void **state)
{
	char *argv[] = {"program", "-n", "25", "-g", "10.0.0.1:80", NULL};
	struct doca_argp_param *param;
	const char *address;
	int number = 0;

	(void)state;
	assert_ok(doca_argp_init("program", &number));
	assert_ok(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, "n");
	doca_argp_param_set_long_name(param, "number");
	doca_argp_param_set_description(param, "A number");
	doca_argp_param_set_callback(param, number_given);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_INT);
	assert_ok(doca_argp_register_param(param));
	doca_argp_set_grpc_program();
	assert_ok(doca_argp_start(5, argv));
	assert_int_equal(number, 25);
	assert_ok(doca_argp_get_grpc_addr(&address));
	assert_string_equal(address, "10.0.0.1:80");
	assert_ok(doca_argp_destroy());
}

/* ---- memory and tasks ---- */

#define SIZE 8192

struct memory {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t bytes[SIZE];
	uint32_t num_good, num_failed;
};

static int setup(void **state)
{
	struct memory *m = calloc(1, sizeof(*m));

	m->dev = test_dev_open(0);
	assert_non_null(m->dev);
	assert_ok(doca_pe_create(&m->pe));
	assert_ok(doca_mmap_create(&m->mmap));
	assert_ok(doca_mmap_set_memrange(m->mmap, m->bytes, SIZE));
	assert_ok(doca_mmap_set_permissions(m->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	assert_ok(doca_mmap_add_dev(m->mmap, m->dev));
	assert_ok(doca_mmap_start(m->mmap));
	assert_ok(doca_buf_inventory_create(4, &m->inventory));
	assert_ok(doca_buf_inventory_start(m->inventory));
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct memory *m = *state;

	assert_ok(doca_buf_inventory_destroy(m->inventory));
	assert_ok(doca_mmap_destroy(m->mmap));
	assert_ok(doca_pe_destroy(m->pe));
	assert_ok(doca_dev_close(m->dev));
	free(m);
	return 0;
}

static void begin(struct memory *m, struct doca_ctx *ctx)
{
	union doca_data data = {.ptr = m};

	assert_ok(doca_pe_connect_ctx(m->pe, ctx));
	assert_ok(doca_ctx_set_user_data(ctx, data));
	assert_ok(doca_ctx_start(ctx));
}

static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	((struct memory *)ctx_user_data.ptr)->num_good++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void not_copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	((struct memory *)ctx_user_data.ptr)->num_failed++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void a_copy(void **state)
{
	struct memory *m = *state;
	union doca_data data = {.u64 = 0};
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct doca_dma *dma;

	assert_ok(doca_dma_create(m->dev, &dma));
	assert_ok(doca_dma_task_memcpy_set_conf(dma, copied, not_copied, 4));
	begin(m, doca_dma_as_ctx(dma));
	memcpy(m->bytes, "copied", 6);
	assert_ok(doca_buf_inventory_buf_get_by_data(m->inventory, m->mmap, m->bytes, 6, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(m->inventory, m->mmap, m->bytes + 4096, 100, &dst));
	assert_ok(doca_dma_task_memcpy_alloc_init(dma, src, dst, data, &task));
	assert_ok(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	WAIT(m->pe, m->num_good == 1);
	assert_memory_equal(m->bytes + 4096, "copied", 6);
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(dma)));
	assert_ok(doca_dma_destroy(dma));
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
}

static void digested(struct doca_sha_task_partial_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	((struct memory *)ctx_user_data.ptr)->num_good++;
}

static void not_digested(struct doca_sha_task_partial_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	((struct memory *)ctx_user_data.ptr)->num_failed++;
}

static void a_digest_in_two_pieces(void **state)
{
	static const uint8_t expected[] = {0x63, 0x53, 0x61, 0xc4}; /* first bytes of the digest of 65 letters a */
	struct memory *m = *state;
	union doca_data data = {.u64 = 0};
	struct doca_sha_task_partial_hash *task;
	struct doca_buf *first, *last, *dst;
	struct doca_sha *sha;
	uint64_t largest;
	uint32_t smallest;
	size_t len;

	assert_ok(doca_sha_cap_get_max_src_buffer_size(doca_dev_as_devinfo(m->dev), &largest));
	assert_true(largest >= SIZE);
	assert_ok(doca_sha_cap_get_min_dst_buffer_size(doca_dev_as_devinfo(m->dev), DOCA_SHA_ALGORITHM_SHA256, &smallest));
	assert_int_equal(smallest, 32);
	assert_ok(doca_sha_create(m->dev, &sha));
	assert_ok(doca_sha_task_partial_hash_set_conf(sha, digested, not_digested, 1));
	begin(m, doca_sha_as_ctx(sha));
	memset(m->bytes, 'a', 65);
	assert_ok(doca_buf_inventory_buf_get_by_data(m->inventory, m->mmap, m->bytes, 64, &first));
	assert_ok(doca_buf_inventory_buf_get_by_data(m->inventory, m->mmap, m->bytes + 64, 1, &last));
	assert_ok(doca_buf_inventory_buf_get_by_addr(m->inventory, m->mmap, m->bytes + 4096, 32, &dst));
	assert_ok(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, first, dst, data, &task));
	assert_ok(doca_task_submit(doca_sha_task_partial_hash_as_task(task)));
	WAIT(m->pe, m->num_good == 1);
	assert_ok(doca_sha_task_partial_hash_set_src(task, last));
	assert_ok(doca_sha_task_partial_hash_set_is_final_buffer(task));
	assert_ok(doca_task_submit(doca_sha_task_partial_hash_as_task(task)));
	WAIT(m->pe, m->num_good == 2);
	assert_ok(doca_buf_get_data_len(dst, &len));
	assert_int_equal(len, 32);
	assert_memory_equal(m->bytes + 4096, expected, sizeof(expected));
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	assert_ok(doca_ctx_stop(doca_sha_as_ctx(sha)));
	assert_ok(doca_sha_destroy(sha));
	assert_ok(doca_buf_dec_refcount(first, NULL));
	assert_ok(doca_buf_dec_refcount(last, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
}

/* ---- sync events ---- */

static void waited(struct doca_sync_event_task_wait_gt *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	((struct memory *)ctx_user_data.ptr)->num_good++;
}

static void not_waited(struct doca_sync_event_task_wait_gt *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	assert_int_equal(doca_task_get_status(doca_sync_event_task_wait_gt_as_doca_task(task)), DOCA_ERROR_BAD_STATE);
	((struct memory *)ctx_user_data.ptr)->num_failed++;
	doca_task_free(doca_sync_event_task_wait_gt_as_doca_task(task));
}

static void set(struct doca_sync_event_task_notify_set *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	(void)task;
}

static void set_to(struct memory *m, struct doca_sync_event_task_notify_set *task, uint64_t value)
{
	doca_sync_event_task_notify_set_set_set_val(task, value);
	assert_ok(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(task)));
	for (int i = 0; i < 10; i++)
		(void)doca_pe_progress(m->pe);
}

static void a_wait_for_more(void **state)
{
	struct memory *m = *state;
	union doca_data data = {.u64 = 0};
	struct doca_sync_event_task_wait_gt *wait, *second;
	struct doca_sync_event_task_notify_set *notify;
	struct doca_sync_event *event;
	struct doca_task *task;

	assert_ok(doca_sync_event_cap_task_wait_gt_is_supported(doca_dev_as_devinfo(m->dev)));
	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_cpu(event, m->dev));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, m->dev));
	assert_ok(doca_sync_event_task_wait_gt_set_conf(event, waited, not_waited, 2));
	assert_ok(doca_sync_event_task_notify_set_set_conf(event, set, set, 1));
	begin(m, doca_sync_event_as_ctx(event));
	assert_ok(doca_sync_event_task_notify_set_alloc_init(event, 0, data, &notify));
	assert_ok(doca_sync_event_task_wait_gt_alloc_init(event, 5, UINT64_MAX, data, &wait));
	assert_int_equal(doca_sync_event_task_wait_gt_get_wait_val(wait), 5);
	assert_true(doca_sync_event_task_wait_gt_get_mask(wait) == UINT64_MAX);
	task = doca_sync_event_task_wait_gt_as_doca_task(wait);
	assert_ok(doca_task_submit(task));
	set_to(m, notify, 5);
	assert_int_equal(m->num_good, 0); /* not greater */
	set_to(m, notify, 300);
	WAIT(m->pe, m->num_good == 1);
	/* the lowest byte of 300 is 44 */
	doca_sync_event_task_wait_gt_set_wait_val(wait, 50);
	doca_sync_event_task_wait_gt_set_mask(wait, 0xff);
	assert_ok(doca_task_submit(task));
	set_to(m, notify, 300);
	assert_int_equal(m->num_good, 1);
	set_to(m, notify, 51);
	WAIT(m->pe, m->num_good == 2);
	doca_sync_event_task_wait_gt_set_mask(wait, 0x0f); /* not whole bytes */
	assert_invalid(doca_task_submit(task));
	doca_task_free(task);
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(notify));
	assert_ok(doca_sync_event_task_wait_gt_alloc_init(event, 1000, UINT64_MAX, data, &second));
	assert_ok(doca_task_submit(doca_sync_event_task_wait_gt_as_doca_task(second)));
	(void)doca_ctx_stop(doca_sync_event_as_ctx(event)); /* which flushes it */
	WAIT(m->pe, m->num_failed == 1);
	assert_ok(doca_sync_event_destroy(event));
	assert_invalid(doca_sync_event_task_wait_gt_set_conf(NULL, waited, not_waited, 1));
	assert_invalid(doca_sync_event_task_wait_gt_alloc_init(NULL, 0, 0, data, &wait));
	assert_null(doca_sync_event_task_wait_gt_as_doca_task(NULL));
}

static void an_event_for_the_dpu(void **state)
{
	struct memory *m = *state;
	struct doca_sync_event *event;
	const uint8_t *bytes;
	size_t size;

	assert_ok(doca_sync_event_cap_is_export_to_dpu_supported(doca_dev_as_devinfo(m->dev)));
	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_dpu(event));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, m->dev));
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_export_to_dpu(event, m->dev, &bytes, &size));
	assert_true(size > 0);
	assert_ok(doca_sync_event_stop(event));
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- what no device here has ---- */

static void what_is_not_supported(void **state)
{
	struct memory *m = *state;
	struct doca_dpa_app *app = (struct doca_dpa_app *)m; /* never read */
	struct doca_dpa *dpa = (struct doca_dpa *)m;
	struct doca_dpa_dev_buf_arr *handle;
	struct doca_buf_arr *array;
	doca_dpa_dev_uintptr_t address = 0;
	union doca_data key = {.u64 = 0};

	assert_int_equal(doca_devinfo_get_is_dpa_supported(doca_dev_as_devinfo(m->dev)), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_dpa_create(m->dev, app, &dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_dpa_create(m->dev, NULL, &dpa));
	assert_invalid(doca_dpa_create(NULL, app, &dpa));
	assert_int_equal(doca_dpa_mem_alloc(dpa, 64, &address), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_dpa_mem_alloc(NULL, 64, &address));
	assert_invalid(doca_dpa_kernel_launch_update_set(NULL, NULL, 0, NULL, 0, 1, NULL));
	assert_true(address == 0);
	assert_ok(doca_buf_arr_create(m->mmap, &array));
	assert_ok(doca_buf_arr_set_params(array, 64, 16, 0));
	assert_int_equal(doca_buf_arr_set_target_dpa(array, dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_buf_arr_set_target_dpa(array, NULL));
	assert_int_equal(doca_buf_arr_get_dpa_handle(array, &handle), DOCA_ERROR_BAD_STATE);
	assert_invalid(doca_buf_arr_get_dpa_handle(array, NULL));
	assert_ok(doca_buf_arr_destroy(array));
	assert_int_equal(doca_pe_set_notification_handle(m->pe, 0, key), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_pe_set_notification_handle(NULL, 0, key));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_names_of_errors),
		cmocka_unit_test(the_version_is_2_5),
		cmocka_unit_test(records_go_to_a_buffer),
		cmocka_unit_test(a_command_line),
		TEST(a_copy),
		TEST(a_digest_in_two_pieces),
		TEST(a_wait_for_more),
		TEST(an_event_for_the_dpu),
		TEST(what_is_not_supported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
