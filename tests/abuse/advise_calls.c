/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice about memory; and the bridge to rdma-core, which supports no software device. */
#include <doca_dev.h>
#include <doca_mmap_advise.h>
#include <doca_rdma_bridge.h>

#include "abuse.h"

static void create(void)
{
	struct doca_mmap_advise *advise;

	if (object_count(ADVISE) >= 2 || !has_room(CTX))
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_mmap_advise **place = or_null(&advise);

	refuse_if(dev != NULL &&
		  doca_mmap_advise_cap_task_cache_invalidate_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS);
	expect_if(true);
	if (CALL(doca_mmap_advise_create, dev, place) != DOCA_SUCCESS)
		return;
	object_add(ADVISE, advise);
	ctx_add(doca_mmap_advise_as_ctx(advise));
}

static void destroy(void)
{
	struct doca_mmap_advise *advise = pick(ADVISE);
	struct doca_ctx *ctx = doca_mmap_advise_as_ctx(advise);

	refuse_if(ctx != NULL && !ctx_is_idle(ctx));
	if (CALL(doca_mmap_advise_destroy, advise) != DOCA_SUCCESS)
		return;
	object_drop(CTX, ctx);
	object_drop(ADVISE, advise);
}

static void as_ctx(void)
{
	(void)CALL_VALUE(doca_mmap_advise_as_ctx, (struct doca_mmap_advise *)pick(ADVISE));
}

static void cap_supported(void)
{
	struct doca_devinfo *object = pick(DEVINFO);

	CALL(doca_mmap_advise_cap_task_cache_invalidate_is_supported, object);
}

static void cap_max_size(void)
{
	uint64_t size;
	struct doca_devinfo *info = pick(DEVINFO);
	uint64_t *place = or_null(&size);

	expect_if(true);
	CALL(doca_mmap_advise_task_cache_invalidate_get_max_buf_size, info, place);
}

static void done(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_data, union doca_data ctx_data)
{
	task_ended(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
}

static void set_conf(void)
{
	struct doca_mmap_advise *advise = pick(ADVISE);
	doca_mmap_advise_task_invalidate_cache_completion_cb_t completed = or_null(done), failed = or_null(done);
	uint32_t num = chance(6) ? UINT32_MAX : random_below(5);

	refuse_if(num == 0 || num == UINT32_MAX || (advise != NULL && !ctx_is_idle(doca_mmap_advise_as_ctx(advise))));
	expect_if(true);
	CALL(doca_mmap_advise_task_invalidate_cache_set_conf, advise, completed, failed, num);
}

static void alloc_init(void)
{
	struct doca_mmap_advise_task_invalidate_cache *task;

	if (!has_room(TASK) || !has_room(ADVISE_TASK))
		return;
	struct doca_mmap_advise *advise = pick(ADVISE);
	struct doca_buf *buf = pick(BUF);
	struct doca_mmap_advise_task_invalidate_cache **place = or_null(&task);

	refuse_if(advise != NULL && ctx_state(doca_mmap_advise_as_ctx(advise)) != DOCA_CTX_STATE_RUNNING);
	if (CALL(doca_mmap_advise_task_invalidate_cache_alloc_init, advise, buf, (union doca_data){.u64 = 1}, place) !=
	    DOCA_SUCCESS)
		return;
	struct doca_task *base = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);

	task_add(base, ADVISE_TASK, task);
	task_uses(base, 0, buf);
}

static void as_task(void)
{
	(void)CALL_VALUE(doca_mmap_advise_task_invalidate_cache_as_doca_task,
			 (struct doca_mmap_advise_task_invalidate_cache *)pick(ADVISE_TASK));
}

static void set_buf(void)
{
	struct doca_mmap_advise_task_invalidate_cache *task = pick(ADVISE_TASK);
	struct doca_task *base = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
	struct doca_buf *buf = pick(BUF);

	if (base != NULL && task_is_inflight(base))
		return;
	CALL_VALUE(doca_mmap_advise_task_invalidate_cache_set_buf, task, buf);
	if (base != NULL)
		task_uses(base, 0, buf);
}

static void get_buf(void)
{
	(void)CALL_VALUE(doca_mmap_advise_task_invalidate_cache_get_buf,
			 (struct doca_mmap_advise_task_invalidate_cache *)pick(ADVISE_TASK));
}

/* ---- the bridge ---- */

static void bridge_pd(void)
{
	struct ibv_pd *pd;
	struct doca_dev *dev = pick(DEV);
	struct ibv_pd **place = or_null(&pd);

	refuse_if(true);
	CALL(doca_rdma_bridge_get_dev_pd, dev, place);
}

static void bridge_open(void)
{
	struct doca_dev *dev;
	struct ibv_pd *pd = or_null(memory); /* never accessed */
	struct doca_dev **place = or_null(&dev);

	refuse_if(true);
	CALL(doca_rdma_bridge_open_dev_from_pd, pd, place);
}

static void bridge_buf_mkey(void)
{
	uint32_t mkey;
	struct doca_buf *buf = pick(BUF);
	struct doca_dev *dev = pick(DEV);
	uint32_t *place = or_null(&mkey);

	refuse_if(true);
	CALL(doca_rdma_bridge_get_buf_mkey, buf, dev, place);
}

static void bridge_mmap_mkey(void)
{
	uint32_t mkey;
	struct doca_mmap *mmap = pick(MMAP);
	struct ibv_pd *pd = or_null(memory);
	uint32_t *place = or_null(&mkey);

	refuse_if(true);
	CALL(doca_rdma_bridge_get_mmap_mkey_from_pd, mmap, pd, place);
}

static void prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_mmap_advise *advise;

	if (dev == NULL || CALL(doca_mmap_advise_create, dev->pointer, &advise) != DOCA_SUCCESS)
		return;
	object_add(ADVISE, advise);
	ctx_add(doca_mmap_advise_as_ctx(advise));
	CALL(doca_mmap_advise_task_invalidate_cache_set_conf, advise, done, done, 4);
	ctx_run(doca_mmap_advise_as_ctx(advise));
}

static const struct call calls[] = {
	{"doca_mmap_advise_create", create, 3},
	{"doca_mmap_advise_destroy", destroy, 1, true},
	{"doca_mmap_advise_as_ctx", as_ctx},
	{"doca_mmap_advise_cap_task_cache_invalidate_is_supported", cap_supported},
	{"doca_mmap_advise_task_cache_invalidate_get_max_buf_size", cap_max_size},
	{"doca_mmap_advise_task_invalidate_cache_set_conf", set_conf, 3},
	{"doca_mmap_advise_task_invalidate_cache_alloc_init", alloc_init, 6},
	{"doca_mmap_advise_task_invalidate_cache_as_doca_task", as_task},
	{"doca_mmap_advise_task_invalidate_cache_set_buf", set_buf},
	{"doca_mmap_advise_task_invalidate_cache_get_buf", get_buf},
	{"doca_rdma_bridge_get_dev_pd", bridge_pd},
	{"doca_rdma_bridge_open_dev_from_pd", bridge_open},
	{"doca_rdma_bridge_get_buf_mkey", bridge_buf_mkey},
	{"doca_rdma_bridge_get_mmap_mkey_from_pd", bridge_mmap_mkey},
};
const struct group advise_group = GROUP(calls, prepare);
