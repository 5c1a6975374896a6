/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out of memory. For every kind of object, the calls that create, configure, start and export it are repeated with the first, the
 * second, ... allocation of the libraries failing, until none fails. A failed call returns NO_MEMORY. Afterwards everything can
 * be destroyed, the device can be closed, and no descriptor is left. The sanitizer finds leaks at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_clock.h>
#include <doca_comch.h>
#include <doca_comm_channel.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_gpunetio.h>
#include <doca_graph.h>
#include <doca_mmap.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "support/child.h"
#include "support/comch_side.h"
#include "support/starve.h"
#include "support/test_dev.h"

#define PROGRESS_MAX 100000 /* calls within which a context must have stopped */
#define MEMORY_SIZE 65536

static uint8_t memory[MEMORY_SIZE] __attribute__((aligned(4096)));

/* The objects that a scenario has created; the others are NULL. */
struct rig {
	struct doca_devinfo **list;
	struct doca_devinfo_rep **reps;
	uint32_t num, num_reps;
	struct doca_dev *dev, *host;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap, *imported;
	struct doca_buf_inventory *inventory;
	struct doca_buf_pool *pool;
	struct doca_gpu *gpu;
	struct doca_buf_arr *array;
	struct doca_clock *clock;
	struct doca_mmap_advise *advise;
	struct doca_dma *dma;
	struct doca_sha *sha;
	struct doca_sync_event *event, *other_event;
	struct doca_sync_event_remote_net *net_event;
	struct doca_graph *graph;
	struct doca_graph_instance *instance;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_producer *producer;
	struct doca_comch_consumer *consumer;
	struct doca_ctx *data_ctxs[2];
	struct doca_comm_channel_ep_t *service;
	struct comch_side sides[2]; /* a connection with which scenarios begin */
};

#include "starved.h"

/* ---- callbacks that do nothing ---- */

static void memcpy_done(struct doca_dma_task_memcpy *task, union doca_data data, union doca_data ctx_data) {}
static void hash_done(struct doca_sha_task_hash *task, union doca_data data, union doca_data ctx_data) {}
static void partial_done(struct doca_sha_task_partial_hash *task, union doca_data data, union doca_data ctx_data) {}
static void advise_done(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data data, union doca_data ctx_data) {}
static void get_done(struct doca_sync_event_task_get *task, union doca_data data, union doca_data ctx_data) {}
static void wait_done(struct doca_sync_event_task_wait_eq *task, union doca_data data, union doca_data ctx_data) {}
static void graph_done(struct doca_graph_instance *instance, union doca_data data, union doca_data graph_data) {}
static void sent(struct doca_comch_task_send *task, union doca_data data, union doca_data ctx_data) {}
static void received(struct doca_comch_event_msg_recv *event, uint8_t *msg, uint32_t len, struct doca_comch_connection *peer) {}
static void connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *peer, uint8_t good)
{
}
static void data_sent(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx_data) {}
static void data_received(struct doca_comch_consumer_task_post_recv *task, union doca_data data, union doca_data ctx_data) {}
static doca_error_t user_node(void *cookie)
{
	return DOCA_SUCCESS;
}

/* ---- beginnings of scenarios: not made to fail ---- */

static void begin_with_dev(struct rig *rig)
{
	rig->dev = test_dev_open_pci("03:00.0");
}

static void begin_with_pe(struct rig *rig)
{
	begin_with_dev(rig);
	assert_int_equal(doca_pe_create(&rig->pe), DOCA_SUCCESS);
}

static void begin_with_mmap(struct rig *rig)
{
	begin_with_pe(rig);
	assert_int_equal(doca_mmap_create(&rig->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(rig->mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(rig->mmap, memory, MEMORY_SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(rig->mmap), DOCA_SUCCESS);
}

static void begin_with_both_sides(struct rig *rig)
{
	begin_with_pe(rig);
	rig->host = test_dev_open_pci("d8:00.0");
}

static void begin_with_connection(struct rig *rig)
{
	begin_with_pe(rig);
	side_init_server(&rig->sides[0], "memory");
	side_init_client(&rig->sides[1], "memory");
	side_connect(&rig->sides[0], &rig->sides[1]);
	assert_int_equal(doca_mmap_create(&rig->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(rig->mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(rig->mmap, memory, MEMORY_SIZE), DOCA_SUCCESS);
	assert_int_equal(
		doca_mmap_set_permissions(rig->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
		DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(rig->mmap), DOCA_SUCCESS);
}

/* ---- calls that are made to fail: each function calls until one fails, and returns its result ---- */

static doca_error_t run_ctx(struct rig *rig, struct doca_ctx *ctx)
{
	rig->ctx = ctx;
	STEP(doca_pe_connect_ctx(rig->pe, ctx));
	return doca_ctx_start(ctx);
}

static doca_error_t make_devices(struct rig *rig)
{
	STEP(doca_devinfo_create_list(&rig->list, &rig->num));
	STEP(doca_dev_open(rig->list[0], &rig->dev));
	STEP(doca_devinfo_rep_create_list(rig->dev, DOCA_DEVINFO_REP_FILTER_NET, &rig->reps, &rig->num_reps));
	return doca_dev_rep_open(rig->reps[0], &rig->rep);
}

static doca_error_t make_mmap(struct rig *rig)
{
	const void *descriptor;
	size_t len;
	uint32_t mkey;

	STEP(doca_mmap_create(&rig->mmap));
	STEP(doca_mmap_set_max_num_devices(rig->mmap, 4000));
	STEP(doca_mmap_add_dev(rig->mmap, rig->host));
	STEP(doca_mmap_set_memrange(rig->mmap, memory, MEMORY_SIZE));
	STEP(doca_mmap_set_permissions(rig->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ));
	STEP(doca_mmap_start(rig->mmap));
	STEP(doca_mmap_get_mkey(rig->mmap, rig->host, &mkey));
	STEP(doca_mmap_export_rdma(rig->mmap, rig->host, &descriptor, &len));
	STEP(doca_mmap_export_pci(rig->mmap, rig->host, &descriptor, &len));
	return doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &rig->imported);
}

static doca_error_t make_bufs(struct rig *rig)
{
	struct doca_buf *buf;

	STEP(doca_buf_inventory_create(4, &rig->inventory));
	STEP(doca_buf_inventory_start(rig->inventory));
	STEP(doca_buf_inventory_expand(rig->inventory, 5000));
	STEP(doca_buf_inventory_buf_get_by_data(rig->inventory, rig->mmap, memory, 64, &buf));
	doca_buf_dec_refcount(buf, NULL);
	STEP(doca_buf_pool_create(16, 256, rig->mmap, &rig->pool));
	STEP(doca_buf_pool_start(rig->pool));
	STEP(doca_buf_pool_buf_alloc(rig->pool, &buf));
	doca_buf_dec_refcount(buf, NULL);
	return DOCA_SUCCESS;
}

static doca_error_t make_array(struct rig *rig)
{
	struct doca_gpu_buf_arr *handle;

	STEP(doca_gpu_create("b5:00.0", &rig->gpu));
	STEP(doca_buf_arr_create(8, &rig->array));
	STEP(doca_buf_arr_set_target_gpu(rig->array, rig->gpu));
	STEP(doca_buf_arr_set_params(rig->array, rig->mmap, 64, 0));
	STEP(doca_buf_arr_start(rig->array));
	return doca_buf_arr_get_gpu_handle(rig->array, &handle);
}

static doca_error_t make_pe(struct rig *rig)
{
	return doca_pe_create(&rig->pe);
}

static doca_error_t make_clock(struct rig *rig)
{
	return doca_clock_create(rig->dev, &rig->clock);
}

static doca_error_t make_advise(struct rig *rig)
{
	STEP(doca_mmap_advise_create(rig->dev, &rig->advise));
	STEP(doca_mmap_advise_task_invalidate_cache_set_conf(rig->advise, advise_done, advise_done, 8));
	return run_ctx(rig, doca_mmap_advise_as_ctx(rig->advise));
}

static doca_error_t make_dma(struct rig *rig)
{
	STEP(doca_dma_create(rig->dev, &rig->dma));
	STEP(doca_dma_task_memcpy_set_conf(rig->dma, memcpy_done, memcpy_done, 8));
	return run_ctx(rig, doca_dma_as_ctx(rig->dma));
}

static doca_error_t make_dma_on_gpu(struct rig *rig)
{
	struct doca_gpu_dma *handle;

	STEP(doca_gpu_create("b5:00.0", &rig->gpu));
	STEP(doca_dma_create(rig->dev, &rig->dma));
	rig->ctx = doca_dma_as_ctx(rig->dma);
	STEP(doca_ctx_set_datapath_on_gpu(rig->ctx, rig->gpu));
	STEP(doca_ctx_start(rig->ctx));
	return doca_dma_get_gpu_handle(rig->dma, &handle);
}

static doca_error_t make_sha(struct rig *rig)
{
	STEP(doca_sha_create(rig->dev, &rig->sha));
	STEP(doca_sha_task_hash_set_conf(rig->sha, hash_done, hash_done, 3));
	STEP(doca_sha_task_partial_hash_set_conf(rig->sha, partial_done, partial_done, 3));
	return run_ctx(rig, doca_sha_as_ctx(rig->sha));
}

static doca_error_t make_event_configured(struct rig *rig)
{
	STEP(doca_sync_event_create(&rig->event));
	STEP(doca_sync_event_add_publisher_location_remote_net(rig->event));
	return doca_sync_event_add_subscriber_location_cpu(rig->event, rig->dev);
}

static doca_error_t make_event(struct rig *rig)
{
	STEP(make_event_configured(rig));
	return doca_sync_event_start(rig->event);
}

static doca_error_t make_event_as_ctx(struct rig *rig)
{
	STEP(make_event_configured(rig));
	STEP(doca_sync_event_task_get_set_conf(rig->event, get_done, get_done, 4));
	STEP(doca_sync_event_task_wait_eq_set_conf(rig->event, wait_done, wait_done, 4));
	return run_ctx(rig, doca_sync_event_as_ctx(rig->event));
}

static doca_error_t make_event_for_net(struct rig *rig)
{
	const uint8_t *data;
	size_t len;

	STEP(make_event(rig));
	STEP(doca_sync_event_export_to_remote_net(rig->event, &data, &len));
	return doca_sync_event_remote_net_create_from_export(rig->dev, data, len, &rig->net_event);
}

static doca_error_t make_event_for_pci(struct rig *rig)
{
	const uint8_t *data;
	size_t len;

	STEP(doca_sync_event_create(&rig->event));
	STEP(doca_sync_event_add_publisher_location_remote_pci(rig->event));
	STEP(doca_sync_event_add_subscriber_location_cpu(rig->event, rig->host));
	STEP(doca_sync_event_start(rig->event));
	STEP(doca_sync_event_export_to_remote_pci(rig->event, rig->host, &data, &len));
	STEP(doca_sync_event_create_from_export(rig->dev, data, len, &rig->other_event));
	return doca_sync_event_start(rig->other_event);
}

static doca_error_t make_graph(struct rig *rig)
{
	struct doca_graph_node *first, *second;

	STEP(make_dma(rig));
	STEP(doca_graph_create(rig->pe, &rig->graph));
	STEP(doca_graph_node_create_from_ctx(rig->graph, rig->ctx, &first));
	STEP(doca_graph_node_create_from_user(rig->graph, user_node, &second));
	STEP(doca_graph_add_dependency(rig->graph, first, second));
	STEP(doca_graph_set_conf(rig->graph, graph_done, graph_done, 16));
	STEP(doca_graph_start(rig->graph));
	return doca_graph_instance_create(rig->graph, &rig->instance);
}

static doca_error_t make_server(struct rig *rig)
{
	STEP(doca_devinfo_rep_create_list(rig->dev, DOCA_DEVINFO_REP_FILTER_NET, &rig->reps, &rig->num_reps));
	STEP(doca_dev_rep_open(rig->reps[0], &rig->rep));
	STEP(doca_comch_server_create(rig->dev, rig->rep, "memory", &rig->server));
	STEP(doca_comch_server_event_connection_status_changed_register(rig->server, connected, connected));
	STEP(doca_comch_server_event_msg_recv_register(rig->server, received));
	STEP(doca_comch_server_task_send_set_conf(rig->server, sent, sent, 8));
	return run_ctx(rig, doca_comch_server_as_ctx(rig->server));
}

/* No server runs, so the client's start fails by itself; it may run out of memory before. */
static doca_error_t make_client(struct rig *rig)
{
	STEP(doca_comch_client_create(rig->host, "nobody", &rig->client));
	STEP(doca_comch_client_event_msg_recv_register(rig->client, received));
	STEP(doca_comch_client_task_send_set_conf(rig->client, sent, sent, 8));
	return run_ctx(rig, doca_comch_client_as_ctx(rig->client));
}

/* A consumer and a producer, on a GPU if the rig has one. */
static doca_error_t make_data_path(struct rig *rig)
{
	struct doca_comch_connection *connection = rig->sides[0].connection;

	STEP(doca_comch_consumer_create(connection, rig->mmap, &rig->consumer));
	STEP(doca_comch_consumer_task_post_recv_set_conf(rig->consumer, data_received, data_received, 8));
	rig->data_ctxs[0] = doca_comch_consumer_as_ctx(rig->consumer);
	STEP(doca_pe_connect_ctx(rig->pe, rig->data_ctxs[0]));
	if (rig->gpu != NULL)
		STEP(doca_ctx_set_datapath_on_gpu(rig->data_ctxs[0], rig->gpu));
	STEP(doca_ctx_start(rig->data_ctxs[0]));
	STEP(doca_comch_producer_create(connection, &rig->producer));
	STEP(doca_comch_producer_task_send_set_conf(rig->producer, data_sent, data_sent, 8));
	rig->data_ctxs[1] = doca_comch_producer_as_ctx(rig->producer);
	STEP(doca_pe_connect_ctx(rig->pe, rig->data_ctxs[1]));
	if (rig->gpu != NULL)
		STEP(doca_ctx_set_datapath_on_gpu(rig->data_ctxs[1], rig->gpu));
	return doca_ctx_start(rig->data_ctxs[1]);
}

static doca_error_t make_data_path_on_gpu(struct rig *rig)
{
	STEP(doca_gpu_create("b5:00.0", &rig->gpu));
	return make_data_path(rig);
}

/* A service. (A connect that runs out of memory later fails with CONNECTION_ABORTED.) */
static doca_error_t make_comm_channel(struct rig *rig)
{
	doca_event_channel_t event_channel;

	STEP(doca_devinfo_rep_create_list(rig->dev, DOCA_DEVINFO_REP_FILTER_NET, &rig->reps, &rig->num_reps));
	STEP(doca_dev_rep_open(rig->reps[0], &rig->rep));
	STEP(doca_comm_channel_ep_create(&rig->service));
	STEP(doca_comm_channel_ep_set_device(rig->service, rig->dev));
	STEP(doca_comm_channel_ep_set_device_rep(rig->service, rig->rep));
	STEP(doca_comm_channel_ep_listen(rig->service, "memory"));
	return doca_comm_channel_ep_get_event_channel(rig->service, NULL, &event_channel);
}

/* ---- ends of scenarios ---- */

static void ctx_end(struct rig *rig, struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	if (ctx == NULL)
		return;
	(void)doca_ctx_stop(ctx);
	for (uint32_t i = 0;; i++) {
		assert_int_equal(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
		if (state == DOCA_CTX_STATE_IDLE)
			return;
		assert_true(i < PROGRESS_MAX);
		(void)doca_pe_progress(rig->pe);
		for (int side = 0; side < 2; side++) {
			if (rig->sides[side].pe != NULL)
				(void)doca_pe_progress(rig->sides[side].pe);
		}
	}
}

static void rig_end(struct rig *rig)
{
	END(rig->instance, doca_graph_instance_destroy);
	END(rig->graph, doca_graph_stop);
	END(rig->graph, doca_graph_destroy);
	ctx_end(rig, rig->ctx);
	ctx_end(rig, rig->data_ctxs[1]);
	ctx_end(rig, rig->data_ctxs[0]);
	END(rig->producer, doca_comch_producer_destroy);
	END(rig->consumer, doca_comch_consumer_destroy);
	if (rig->sides[0].pe != NULL) {
		side_fini(&rig->sides[1], &rig->sides[0]);
		side_fini(&rig->sides[0], NULL);
	}
	if (rig->ctx == NULL || rig->ctx != doca_sync_event_as_ctx(rig->event))
		END(rig->event, doca_sync_event_stop);
	END(rig->other_event, doca_sync_event_stop);
	END(rig->other_event, doca_sync_event_destroy);
	END(rig->net_event, doca_sync_event_remote_net_destroy);
	END(rig->event, doca_sync_event_destroy);
	END(rig->service, doca_comm_channel_ep_destroy);
	END(rig->server, doca_comch_server_destroy);
	END(rig->client, doca_comch_client_destroy);
	END(rig->advise, doca_mmap_advise_destroy);
	END(rig->dma, doca_dma_destroy);
	END(rig->sha, doca_sha_destroy);
	END(rig->clock, doca_clock_destroy);
	END(rig->array, doca_buf_arr_destroy);
	END(rig->gpu, doca_gpu_destroy);
	END(rig->pool, doca_buf_pool_destroy);
	END(rig->inventory, doca_buf_inventory_destroy);
	END(rig->imported, doca_mmap_destroy);
	END(rig->mmap, doca_mmap_destroy);
	END(rig->pe, doca_pe_destroy);
	END(rig->rep, doca_dev_rep_close);
	END(rig->reps, doca_devinfo_rep_destroy_list);
	END(rig->dev, doca_dev_close);
	END(rig->host, doca_dev_close);
	END(rig->list, doca_devinfo_destroy_list);
}

TEST(devices, NULL, 0)
TEST(mmap, begin_with_both_sides, 8) /* two exports */
TEST(bufs, begin_with_mmap, 0)
TEST(array, begin_with_mmap, 0)
TEST(pe, NULL, 0)
TEST(clock, begin_with_dev, 0)
TEST(advise, begin_with_pe, 0)
TEST(dma, begin_with_pe, 0)
TEST(dma_on_gpu, begin_with_dev, 0)
TEST(sha, begin_with_pe, 0)
TEST(event, begin_with_pe, 0)
TEST(event_as_ctx, begin_with_pe, 0)
TEST(event_for_net, begin_with_pe, 4)
TEST(event_for_pci, begin_with_both_sides, 4)
TEST(graph, begin_with_pe, 0)
TEST(server, begin_with_pe, 4)
TEST(client, begin_with_both_sides, 4)
TEST(data_path, begin_with_connection, 0)
TEST(comm_channel, begin_with_pe, 4)
TEST(data_path_on_gpu, begin_with_connection, 8) /* two exports */

/* Runs in its own process each time, because the topology is read once. If memory is missing then, the next call reads it. */
static uint64_t topology_n;

#define TOPOLOGY_WHOLE 77 /* nothing failed */

static void read_topology(void)
{
	struct doca_devinfo **list;
	uint32_t num;

	starve_begin(topology_n);
	doca_error_t result = doca_devinfo_create_list(&list, &num);
	bool has_failed = starve_end();

	CHECK(result == (has_failed ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS));
	if (has_failed)
		CHECK_OK(doca_devinfo_create_list(&list, &num));
	CHECK_OK(doca_devinfo_destroy_list(list));
	if (!has_failed)
		_exit(TOPOLOGY_WHOLE);
}

static void out_of_memory_for_the_topology(void **state)
{
	int code = 0;

	for (topology_n = 1; code == 0; topology_n++) {
		assert_true(topology_n < ALLOCATIONS_MAX);
		code = run_in_child(read_topology);
	}
	assert_int_equal(code, TOPOLOGY_WHOLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_for_the_topology), /* first, because it forks */
		cmocka_unit_test(out_of_memory_for_devices),
		cmocka_unit_test(out_of_memory_for_mmap),
		cmocka_unit_test(out_of_memory_for_bufs),
		cmocka_unit_test(out_of_memory_for_array),
		cmocka_unit_test(out_of_memory_for_pe),
		cmocka_unit_test(out_of_memory_for_clock),
		cmocka_unit_test(out_of_memory_for_advise),
		cmocka_unit_test(out_of_memory_for_dma),
		cmocka_unit_test(out_of_memory_for_dma_on_gpu),
		cmocka_unit_test(out_of_memory_for_sha),
		cmocka_unit_test(out_of_memory_for_event),
		cmocka_unit_test(out_of_memory_for_event_as_ctx),
		cmocka_unit_test(out_of_memory_for_event_for_net),
		cmocka_unit_test(out_of_memory_for_event_for_pci),
		cmocka_unit_test(out_of_memory_for_graph),
		cmocka_unit_test(out_of_memory_for_server),
		cmocka_unit_test(out_of_memory_for_client),
		cmocka_unit_test(out_of_memory_for_data_path),
		cmocka_unit_test(out_of_memory_for_data_path_on_gpu),
		cmocka_unit_test(out_of_memory_for_comm_channel),
	};

	return cmocka_run_group_tests(tests, install, uninstall);
}
