/* SPDX-License-Identifier: BSD-3-Clause */
/* No device has a DPA: results of the DPA API, and of an RDMA instance that requests one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doca_comch_msgq.h>
#include <doca_ctx.h>
#include <doca_dpa.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "support/test_dev.h"

#define assert_ok(call) assert_int_equal((call), DOCA_SUCCESS)
#define assert_invalid(call) assert_int_equal((call), DOCA_ERROR_INVALID_VALUE)
#define assert_refused(call) assert_int_equal((call), DOCA_ERROR_NOT_SUPPORTED)

/* No program can have created such an object; the functions must not read it. */
static char made_up[8];
static struct doca_dpa *const dpa = (struct doca_dpa *)made_up;
static struct doca_dpa_completion *const completion = (struct doca_dpa_completion *)made_up;
static struct doca_dpa_app *const app = (struct doca_dpa_app *)made_up;
static struct doca_dpa_thread *const thread = (struct doca_dpa_thread *)made_up;

static void no_device_has_one(void **state)
{
	struct doca_dev *dev = test_dev_open(0);
	struct doca_dpa *created = NULL;

	(void)state;
	assert_non_null(dev);
	assert_refused(doca_dpa_cap_is_supported(doca_dev_as_devinfo(dev)));
	assert_invalid(doca_dpa_cap_is_supported(NULL));
	assert_refused(doca_dpa_create(dev, &created));
	assert_null(created);
	assert_invalid(doca_dpa_create(NULL, &created));
	assert_invalid(doca_dpa_create(dev, NULL));
	assert_ok(doca_dev_close(dev));
}

static void no_device_has_a_message_queue(void **state)
{
	struct doca_comch_msgq *const msgq = (struct doca_comch_msgq *)made_up;
	struct doca_dev *dev = test_dev_open(0);
	struct doca_comch_msgq *created = NULL;
	struct doca_comch_consumer *consumer = NULL;
	struct doca_comch_producer *producer = NULL;

	(void)state;
	assert_refused(doca_comch_msgq_create(dev, &created));
	assert_null(created);
	assert_invalid(doca_comch_msgq_create(NULL, &created));
	assert_invalid(doca_comch_msgq_create(dev, NULL));
	assert_refused(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	assert_invalid(doca_comch_msgq_set_dpa_consumer(msgq, NULL));
	assert_refused(doca_comch_msgq_set_dpa_producer(msgq, dpa));
	assert_invalid(doca_comch_msgq_set_dpa_producer(NULL, dpa));
	assert_refused(doca_comch_msgq_set_max_num_consumers(msgq, 1));
	assert_invalid(doca_comch_msgq_set_max_num_consumers(NULL, 1));
	assert_refused(doca_comch_msgq_set_max_num_producers(msgq, 1));
	assert_invalid(doca_comch_msgq_set_max_num_producers(NULL, 1));
	assert_refused(doca_comch_msgq_start(msgq));
	assert_invalid(doca_comch_msgq_start(NULL));
	assert_refused(doca_comch_msgq_stop(msgq));
	assert_invalid(doca_comch_msgq_stop(NULL));
	assert_refused(doca_comch_msgq_consumer_create(msgq, &consumer));
	assert_invalid(doca_comch_msgq_consumer_create(msgq, NULL));
	assert_refused(doca_comch_msgq_producer_create(msgq, &producer));
	assert_invalid(doca_comch_msgq_producer_create(NULL, &producer));
	assert_true(consumer == NULL && producer == NULL);
	assert_refused(doca_comch_msgq_destroy(msgq));
	assert_invalid(doca_comch_msgq_destroy(NULL));
	assert_ok(doca_dev_close(dev));
}

static void a_dpa_is_rejected(void **state)
{
	struct doca_dpa_completion *made = NULL;
	struct doca_dpa_app *of = NULL;
	doca_dpa_dev_log_level_t level = DOCA_DPA_DEV_LOG_LEVEL_ERROR;
	doca_dpa_dev_t handle = 5;
	unsigned long long seconds = 5;
	unsigned int number = 5;

	(void)state;
	assert_refused(doca_dpa_destroy(dpa));
	assert_refused(doca_dpa_set_app(dpa, app));
	assert_refused(doca_dpa_get_app(dpa, &of));
	assert_refused(doca_dpa_set_log_level(dpa, DOCA_DPA_DEV_LOG_LEVEL_INFO));
	assert_refused(doca_dpa_get_log_level(dpa, &level));
	assert_refused(doca_dpa_start(dpa));
	assert_refused(doca_dpa_stop(dpa));
	assert_refused(doca_dpa_get_kernel_max_run_time(dpa, &seconds));
	assert_refused(doca_dpa_get_dpa_handle(dpa, &handle));
	assert_refused(doca_dpa_peek_at_last_error(dpa));
	assert_refused(doca_dpa_get_core_num(dpa, &number));
	assert_refused(doca_dpa_get_total_num_eus_available(dpa, &number));
	assert_refused(doca_dpa_completion_create(dpa, 1, &made));
	assert_null(made);
	assert_null(of);
	assert_int_equal(level, DOCA_DPA_DEV_LOG_LEVEL_ERROR);
	assert_true(handle == 5 && seconds == 5 && number == 5);
}

static void a_completion_is_rejected(void **state)
{
	doca_dpa_dev_completion_t handle = 5;

	(void)state;
	assert_refused(doca_dpa_completion_destroy(completion));
	assert_refused(doca_dpa_completion_set_thread(completion, thread));
	assert_refused(doca_dpa_completion_start(completion));
	assert_refused(doca_dpa_completion_stop(completion));
	assert_refused(doca_dpa_completion_get_dpa_handle(completion, &handle));
	assert_true(handle == 5);
}

static void null_arguments(void **state)
{
	struct doca_dpa_completion *made;
	doca_dpa_dev_log_level_t level;

	(void)state;
	assert_invalid(doca_dpa_destroy(NULL));
	assert_invalid(doca_dpa_set_app(NULL, app));
	assert_invalid(doca_dpa_set_app(dpa, NULL));
	assert_invalid(doca_dpa_get_app(dpa, NULL));
	assert_invalid(doca_dpa_set_log_level(NULL, DOCA_DPA_DEV_LOG_LEVEL_INFO));
	assert_invalid(doca_dpa_set_log_level(dpa, (doca_dpa_dev_log_level_t)20));
	assert_invalid(doca_dpa_get_log_level(NULL, &level));
	assert_invalid(doca_dpa_get_log_level(dpa, NULL));
	assert_invalid(doca_dpa_start(NULL));
	assert_invalid(doca_dpa_stop(NULL));
	assert_invalid(doca_dpa_get_kernel_max_run_time(dpa, NULL));
	assert_invalid(doca_dpa_get_dpa_handle(dpa, NULL));
	assert_invalid(doca_dpa_peek_at_last_error(NULL));
	assert_invalid(doca_dpa_get_core_num(dpa, NULL));
	assert_invalid(doca_dpa_get_total_num_eus_available(dpa, NULL));
	assert_invalid(doca_dpa_completion_create(NULL, 1, &made));
	assert_invalid(doca_dpa_completion_create(dpa, 0, &made));
	assert_invalid(doca_dpa_completion_create(dpa, 1, NULL));
	assert_invalid(doca_dpa_completion_destroy(NULL));
	assert_invalid(doca_dpa_completion_set_thread(completion, NULL));
	assert_invalid(doca_dpa_completion_start(NULL));
	assert_invalid(doca_dpa_completion_stop(NULL));
	assert_invalid(doca_dpa_completion_get_dpa_handle(completion, NULL));
}

static void an_rdma_instance_has_no_data_path_there(void **state)
{
	struct doca_dev *dev = test_dev_open(0);
	doca_dpa_dev_rdma_t handle = 5;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	(void)state;
	assert_ok(doca_rdma_create(dev, &rdma));
	ctx = doca_rdma_as_ctx(rdma);
	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_pe_connect_ctx(pe, ctx));
	assert_invalid(doca_rdma_get_dpa_handle(NULL, &handle));
	assert_invalid(doca_rdma_get_dpa_handle(rdma, NULL));
	assert_invalid(doca_rdma_dpa_completion_attach(NULL, completion));
	assert_invalid(doca_rdma_dpa_completion_attach(rdma, NULL));
	assert_refused(doca_rdma_dpa_completion_attach(rdma, completion));
	assert_refused(doca_ctx_set_datapath_on_dpa(ctx, dpa));
	assert_int_equal(doca_rdma_get_dpa_handle(rdma, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(ctx)); /* on the CPU, as if no DPA had been requested */
	assert_int_equal(doca_rdma_get_dpa_handle(rdma, &handle), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_dpa_completion_attach(rdma, completion), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_set_datapath_on_dpa(ctx, dpa), DOCA_ERROR_BAD_STATE);
	assert_true(handle == 5);
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_rdma_destroy(rdma));
	assert_ok(doca_pe_destroy(pe));
	assert_ok(doca_dev_close(dev));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_device_has_one), cmocka_unit_test(no_device_has_a_message_queue),
		cmocka_unit_test(a_dpa_is_rejected), cmocka_unit_test(a_completion_is_rejected),
		cmocka_unit_test(null_arguments),    cmocka_unit_test(an_rdma_instance_has_no_data_path_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
