/* SPDX-License-Identifier: BSD-3-Clause */
/* Out of memory in the API of DOCA 2.2; see ../memory_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_bufpool.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#define MEMORY_SIZE 65536
#define RETRIEVES_MAX 100000

static uint8_t memory[MEMORY_SIZE] __attribute__((aligned(4096)));

/* The objects that a scenario has created; the others are NULL. */
struct rig {
	struct doca_dev *dev, *host;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_bufpool *pool;
	struct doca_buf *src, *dst;
	struct doca_gpu *gpu;
	struct doca_buf_arr *array;
	struct doca_workq *workq, *ctx_workq, *graph_workq; /* the queues that the context and the graph were added to */
	struct doca_dma *dma;
	struct doca_sha *sha;
	struct doca_sha_partial_session *session;
	struct doca_sync_event *event, *imported;
	struct doca_ctx *ctx; /* the base of one of these */
	struct doca_graph *graph, *sub_graph;
	struct doca_graph_instance *instance, *sub_instance;
	struct doca_dma_job_memcpy job;
	int log_source; /* its number plus 1 */
	bool in_flight;
};

#include "../starved.h"

/* ---- beginnings of scenarios ---- */

#define assert_ok(call) assert_int_equal((call), DOCA_SUCCESS)

static struct doca_dev *open_dev(const char *pci)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint8_t is_equal;
	uint32_t num;

	assert_ok(doca_devinfo_list_create(&list, &num));
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		assert_ok(doca_devinfo_get_is_pci_addr_equal(list[i], pci, &is_equal));
		if (is_equal)
			assert_ok(doca_dev_open(list[i], &dev));
	}
	assert_ok(doca_devinfo_list_destroy(list));
	assert_non_null(dev);
	return dev;
}

static void begin_with_devs(struct rig *rig)
{
	rig->dev = open_dev("03:00.0");
	rig->host = open_dev("d8:00.0");
}

static void begin_with_workq(struct rig *rig)
{
	begin_with_devs(rig);
	assert_ok(doca_workq_create(16, &rig->workq));
}

static void begin_with_mmap(struct rig *rig)
{
	begin_with_workq(rig);
	assert_ok(doca_mmap_create(NULL, &rig->mmap));
	assert_ok(doca_mmap_dev_add(rig->mmap, rig->dev));
	assert_ok(doca_mmap_set_memrange(rig->mmap, memory, MEMORY_SIZE));
	assert_ok(doca_mmap_set_permissions(rig->mmap, DOCA_ACCESS_LOCAL_READ_WRITE));
	assert_ok(doca_mmap_start(rig->mmap));
}

/* ---- calls that are made to fail ---- */

static doca_error_t make_workq(struct rig *rig)
{
	doca_event_handle_t handle;

	STEP(doca_workq_create(64, &rig->workq));
	STEP(doca_workq_set_event_driven_enable(rig->workq, 1));
	STEP(doca_workq_get_event_handle(rig->workq, &handle));
	return doca_workq_event_handle_arm(rig->workq);
}

static doca_error_t run_ctx(struct rig *rig, struct doca_ctx *ctx)
{
	rig->ctx = ctx;
	STEP(doca_ctx_dev_add(ctx, rig->dev));
	STEP(doca_ctx_start(ctx));
	STEP(doca_ctx_workq_add(ctx, rig->workq));
	rig->ctx_workq = rig->workq;
	return DOCA_SUCCESS;
}

static doca_error_t make_dma(struct rig *rig)
{
	STEP(doca_dma_create(&rig->dma));
	return run_ctx(rig, doca_dma_as_ctx(rig->dma));
}

static doca_error_t make_sha(struct rig *rig)
{
	STEP(doca_sha_create(&rig->sha));
	STEP(run_ctx(rig, doca_sha_as_ctx(rig->sha)));
	return doca_sha_partial_session_create(rig->sha, rig->workq, &rig->session);
}

static doca_error_t make_event_as_ctx(struct rig *rig)
{
	STEP(doca_sync_event_create(&rig->event));
	STEP(doca_sync_event_publisher_add_location_cpu(rig->event, rig->dev));
	STEP(doca_sync_event_subscriber_add_location_cpu(rig->event, rig->dev));
	return run_ctx(rig, doca_sync_event_as_ctx(rig->event));
}

static doca_error_t make_event(struct rig *rig)
{
	const uint8_t *data;
	size_t len;

	STEP(doca_sync_event_create(&rig->event));
	STEP(doca_sync_event_publisher_add_location_cpu(rig->event, rig->host));
	STEP(doca_sync_event_subscriber_add_location_dpu(rig->event));
	STEP(doca_sync_event_start(rig->event));
	STEP(doca_sync_event_export_to_dpu(rig->event, rig->host, &data, &len));
	STEP(doca_sync_event_create_from_export(rig->dev, data, len, &rig->imported));
	return doca_sync_event_start(rig->imported);
}

static doca_error_t make_memory(struct rig *rig)
{
	union doca_data data = {.u64 = 1};
	const void *descriptor;
	size_t len;

	STEP(doca_mmap_create(&data, &rig->mmap));
	STEP(doca_mmap_dev_add(rig->mmap, rig->host));
	STEP(doca_mmap_set_memrange(rig->mmap, memory, MEMORY_SIZE));
	STEP(doca_mmap_set_permissions(rig->mmap, DOCA_ACCESS_DPU_READ_WRITE));
	STEP(doca_mmap_start(rig->mmap));
	STEP(doca_mmap_export_dpu(rig->mmap, rig->host, &descriptor, &len));
	STEP(doca_buf_inventory_create(&data, 4, DOCA_BUF_EXTENSION_NONE, &rig->inventory));
	STEP(doca_buf_inventory_start(rig->inventory));
	STEP(doca_bufpool_create(&data, 16, DOCA_BUF_EXTENSION_NONE, 256, 64, rig->mmap, &rig->pool));
	STEP(doca_bufpool_start(rig->pool));
	return doca_bufpool_buf_alloc(rig->pool, &rig->src);
}

/* The 2.2 headers lack GPUNetIO, so today's calls create the GPU. */
doca_error_t doca_gpu_create(const char *gpu_bus_id, struct doca_gpu **gpu_dev);
doca_error_t doca_gpu_destroy(struct doca_gpu *gpu_dev);

static doca_error_t make_array(struct rig *rig)
{
	struct doca_gpu_buf_arr *handle;

	STEP(doca_gpu_create("b5:00.0", &rig->gpu));
	STEP(doca_buf_arr_create(rig->mmap, &rig->array));
	STEP(doca_buf_arr_set_target_gpu(rig->array, rig->gpu));
	STEP(doca_buf_arr_set_params(rig->array, 64, 8, 0));
	STEP(doca_buf_arr_start(rig->array));
	return doca_buf_arr_get_gpu_handle(rig->array, &handle);
}

static doca_error_t user_node(void *cookie, struct doca_event *event)
{
	return DOCA_SUCCESS;
}

static void begin_with_dma(struct rig *rig)
{
	begin_with_mmap(rig);
	assert_ok(make_dma(rig));
	assert_ok(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &rig->inventory));
	assert_ok(doca_buf_inventory_start(rig->inventory));
	assert_ok(doca_buf_inventory_buf_by_data(rig->inventory, rig->mmap, memory, 64, &rig->src));
	assert_ok(doca_buf_inventory_buf_by_addr(rig->inventory, rig->mmap, memory + 4096, 64, &rig->dst));
	rig->job = (struct doca_dma_job_memcpy){
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = rig->ctx}, .src_buff = rig->src, .dst_buff = rig->dst};
}

/* A graph whose second node is a graph with one copy. */
static doca_error_t make_graph(struct rig *rig)
{
	struct doca_graph_node *copy, *user, *sub;

	STEP(doca_graph_create(&rig->sub_graph));
	STEP(doca_graph_ctx_node_create(rig->sub_graph, DOCA_DMA_JOB_MEMCPY, rig->ctx, &copy));
	STEP(doca_graph_start(rig->sub_graph));
	STEP(doca_graph_create(&rig->graph));
	STEP(doca_graph_user_node_create(rig->graph, user_node, &user));
	STEP(doca_graph_sub_graph_node_create(rig->graph, rig->sub_graph, &sub));
	STEP(doca_graph_add_dependency(rig->graph, user, sub));
	STEP(doca_graph_start(rig->graph));
	STEP(doca_graph_workq_add(rig->graph, rig->workq));
	rig->graph_workq = rig->workq;
	STEP(doca_graph_instance_create(rig->sub_graph, &rig->sub_instance));
	STEP(doca_graph_instance_set_ctx_node_data(rig->sub_instance, copy, &rig->job.base, NULL));
	STEP(doca_graph_instance_create(rig->graph, &rig->instance));
	STEP(doca_graph_instance_set_user_node_data(rig->instance, user, NULL, NULL));
	STEP(doca_graph_instance_set_sub_graph_node_data(rig->instance, sub, rig->sub_instance, NULL));
	STEP(doca_workq_graph_submit(rig->workq, rig->instance, (union doca_data){.u64 = 1}));
	rig->in_flight = true;
	return DOCA_SUCCESS;
}

static doca_error_t make_log_source(struct rig *rig)
{
	int source;

	STEP(doca_log_source_register("MEMORY", &source));
	rig->log_source = source + 1;
	return DOCA_SUCCESS;
}

/* ---- ends of scenarios ---- */

static void retrieve_last(struct rig *rig)
{
	struct doca_event event;
	doca_error_t result = DOCA_ERROR_AGAIN;

	for (uint32_t i = 0; result == DOCA_ERROR_AGAIN; i++) {
		assert_true(i < RETRIEVES_MAX);
		result = doca_workq_progress_retrieve(rig->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	}
	assert_int_equal(result, DOCA_SUCCESS);
}

static void graphs_end(struct rig *rig)
{
	if (rig->in_flight)
		retrieve_last(rig);
	END(rig->instance, doca_graph_instance_destroy);
	END(rig->sub_instance, doca_graph_instance_destroy);
	if (rig->graph_workq != NULL)
		assert_ok(doca_graph_workq_rm(rig->graph, rig->graph_workq));
	END(rig->graph, doca_graph_stop);
	END(rig->graph, doca_graph_destroy);
	END(rig->sub_graph, doca_graph_stop);
	END(rig->sub_graph, doca_graph_destroy);
}

static void rig_end(struct rig *rig)
{
	graphs_end(rig);
	if (rig->session != NULL)
		assert_ok(doca_sha_partial_session_destroy(rig->sha, rig->workq, rig->session));
	if (rig->ctx_workq != NULL)
		assert_ok(doca_ctx_workq_rm(rig->ctx, rig->ctx_workq));
	END(rig->ctx, doca_ctx_stop);
	END(rig->dma, doca_dma_destroy);
	END(rig->sha, doca_sha_destroy);
	END(rig->imported, doca_sync_event_stop);
	END(rig->imported, doca_sync_event_destroy);
	if (rig->ctx == NULL)
		END(rig->event, doca_sync_event_stop);
	END(rig->event, doca_sync_event_destroy);
	END(rig->workq, doca_workq_destroy);
	END(rig->array, doca_buf_arr_destroy);
	END(rig->gpu, doca_gpu_destroy);
	if (rig->src != NULL)
		assert_ok(doca_buf_refcount_rm(rig->src, NULL));
	if (rig->dst != NULL)
		assert_ok(doca_buf_refcount_rm(rig->dst, NULL));
	END(rig->pool, doca_bufpool_destroy);
	END(rig->inventory, doca_buf_inventory_destroy);
	END(rig->mmap, doca_mmap_destroy);
	if (rig->log_source != 0)
		assert_ok(doca_log_source_destroy(rig->log_source - 1));
	END(rig->dev, doca_dev_close);
	END(rig->host, doca_dev_close);
}

TEST(workq, NULL, 0)
TEST(dma, begin_with_workq, 0)
TEST(sha, begin_with_workq, 0)
TEST(event, begin_with_devs, 8) /* an export and an import */
TEST(event_as_ctx, begin_with_workq, 0)
TEST(memory, begin_with_devs, 8) /* an export */
TEST(array, begin_with_mmap, 0)
TEST(graph, begin_with_dma, 0)
TEST(log_source, NULL, 0)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_for_workq),	  cmocka_unit_test(out_of_memory_for_dma),
		cmocka_unit_test(out_of_memory_for_sha),	  cmocka_unit_test(out_of_memory_for_event),
		cmocka_unit_test(out_of_memory_for_event_as_ctx), cmocka_unit_test(out_of_memory_for_memory),
		cmocka_unit_test(out_of_memory_for_array),	  cmocka_unit_test(out_of_memory_for_graph),
		cmocka_unit_test(out_of_memory_for_log_source),
	};

	return cmocka_run_group_tests(tests, install, uninstall);
}
