/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out under the API of DOCA 1.5: each allocation fails once. */
#include <stdlib.h>

#include "legacy/fixture.h"

#include <doca_dma.h>

#include "support/starve.h"

#define ALLOCATIONS_MAX 10000

static uint8_t memory[65536] __attribute__((aligned(4096)));
static struct doca_dev *dpu, *host;

/* What a scenario has created; the rest is NULL. */
struct rig {
	struct doca_mmap *mmap, *imported;
	struct doca_buf_inventory *inventory;
	struct doca_workq *workq;
	struct doca_dma *dma;
	void *text;
};

static doca_error_t make_memory(struct rig *rig)
{
	doca_error_t result = doca_mmap_create(NULL, &rig->mmap);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(rig->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_populate(rig->mmap, memory, sizeof(memory), 4096, NULL, NULL);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_dev_add(rig->mmap, host);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(NULL, 4, DOCA_BUF_EXTENSION_LINKED_LIST, &rig->inventory);
	return result;
}

static doca_error_t lend_memory(struct rig *rig)
{
	doca_error_t result = make_memory(rig);
	size_t len;

	if (result == DOCA_SUCCESS)
		result = doca_mmap_export(rig->mmap, host, &rig->text, &len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create_from_export(NULL, rig->text, len, dpu, &rig->imported);
	return result;
}

static doca_error_t make_queue(struct rig *rig)
{
	doca_error_t result = doca_dma_create(&rig->dma);

	if (result == DOCA_SUCCESS)
		result = doca_workq_create(4, &rig->workq);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_dev_add(doca_dma_as_ctx(rig->dma), dpu);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(doca_dma_as_ctx(rig->dma));
	if (result == DOCA_SUCCESS)
		result = doca_ctx_workq_add(doca_dma_as_ctx(rig->dma), rig->workq);
	if (result == DOCA_SUCCESS)
		result = doca_workq_set_depth(rig->workq, 64);
	return result;
}

/* Everything that was created can be destroyed. */
static void unmake(struct rig *rig)
{
	free(rig->text);
	if (rig->imported != NULL)
		assert_ok(doca_mmap_destroy(rig->imported));
	if (rig->inventory != NULL)
		assert_ok(doca_buf_inventory_destroy(rig->inventory));
	if (rig->mmap != NULL)
		assert_ok(doca_mmap_destroy(rig->mmap));
	if (rig->dma != NULL && rig->workq != NULL)
		doca_ctx_workq_rm(doca_dma_as_ctx(rig->dma), rig->workq); /* NOT_FOUND if it was not added */
	if (rig->dma != NULL) {
		assert_ok(doca_ctx_stop(doca_dma_as_ctx(rig->dma)));
		assert_ok(doca_dma_destroy(rig->dma));
	}
	if (rig->workq != NULL)
		assert_ok(doca_workq_destroy(rig->workq));
}

static void starve(doca_error_t (*scenario)(struct rig *rig))
{
	bool failed = true;
	uint64_t n;

	for (n = 1; failed && n < ALLOCATIONS_MAX; n++) {
		struct rig rig = {0};
		doca_error_t result;

		starve_begin(n);
		result = scenario(&rig);
		failed = starve_end();
		/* Some allocations are optional: the call succeeds without them. */
		if (!failed)
			assert_ok(result);
		else if (result != DOCA_SUCCESS && result != DOCA_ERROR_INITIALIZATION && result != DOCA_ERROR_DRIVER)
			assert_int_equal(result, DOCA_ERROR_NO_MEMORY);
		unmake(&rig);
	}
	assert_true(n > 5 && n < ALLOCATIONS_MAX);
}

static void memory_maps_fail(void **state)
{
	(void)state;
	starve(make_memory);
}

static void exports_fail(void **state)
{
	(void)state;
	starve(lend_memory);
}

static void queues_fail(void **state)
{
	(void)state;
	starve(make_queue);
}

static int rig_begin(void **state)
{
	(void)state;
	dpu = open_device("03:00.0");
	host = open_device("d8:00.0");
	return starve_install() > 0 ? 0 : -1;
}

static int rig_end(void **state)
{
	(void)state;
	assert_ok(doca_dev_close(dpu));
	assert_ok(doca_dev_close(host));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_maps_fail),
		cmocka_unit_test(exports_fail),
		cmocka_unit_test(queues_fail),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
