/* SPDX-License-Identifier: BSD-3-Clause */
/* Common to tasks of both types, except their execution. */
#include "aes_gcm/aes_gcm.h"
#include "base/log.h"
#include "base/profile.h"
#include "core/dev.h"
#include "mem/buf_checks.h"

static void aes_gcm_inspect(const struct doca_task *base)
{
	const struct aes_gcm_task *task = (const struct aes_gcm_task *)base;

	sf_buf_check_list(base, task->src);
	sf_buf_check_list(base, task->dst);
}

#define CLASS(called, type)                                                                                                      \
	{                                                                                                                        \
		.name = called, .size = sizeof(type), .submit = aes_gcm_submit, .validate = aes_gcm_validate,                    \
		.inspect = aes_gcm_inspect                                                                                       \
	}

static const struct sf_task_class classes[AES_GCM_POOLS] = {
	[AES_GCM_ENCRYPT_POOL] = CLASS("aes_gcm encrypt", struct aes_gcm_task),
	[AES_GCM_DECRYPT_POOL] = CLASS("aes_gcm decrypt", struct aes_gcm_task),
};

static const struct sf_task_class engine_classes[AES_GCM_POOLS] = {
	[AES_GCM_ENCRYPT_POOL] = CLASS("aes_gcm encrypt", struct aes_gcm_engine_task),
	[AES_GCM_DECRYPT_POOL] = CLASS("aes_gcm decrypt", struct aes_gcm_engine_task),
};

doca_error_t aes_gcm_task_configure(struct doca_aes_gcm *aes_gcm, int pool, doca_task_completion_cb_t completed,
				    doca_task_completion_cb_t failed, uint32_t num_tasks)
{
	const struct sf_task_class *cls = &classes[pool];

	if (aes_gcm == NULL) {
		SF_LOG_ERR("aes_gcm is NULL: cannot configure %s tasks", cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_profile_require(SF_PROFILE_AES_GCM) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (sf_dev_desc(aes_gcm->dev)->engine_threads != 0)
		cls = &engine_classes[pool];
	return sf_task_pool_configure(&aes_gcm->ctx, &aes_gcm->pools[pool], cls, completed, failed, num_tasks,
				      AES_GCM_TASKS_MAX - aes_gcm->pools[AES_GCM_POOLS - 1 - pool].num_tasks);
}

static doca_error_t check_alloc(const struct doca_aes_gcm *aes_gcm, int pool, const struct aes_gcm_arguments *arguments,
				struct aes_gcm_task *const *task)
{
	const char *name = classes[pool].name;

	if (aes_gcm == NULL || task == NULL)
		SF_LOG_ERR("%s task: %s is NULL", name, aes_gcm == NULL ? "aes_gcm" : "task");
	else if (arguments->iv_len > AES_GCM_IV_MAX)
		SF_LOG_ERR("%s task: the IV has %u bytes: give at most %d", name, arguments->iv_len, AES_GCM_IV_MAX);
	else if (arguments->tag_size != 12 && arguments->tag_size != 16)
		SF_LOG_ERR("%s task: the tag has %u bytes: give 12 or 16", name, arguments->tag_size);
	else
		return DOCA_SUCCESS;
	return DOCA_ERROR_INVALID_VALUE;
}

static bool key_suits(const struct aes_gcm_task *task, const struct doca_aes_gcm_key *key)
{
	return key != NULL && &key->aes_gcm->ctx == task->base.ctx;
}

doca_error_t aes_gcm_task_alloc(struct doca_aes_gcm *aes_gcm, int pool, const struct aes_gcm_arguments *arguments,
				struct aes_gcm_task **out)
{
	doca_error_t result = check_alloc(aes_gcm, pool, arguments, out);
	struct doca_task *base;

	if (result == DOCA_SUCCESS)
		result = sf_task_alloc(&aes_gcm->ctx, &aes_gcm->pools[pool], &base);
	if (result != DOCA_SUCCESS)
		return result;

	struct aes_gcm_task *task = (struct aes_gcm_task *)base;

	base->user_data = arguments->user_data;
	task->src = arguments->src;
	task->dst = arguments->dst;
	task->key = arguments->key;
	task->key_suits = key_suits(task, arguments->key);
	task->iv = arguments->iv;
	task->iv_len = arguments->iv_len;
	task->tag_size = arguments->tag_size;
	task->aad_size = arguments->aad_size;
	task->encrypts = pool == AES_GCM_ENCRYPT_POOL;
	*out = task;
	return DOCA_SUCCESS;
}

/* ---- setters: not for tasks in flight, which engine threads may be using ---- */

static bool may_set(const struct aes_gcm_task *task, const char *setter)
{
	if (task != NULL && !sf_task_is_inflight(&task->base))
		return true;
	SF_LOG_ERR("%s: %s", setter, task == NULL ? "task is NULL" : "the task is in flight: wait for its callback");
	return false;
}

void aes_gcm_task_set_src(struct aes_gcm_task *task, const struct doca_buf *src, const char *setter)
{
	if (may_set(task, setter))
		task->src = src;
}

void aes_gcm_task_set_dst(struct aes_gcm_task *task, struct doca_buf *dst, const char *setter)
{
	if (may_set(task, setter))
		task->dst = dst;
}

void aes_gcm_task_set_key(struct aes_gcm_task *task, struct doca_aes_gcm_key *key, const char *setter)
{
	if (!may_set(task, setter))
		return;
	task->key = key;
	task->key_suits = key_suits(task, key);
}

void aes_gcm_task_set_iv(struct aes_gcm_task *task, const uint8_t *iv, uint32_t iv_len, const char *setter)
{
	if (!may_set(task, setter))
		return;
	task->iv = iv;
	task->iv_len = iv_len;
}

void aes_gcm_task_set_tag_size(struct aes_gcm_task *task, uint32_t tag_size, const char *setter)
{
	if (may_set(task, setter))
		task->tag_size = tag_size;
}

void aes_gcm_task_set_aad_size(struct aes_gcm_task *task, uint32_t aad_size, const char *setter)
{
	if (may_set(task, setter))
		task->aad_size = aad_size;
}
