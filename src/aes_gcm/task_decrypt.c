/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that decrypts. */
#include "aes_gcm/aes_gcm.h"

doca_error_t doca_aes_gcm_task_decrypt_set_conf(struct doca_aes_gcm *aes_gcm,
						doca_aes_gcm_task_decrypt_completion_cb_t task_completion_cb,
						doca_aes_gcm_task_decrypt_completion_cb_t task_error_cb, uint32_t num_tasks)
{
	return aes_gcm_task_configure(aes_gcm, AES_GCM_DECRYPT_POOL, (doca_task_completion_cb_t)task_completion_cb,
				      (doca_task_completion_cb_t)task_error_cb, num_tasks);
}

doca_error_t doca_aes_gcm_task_decrypt_alloc_init(struct doca_aes_gcm *aes_gcm, struct doca_buf const *src_buff,
						  struct doca_buf *dst_buff, struct doca_aes_gcm_key *key, const uint8_t *iv,
						  uint32_t iv_length, uint32_t tag_size, uint32_t aad_size,
						  union doca_data user_data, struct doca_aes_gcm_task_decrypt **task)
{
	const struct aes_gcm_arguments arguments = {.src = src_buff,
						    .dst = dst_buff,
						    .key = key,
						    .iv = iv,
						    .iv_len = iv_length,
						    .tag_size = tag_size,
						    .aad_size = aad_size,
						    .user_data = user_data};

	return aes_gcm_task_alloc(aes_gcm, AES_GCM_DECRYPT_POOL, &arguments, (struct aes_gcm_task **)task);
}

struct doca_task *doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task)
{
	return task != NULL ? &task->common.base : NULL;
}

void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task, struct doca_buf const *src_buff)
{
	aes_gcm_task_set_src((struct aes_gcm_task *)task, src_buff, __func__);
}

struct doca_buf const *doca_aes_gcm_task_decrypt_get_src(const struct doca_aes_gcm_task_decrypt *task)
{
	return task != NULL ? task->common.src : NULL;
}

void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task, struct doca_buf *dst_buff)
{
	aes_gcm_task_set_dst((struct aes_gcm_task *)task, dst_buff, __func__);
}

struct doca_buf *doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task)
{
	return task != NULL ? task->common.dst : NULL;
}

void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task, struct doca_aes_gcm_key *key)
{
	aes_gcm_task_set_key((struct aes_gcm_task *)task, key, __func__);
}

struct doca_aes_gcm_key *doca_aes_gcm_task_decrypt_get_key(const struct doca_aes_gcm_task_decrypt *task)
{
	return task != NULL ? task->common.key : NULL;
}

void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task, const uint8_t *iv, uint32_t iv_length)
{
	aes_gcm_task_set_iv((struct aes_gcm_task *)task, iv, iv_length, __func__);
}

const uint8_t *doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task, uint32_t *iv_length)
{
	if (iv_length != NULL)
		*iv_length = task != NULL ? task->common.iv_len : 0;
	return task != NULL ? task->common.iv : NULL;
}

void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task, uint32_t tag_size)
{
	aes_gcm_task_set_tag_size((struct aes_gcm_task *)task, tag_size, __func__);
}

uint32_t doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task)
{
	return task != NULL ? task->common.tag_size : 0;
}

void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task, uint32_t aad_size)
{
	aes_gcm_task_set_aad_size((struct aes_gcm_task *)task, aad_size, __func__);
}

uint32_t doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task)
{
	return task != NULL ? task->common.aad_size : 0;
}
