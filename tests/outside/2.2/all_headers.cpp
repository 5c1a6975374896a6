/* SPDX-License-Identifier: BSD-3-Clause */
/* Every header of DOCA 2.2 in one unit of C++, and a graph with one copy. */
#include <cstdio>
#include <cstring>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_bufpool.h>
#include <doca_comm_channel.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_sha.h>
#include <doca_sync_event.h>
#include <doca_types.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(OUTSIDE::ALL_HEADERS);

namespace {

#ifdef DOCA_ARCH_DPU
char const built_for[] = "dpu";
#else
char const built_for[] = "host";
#endif

struct failure {
	char const *what;
	doca_error_t result;
};

void must(doca_error_t result, char const *what)
{
	if (result != DOCA_SUCCESS)
		throw failure{what, result};
}

doca_error_t called(void *cookie, doca_event *)
{
	*static_cast<bool *>(cookie) = true;
	return DOCA_SUCCESS;
}

/* A copy, then a callback. */
void run_graph(doca_ctx *ctx, doca_workq *workq, doca_buf *src, doca_buf *dst)
{
	doca_graph *graph = nullptr;
	doca_graph_node *copy = nullptr, *user = nullptr;
	doca_graph_instance *instance = nullptr;
	doca_dma_job_memcpy job{};
	doca_event event{};
	doca_data data{};
	doca_error_t result;
	bool was_called = false;

	job.base.type = DOCA_DMA_JOB_MEMCPY;
	job.base.ctx = ctx;
	job.src_buff = src;
	job.dst_buff = dst;
	must(doca_graph_create(&graph), "graph");
	must(doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, ctx, &copy), "context node");
	must(doca_graph_user_node_create(graph, called, &user), "user node");
	must(doca_graph_add_dependency(graph, copy, user), "dependency");
	must(doca_graph_start(graph), "start the graph");
	must(doca_graph_workq_add(graph, workq), "add the graph");
	must(doca_graph_instance_create(graph, &instance), "instance");
	must(doca_graph_instance_set_ctx_node_data(instance, copy, &job.base, nullptr), "job");
	must(doca_graph_instance_set_user_node_data(instance, user, &was_called, nullptr), "cookie");
	must(doca_workq_graph_submit(workq, instance, data), "submit");
	do {
		result = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	} while (result == DOCA_ERROR_AGAIN);
	must(result, "the instance");
	if (event.type != DOCA_GRAPH_JOB || !was_called)
		throw failure{"the callback", DOCA_ERROR_UNEXPECTED};
	must(doca_graph_instance_destroy(instance), "destroy the instance");
	must(doca_graph_workq_rm(graph, workq), "remove the graph");
	must(doca_graph_stop(graph), "stop the graph");
	must(doca_graph_destroy(graph), "destroy the graph");
}

void run(char *memory, size_t half)
{
	doca_devinfo **list = nullptr;
	uint32_t num = 0;
	doca_dev *dev = nullptr;
	doca_mmap *mmap = nullptr;
	doca_buf_inventory *inventory = nullptr;
	doca_buf *src = nullptr, *dst = nullptr;
	doca_workq *workq = nullptr;
	doca_dma *dma = nullptr;

	must(doca_devinfo_list_create(&list, &num), "devices");
	must(doca_dev_open(list[0], &dev), "device");
	must(doca_devinfo_list_destroy(list), "devices");
	must(doca_mmap_create(nullptr, &mmap), "memory map");
	must(doca_mmap_set_memrange(mmap, memory, 2 * half), "range");
	must(doca_mmap_dev_add(mmap, dev), "add the device");
	must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_WRITE), "permissions");
	must(doca_mmap_start(mmap), "start the memory map");
	must(doca_buf_inventory_create(nullptr, 2, DOCA_BUF_EXTENSION_NONE, &inventory), "inventory");
	must(doca_buf_inventory_start(inventory), "start the inventory");
	must(doca_buf_inventory_buf_by_data(inventory, mmap, memory, half, &src), "source");
	must(doca_buf_inventory_buf_by_addr(inventory, mmap, memory + half, half, &dst), "destination");
	must(doca_workq_create(8, &workq), "work queue");
	must(doca_dma_create(&dma), "dma");
	must(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev), "device of the context");
	must(doca_ctx_start(doca_dma_as_ctx(dma)), "start");
	must(doca_ctx_workq_add(doca_dma_as_ctx(dma), workq), "add the queue");
	run_graph(doca_dma_as_ctx(dma), workq, src, dst);
	must(doca_ctx_workq_rm(doca_dma_as_ctx(dma), workq), "remove the queue");
	must(doca_ctx_stop(doca_dma_as_ctx(dma)), "stop");
	must(doca_dma_destroy(dma), "destroy");
	must(doca_workq_destroy(workq), "destroy the queue");
	must(doca_buf_refcount_rm(src, nullptr), "source");
	must(doca_buf_refcount_rm(dst, nullptr), "destination");
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	must(doca_mmap_destroy(mmap), "destroy the memory map");
	must(doca_dev_close(dev), "close");
}

} // namespace

int main(int argc, char **argv)
{
	char memory[64] = "by a graph";

	try {
		must(doca_log_create_standard_backend(), "log");
		run(memory, sizeof(memory) / 2);
	} catch (failure const &error) {
		DOCA_LOG_ERR("%s: %s", error.what, doca_get_error_string(error.result));
		return 1;
	}
	DOCA_LOG_INFO("built for the %s: %s", built_for, memory + sizeof(memory) / 2);
	return argc == 2 && std::strcmp(argv[1], built_for) == 0 && std::strcmp(memory, memory + sizeof(memory) / 2) == 0 ? 0 : 1;
}
