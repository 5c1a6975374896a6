/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker with the rdmo plugin, a target whose memory it may write, and two initiators that send requests to it. */
#ifndef TEST_UROM_RDMO_RIG_H
#define TEST_UROM_RDMO_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_buf.h>

#include "support/urom_rig.h"
#include "ucx_side.h"
#include "urom_rdmo.h"

#define RDMO "worker_rdmo"
#define CLIENT 77
#define DATA_BYTES (4u << 20)

struct region {
	uint8_t *memory;
	size_t len;
	ucp_mem_h memh;
	uint64_t number;
};

struct initiator {
	struct ucx_side ucx;
	struct urom_rdmo_initiator *rdmo;
	struct urom_rdmo_queue *queue;
	uint64_t number;
};

static struct urom_rig rig;
static struct doca_urom_worker *worker;
static struct ucx_side target;
static uint8_t worker_address[4096];
static struct region words, data;
static uint64_t *word; /* the first word of words: a pointer into data */
static struct initiator initiators[2];
static bool target_sleeps; /* its program no longer calls UCX */

/* ---- waiting ---- */

static inline void progress(void)
{
	urom_rig_progress(rig.pe);
	if (!target_sleeps)
		(void)ucp_worker_progress(target.worker);
	for (int i = 0; i < 2; i++) {
		if (initiators[i].rdmo != NULL)
			(void)ucp_worker_progress(initiators[i].ucx.worker);
	}
}

static inline bool await(const volatile int *flag)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	while (!*flag && sf_now_ns() < until)
		progress();
	return *flag;
}

/* ---- commands ---- */

struct end {
	volatile int done;
	doca_error_t result;
	uint64_t number;
};

static inline void finished(doca_error_t result, union doca_data cookie, uint64_t number)
{
	struct end *end = (struct end *)cookie.ptr;

	end->result = result;
	end->number = number;
	end->done = 1;
}

static inline void initialized(doca_error_t result, union doca_data cookie, const void *addr, uint64_t addr_len)
{
	if (addr != NULL && addr_len <= sizeof(worker_address))
		memcpy(worker_address, addr, addr_len);
	finished(result, cookie, 0);
}

#define RUN(end, call) (assert_int_equal(call, DOCA_SUCCESS), assert_true(await(&(end)->done)), (end)->result)

static inline doca_error_t init_client(uint64_t id)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};

	return RUN(&end, urom_rdmo_task_client_init(worker, cookie, id, target.address, target.address_len, initialized));
}

static inline doca_error_t create_queue(struct initiator *initiator)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};
	doca_error_t result =
		RUN(&end, urom_rdmo_task_rq_create(worker, cookie, initiator->ucx.address, initiator->ucx.address_len, finished));

	initiator->number = end.number;
	return result;
}

static inline doca_error_t destroy_queue(uint64_t number)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};

	return RUN(&end, urom_rdmo_task_rq_destroy(worker, cookie, number, finished));
}

static inline doca_error_t register_region(struct region *region, uint64_t len)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};
	void *rkey;
	size_t rkey_len;

	assert_int_equal(ucp_rkey_pack(target.context, region->memh, &rkey, &rkey_len), UCS_OK);
	doca_error_t result =
		RUN(&end, urom_rdmo_task_mr_register(worker, cookie, (uintptr_t)region->memory, len, rkey, rkey_len, finished));
	ucp_rkey_buffer_release(rkey);
	region->number = end.number;
	return result;
}

static inline doca_error_t deregister_region(uint64_t number)
{
	struct end end = {0};
	union doca_data cookie = {.ptr = &end};

	return RUN(&end, urom_rdmo_task_mr_deregister(worker, cookie, number, finished));
}

/* ---- the rig ---- */

/* The memory outlives its registration: operations that a leaving client had begun may still complete while UCX is closed. */
static inline bool make_region(struct region *region, size_t len)
{
	region->memory = (uint8_t *)aligned_alloc(4096, len);
	region->len = len;
	if (region->memory == NULL)
		return false;
	memset(region->memory, 0, len);
	const ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = region->memory,
		.length = len,
	};
	return ucp_mem_map(target.context, &params, &region->memh) == UCS_OK;
}

static inline bool open_initiator(struct initiator *initiator)
{
	return ucx_side_open(&initiator->ucx, UCP_FEATURE_AM) == DOCA_SUCCESS &&
	       urom_rdmo_initiator_create(initiator->ucx.worker, &initiator->rdmo) == DOCA_SUCCESS &&
	       create_queue(initiator) == DOCA_SUCCESS &&
	       urom_rdmo_queue_open(initiator->rdmo, worker_address, CLIENT, initiator->number, &initiator->queue) ==
		       DOCA_SUCCESS;
}

static inline void close_initiator(struct initiator *initiator)
{
	if (initiator->rdmo == NULL)
		return;
	urom_rdmo_queue_close(initiator->queue);
	urom_rdmo_initiator_destroy(initiator->rdmo);
	ucx_side_close(&initiator->ucx);
	memset(initiator, 0, sizeof(*initiator));
}

static inline bool init_plugin(void)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;

	if (doca_urom_service_get_plugins_list(rig.service, &plugins, &num) != DOCA_SUCCESS)
		return false;
	for (size_t i = 0; i < num; i++) {
		if (strcmp(plugins[i].plugin_name, RDMO) == 0)
			return urom_rdmo_init(plugins[i].id, plugins[i].version + 1) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_rdmo_init(plugins[i].id, PUBLISHED_VERSION) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_rdmo_init(plugins[i].id, plugins[i].version) == DOCA_SUCCESS;
	}
	return false;
}

static inline int open_worker(void **state)
{
	(void)state;
	memset(initiators, 0, sizeof(initiators));
	target_sleeps = false;
	if (!urom_rig_open(&rig, NULL) || !init_plugin())
		return -1;
	worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, RDMO);
	if (worker == NULL || !urom_rig_start_worker(&rig, worker))
		return -1;
	if (ucx_side_open(&target, UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM) != DOCA_SUCCESS)
		return -1;
	return make_region(&words, 4096) && make_region(&data, DATA_BYTES) ? 0 : -1;
}

static inline int open_rig(void **state)
{
	if (open_worker(state) != 0 || init_client(CLIENT) != DOCA_SUCCESS ||
	    register_region(&words, words.len) != DOCA_SUCCESS || register_region(&data, data.len) != DOCA_SUCCESS)
		return -1;
	word = (uint64_t *)(void *)words.memory;
	*word = (uintptr_t)data.memory;
	return open_initiator(&initiators[0]) && open_initiator(&initiators[1]) ? 0 : -1;
}

static inline int close_rig(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		close_initiator(&initiators[i]);
	if (worker != NULL)
		(void)urom_rig_stop_worker(&rig, worker);
	worker = NULL;
	(void)ucp_mem_unmap(target.context, words.memh);
	(void)ucp_mem_unmap(target.context, data.memh);
	ucx_side_close(&target);
	free(words.memory);
	free(data.memory);
	urom_rig_close(&rig);
	return 0;
}

/* ---- operations ---- */

static inline void flushed(doca_error_t result, union doca_data cookie)
{
	finished(result, cookie, 0);
}

static inline doca_error_t flush(struct initiator *initiator)
{
	struct end end = {0};

	return RUN(&end, urom_rdmo_flush(initiator->queue, (union doca_data){.ptr = &end}, flushed));
}

static inline void append(struct initiator *initiator, uint32_t flags, const void *bytes, size_t len)
{
	assert_int_equal(urom_rdmo_append(initiator->queue, flags, (uintptr_t)word, words.number, data.number, bytes, len),
			 DOCA_SUCCESS);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

#endif
