/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake of the program logs one line: what is wrong and what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "support/test_dev.h"

static struct doca_log_backend *backend;
static struct doca_dev *dev;
static char text[1024];
static char last[1024];
static int num_lines;

static void written(char *line)
{
	strncpy(last, line, sizeof(last) - 1);
	num_lines++;
}

static void quiet(void)
{
	num_lines = 0;
	last[0] = '\0';
}

/* Exactly one line was logged, and it contains both texts. */
static void assert_line(const char *what, const char *advice)
{
	assert_int_equal(num_lines, 1);
	if (strstr(last, what) == NULL || strstr(last, advice) == NULL)
		fail_msg("\"%s\" and \"%s\" expected in: %s", what, advice, last);
	quiet();
}

static int open_side(void **state)
{
	(void)state;
	assert_int_equal(doca_log_backend_create_with_buf_sdk(text, sizeof(text), written, &backend), DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
	dev = test_dev_open_pci("03:00.0");
	quiet();
	return 0;
}

static int close_side(void **state)
{
	(void)state;
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	return 0;
}

static void truncated_descriptor_of_a_mmap(void **state)
{
	uint8_t bytes[20] = {0};
	struct doca_mmap *mmap;

	(void)state;
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, sizeof(bytes), dev, &mmap), DOCA_ERROR_INVALID_VALUE);
	assert_line("20 bytes is too short", "pass on what the export call gave");
}

static void truncated_descriptor_of_a_sync_event(void **state)
{
	uint8_t bytes[20] = {0};
	struct doca_sync_event *event;

	(void)state;
	assert_int_equal(doca_sync_event_create_from_export(dev, bytes, sizeof(bytes), &event), DOCA_ERROR_INVALID_VALUE);
	assert_line("20 bytes is too short", "the bytes of doca_sync_event_export_to_remote_pci");
}

static void sync_event_without_locations(void **state)
{
	struct doca_sync_event *event;

	(void)state;
	assert_int_equal(doca_sync_event_create(&event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(event), DOCA_ERROR_INVALID_VALUE);
	assert_line("no publisher location", "doca_sync_event_add_publisher_location");
	assert_int_equal(doca_sync_event_add_publisher_location_cpu(event, dev), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(event), DOCA_ERROR_INVALID_VALUE);
	assert_line("no subscriber location", "doca_sync_event_add_subscriber_location");
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void sync_event_exported_without_a_remote_location(void **state)
{
	struct doca_sync_event *event;
	const uint8_t *bytes;
	size_t len;

	(void)state;
	assert_int_equal(doca_sync_event_create(&event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_add_publisher_location_cpu(event, dev), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_add_subscriber_location_cpu(event, dev), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_export_to_remote_pci(event, dev, &bytes, &len), DOCA_ERROR_INVALID_VALUE);
	assert_line("no remote PCI location", "add one as publisher or subscriber");
	assert_int_equal(doca_sync_event_export_to_remote_net(event, &bytes, &len), DOCA_ERROR_INVALID_VALUE);
	assert_line("no remote net location", "add one as publisher or subscriber");
	assert_int_equal(doca_sync_event_stop(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void sha_task_of_no_algorithm_or_without_a_source(void **state)
{
	uint8_t memory[64];
	struct doca_buf *buf = (struct doca_buf *)memory; /* never read */
	struct doca_sha_task_hash *task;
	struct doca_sha *sha;

	(void)state;
	assert_int_equal(doca_sha_create(dev, &sha), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_alloc_init(sha, (enum doca_sha_algorithm)77, buf, buf, (union doca_data){0}, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_line("algorithm 77 is unknown", "use one of enum doca_sha_algorithm");
	assert_int_equal(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA1, NULL, buf, (union doca_data){0}, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_line("sha hash", "src_buf is NULL");
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
}

static void dma_started_without_a_progress_engine(void **state)
{
	struct doca_dma *dma;

	(void)state;
	assert_int_equal(doca_dma_create(dev, &dma), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_NOT_CONNECTED);
	assert_line("no progress engine", "call doca_pe_connect_ctx");
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS);
}

static void never(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
	fail();
}

static void task_submitted_while_its_context_stops(void **state)
{
	struct doca_dma_task_memcpy *task;
	struct doca_dma *dma;
	struct doca_pe *pe;

	(void)state;
	assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);
	assert_int_equal(doca_dma_create(dev, &dma), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_set_conf(dma, never, never, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(dma, NULL, NULL, (union doca_data){0}, &task), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(doca_dma_as_ctx(dma)), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_BAD_STATE);
	assert_line("its dma is not running", "start it");
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	doca_pe_progress(pe); /* STOPPING to IDLE */
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
}

/* Published programs stop an exported memory map before they destroy it: that is no mistake. */
static void shutdown_in_good_order_logs_no_error(void **state)
{
	static uint8_t memory[4096];
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	(void)state;
	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(mmap, dev, &desc, &len), DOCA_SUCCESS);
	quiet();
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(num_lines, 0);
}

/* Published programs close devices before the objects that use them, ignore the result, and then destroy those objects. */
static void devices_closed_before_their_users_log_no_error(void **state)
{
	struct doca_devinfo_rep **list;
	struct doca_comch_server *server;
	struct doca_dev_rep *rep;
	uint32_t num;

	(void)state;
	assert_int_equal(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num), DOCA_SUCCESS);
	assert_true(num > 0);
	assert_int_equal(doca_dev_rep_open(list[0], &rep), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_create(dev, rep, "closed early", &server), DOCA_SUCCESS);
	quiet();
	assert_int_equal(doca_dev_rep_close(rep), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_comch_server_destroy(server), DOCA_SUCCESS);
	assert_int_equal(doca_dev_rep_close(rep), DOCA_SUCCESS);
	assert_int_equal(doca_dev_rep_close(NULL), DOCA_ERROR_INVALID_VALUE); /* as a client does, which opened none */
	assert_int_equal(num_lines, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_descriptor_of_a_mmap),
		cmocka_unit_test(truncated_descriptor_of_a_sync_event),
		cmocka_unit_test(sync_event_without_locations),
		cmocka_unit_test(sync_event_exported_without_a_remote_location),
		cmocka_unit_test(sha_task_of_no_algorithm_or_without_a_source),
		cmocka_unit_test(dma_started_without_a_progress_engine),
		cmocka_unit_test(task_submitted_while_its_context_stops),
		cmocka_unit_test(shutdown_in_good_order_logs_no_error),
		cmocka_unit_test(devices_closed_before_their_users_log_no_error),
	};

	return cmocka_run_group_tests(tests, open_side, close_side);
}
