/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of tasks: in slices on the ctx's thread, or whole on an engine thread. */
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <string.h>

#include "aes_gcm/aes_gcm.h"
#include "base/log.h"
#include "base/log_rate.h"

static struct doca_aes_gcm *task_aes_gcm(const struct aes_gcm_task *task)
{
	return (struct doca_aes_gcm *)task->base.ctx;
}

static const char *task_name(const struct aes_gcm_task *task)
{
	return task->base.cls->name;
}

/* ---- checks ---- */

static bool tag_size_is_valid(uint32_t tag_size)
{
	return tag_size == 12 || tag_size == 16;
}

/* Bytes of the tag at the end of the source. */
static uint32_t source_tag(const struct aes_gcm_task *task)
{
	return task->encrypts ? 0 : task->tag_size;
}

static uint64_t output_len(const struct aes_gcm_task *task, uint64_t source_len)
{
	return task->encrypts ? source_len + task->tag_size : source_len - task->tag_size;
}

static doca_error_t check_key(const struct aes_gcm_task *task)
{
	if (task->key == NULL)
		SF_LOG_ERR("%s: the task has no key: set one that doca_aes_gcm_key_create made", task_name(task));
	else if (!task->key_suits)
		SF_LOG_ERR("%s: the key belongs to another context: create one for this context", task_name(task));
	else
		return DOCA_SUCCESS;
	return DOCA_ERROR_INVALID_VALUE;
}

static bool iv_is_valid(const uint8_t *iv, uint32_t iv_len)
{
	return iv_len == 0 || (iv != NULL && iv_len <= AES_GCM_IV_MAX);
}

/* Checks everything except the length of the source. */
static doca_error_t check_task(const struct aes_gcm_task *task, bool iv_is_right)
{
	if (task->src == NULL || task->dst == NULL)
		SF_LOG_ERR("%s: the task has no %s", task_name(task), task->src == NULL ? "source" : "destination");
	else if (!iv_is_right)
		SF_LOG_ERR("%s: the IV has %u bytes at %p: give 0 to %d bytes at a valid address", task_name(task), task->iv_len,
			   (const void *)task->iv, AES_GCM_IV_MAX);
	else if (!tag_size_is_valid(task->tag_size))
		SF_LOG_ERR("%s: the tag has %u bytes: give 12 or 16", task_name(task), task->tag_size);
	else
		return check_key(task);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_source_len(const struct aes_gcm_task *task, uint64_t len)
{
	if (len > AES_GCM_LEN_MAX)
		SF_LOG_ERR("%s: the source has %llu bytes, but a task accepts at most %llu: split the message", task_name(task),
			   (unsigned long long)len, (unsigned long long)AES_GCM_LEN_MAX);
	else if (len < (uint64_t)task->aad_size + source_tag(task))
		SF_LOG_ERR("%s: the source has %llu bytes, fewer than its %u bytes of AAD%s: set its data length",
			   task_name(task), (unsigned long long)len, task->aad_size, task->encrypts ? "" : " and its tag");
	else
		return DOCA_SUCCESS;
	return DOCA_ERROR_INVALID_VALUE;
}

/* Resolves both buffers. On an error, logged, returns the task's status. */
static doca_error_t take_apart(const struct aes_gcm_task *task, bool iv_is_right, struct sf_reg_list *from,
			       struct sf_reg_list *to)
{
	struct sf_reg_cache *cache = &task_aes_gcm(task)->reg_cache;
	doca_error_t result = check_task(task, iv_is_right);

	if (result == DOCA_SUCCESS)
		result = sf_reg_source(cache, task->src, from);
	if (result == DOCA_SUCCESS)
		result = check_source_len(task, from->len);
	if (result == DOCA_SUCCESS)
		result = sf_reg_destination(cache, task->dst, output_len(task, from->len), to);
	return result;
}

doca_error_t aes_gcm_validate(const struct doca_task *base)
{
	const struct aes_gcm_task *task = (const struct aes_gcm_task *)base;
	struct sf_reg_list from, to;
	doca_error_t result = take_apart(task, iv_is_valid(task->iv, task->iv_len), &from, &to);

	return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* ---- data ---- */

/* Byte n of the source becomes byte n of the output; the tag follows. */
struct work {
	struct aes_gcm_task *task;
	struct aes_gcm_cipher *cipher;
	uint8_t *out;
	uint64_t at;	   /* the next byte of the source */
	uint64_t data_end; /* where the tag begins */
	bool failed;	   /* libcrypto reported an error */
};

static doca_error_t report_refusal(const struct aes_gcm_task *task)
{
	ERR_clear_error(); /* the program shares this error queue */
	SF_LOG_ERR("%s: libcrypto failed: does its configuration disable AES-GCM?", task_name(task));
	return DOCA_ERROR_DRIVER;
}

static doca_error_t work_begin(struct work *work)
{
	const struct aes_gcm_task *task = work->task;

	if (__builtin_expect(!aes_gcm_cipher_begin(work->cipher, task->encrypts, task->nonce, task->nonce_len), 0))
		return report_refusal(task);
	return DOCA_SUCCESS;
}

/* How many of the len bytes from at lie before end. */
static size_t part_before(uint64_t at, size_t len, uint64_t end)
{
	if (at >= end)
		return 0;
	return end - at < len ? (size_t)(end - at) : len;
}

/* Processes the next bytes of the source: AAD, data, tag. */
static void work_take(void *arg, const void *bytes, size_t len)
{
	struct work *work = arg;
	const uint8_t *from = bytes, *end = from + len;
	size_t part = part_before(work->at, len, work->task->aad_size);

	if (part != 0) {
		work->failed |= !aes_gcm_cipher_add_aad(work->cipher, from, part);
		memmove(work->out + work->at, from, part); /* they may overlap */
		work->at += part;
		from += part;
	}
	part = part_before(work->at, (size_t)(end - from), work->data_end);
	if (part != 0) {
		work->failed |= !aes_gcm_cipher_add_data(work->cipher, work->out + work->at, from, part);
		work->at += part;
		from += part;
	}
	if (from != end) {
		memcpy(work->task->tag + (work->at - work->data_end), from, (size_t)(end - from));
		work->at += (uint64_t)(end - from);
	}
}

/* Erases the decrypted bytes, which are not authentic. Untrusted input can cause this, so the log is rate-limited. */
static __attribute__((noinline)) doca_error_t reject_message(struct work *work)
{
	ERR_clear_error();
	OPENSSL_cleanse(work->out, work->data_end);
	SF_LOG_ERR_LIMITED("%s: the tag does not match: the message, AAD, IV or key differs from the one used to encrypt",
			   task_name(work->task));
	return DOCA_ERROR_IO_FAILED;
}

static doca_error_t work_end(struct work *work)
{
	struct aes_gcm_task *task = work->task;

	if (__builtin_expect(work->failed, 0))
		return report_refusal(task);
	if (task->encrypts)
		return aes_gcm_cipher_tag(work->cipher, work->out + work->data_end, task->tag_size) ? DOCA_SUCCESS
												    : report_refusal(task);
	if (__builtin_expect(!aes_gcm_cipher_check(work->cipher, task->tag, task->tag_size), 0))
		return reject_message(work);
	return DOCA_SUCCESS;
}

/* Returns whether the output may go to its destination while the source is read. Decrypted data may not before the tag is
 * checked; and libcrypto supports in-place operation but no other overlap. */
static bool is_direct(const struct aes_gcm_task *task, const uint8_t *out, const uint8_t *source, uint64_t source_len)
{
	uintptr_t from = (uintptr_t)source, to = (uintptr_t)out;

	return task->encrypts && (from == to || from >= to + source_len + task->tag_size || to >= from + source_len);
}

/* Has the page offset of the destination, which makes the later copy fastest. */
static uint8_t *thread_scratch(const struct doca_aes_gcm *aes_gcm, uint32_t thread, const uint8_t *to)
{
	return aes_gcm->scratch + thread * AES_GCM_SCRATCH_SIZE + (uintptr_t)to % AES_GCM_PAGE;
}

/* ---- on the ctx's thread ---- */

static struct work work_on_lists(struct aes_gcm_task *task, uint32_t thread, const struct sf_reg_list *from,
				 const struct sf_reg_list *to)
{
	struct work work = {.task = task, .cipher = &task->key->ciphers[thread], .data_end = from->len - source_tag(task)};
	bool is_plain = from->num == 1 && to->num == 1 && from->pieces[0].region == NULL && to->pieces[0].region == NULL;

	if (is_plain && is_direct(task, to->pieces[0].addr, from->pieces[0].addr, from->len))
		work.out = to->pieces[0].addr;
	else
		work.out = thread_scratch(task_aes_gcm(task), thread, to->num != 0 ? to->pieces[0].addr : NULL);
	return work;
}

/* Copies the output to its destination. */
static doca_error_t work_deliver(const struct work *work, const struct sf_reg_list *to)
{
	if (to->num == 1 && to->pieces[0].addr == work->out && to->pieces[0].region == NULL)
		return DOCA_SUCCESS;
	return sf_reg_write(to, work->out, to->len);
}

/* Processes one slice of any task. */
static __attribute__((noinline)) doca_error_t run_slice(struct aes_gcm_task *task)
{
	struct sf_reg_list from, to;

	if (task->done == AES_GCM_REFUSED)
		return task->base.status;

	doca_error_t result = take_apart(task, task->nonce_len != 0, &from, &to);

	if (result != DOCA_SUCCESS)
		return result;
	if (task->done > from.len) {
		SF_LOG_ERR("%s: the source became shorter while the task was in flight: do not change its buffers before the "
			   "callback",
			   task_name(task));
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct work work = work_on_lists(task, 0, &from, &to);
	uint64_t len = from.len - task->done < AES_GCM_SLICE ? from.len - task->done : AES_GCM_SLICE;

	if (task->done == 0)
		result = work_begin(&work);
	work.at = task->done;
	if (result == DOCA_SUCCESS)
		result = sf_reg_read(&from, task->done, len, work_take, &work);
	task->done += len;
	if (result != DOCA_SUCCESS || (task->done < from.len && !work.failed))
		return result != DOCA_SUCCESS ? result : DOCA_ERROR_IN_PROGRESS;
	result = work_end(&work);
	if (result == DOCA_SUCCESS)
		result = work_deliver(&work, &to);
	if (result == DOCA_SUCCESS)
		sf_reg_grow(task->dst, to.len);
	return result;
}

/* Returns whether this is a valid task that has not begun, from one buf to another, both in this process's memory. */
static inline bool is_simple(const struct doca_aes_gcm *aes_gcm, const struct aes_gcm_task *task)
{
	const struct doca_buf *src = task->src, *dst = task->dst;

	if (src == NULL || dst == NULL || !task->key_suits || src->next != NULL || dst->next != NULL || task->done != 0 ||
	    task->nonce_len == 0 || !tag_size_is_valid(task->tag_size))
		return false;

	const struct sf_reg *from = sf_reg_known(&aes_gcm->reg_cache, src->mmap),
			    *to = sf_reg_known(&aes_gcm->reg_cache, dst->mmap);
	size_t len = src->data_len;

	if (from == NULL || to == NULL || from->region != NULL || to->region != NULL || !to->writable || len > AES_GCM_SLICE ||
	    len < (uint64_t)task->aad_size + source_tag(task))
		return false;

	size_t out_len = (size_t)output_len(task, len);
	const uint8_t *end = dst->data + dst->data_len;

	return out_len <= (size_t)(dst->head + dst->len - end) && sf_reg_contains(from, src->data, len) &&
	       sf_reg_contains(to, end, out_len);
}

static doca_error_t aes_gcm_run(struct doca_task *base)
{
	struct aes_gcm_task *task = (struct aes_gcm_task *)base;
	struct doca_aes_gcm *aes_gcm = task_aes_gcm(task);

	if (__builtin_expect(!is_simple(aes_gcm, task), 0))
		return run_slice(task);

	const struct doca_buf *src = task->src;
	struct doca_buf *dst = task->dst;
	uint8_t *end = dst->data + dst->data_len;
	bool direct = is_direct(task, end, src->data, src->data_len);
	size_t out_len = (size_t)output_len(task, src->data_len);
	struct work work = {.task = task,
			    .cipher = &task->key->ciphers[0],
			    .out = direct ? end : thread_scratch(aes_gcm, 0, end),
			    .data_end = src->data_len - source_tag(task)};
	doca_error_t result = work_begin(&work);

	if (__builtin_expect(result != DOCA_SUCCESS, 0))
		return result;
	work_take(&work, src->data, src->data_len);
	result = work_end(&work);
	if (__builtin_expect(result != DOCA_SUCCESS, 0))
		return result;
	if (!direct)
		memcpy(end, work.out, out_len);
	dst->data_len += out_len;
	return DOCA_SUCCESS;
}

static doca_error_t aes_gcm_engine_done(struct doca_task *base, doca_error_t status)
{
	struct aes_gcm_engine_task *task = (struct aes_gcm_engine_task *)base;

	if (status == DOCA_SUCCESS)
		sf_reg_grow(task->common.dst, task->to.len);
	return status;
}

const struct sf_offload_ops aes_gcm_task_ops = {.run = aes_gcm_run, .engine_done = aes_gcm_engine_done};

/* ---- on the engine ---- */

static doca_error_t run_on_engine(struct doca_task *base, uint32_t part, uint32_t thread)
{
	struct aes_gcm_engine_task *task = (struct aes_gcm_engine_task *)base;
	struct work work = work_on_lists(&task->common, 1 + thread, &task->from, &task->to);
	doca_error_t result = work_begin(&work);

	(void)part; /* there is only one part: the tag depends on all bytes */
	if (result == DOCA_SUCCESS)
		result = sf_reg_read(&task->from, 0, task->from.len, work_take, &work);
	if (result == DOCA_SUCCESS)
		result = work_end(&work);
	return result == DOCA_SUCCESS ? work_deliver(&work, &task->to) : result;
}

/* ---- submit ---- */

static bool is_large(const struct aes_gcm_task *task)
{
	uint64_t len = 0;
	uint32_t num = 0;

	for (const struct doca_buf *buf = task->src; buf != NULL && num < AES_GCM_LIST_MAX && len < AES_GCM_ENGINE_MIN;
	     buf = buf->next, num++)
		len += buf->data_len;
	return len >= AES_GCM_ENGINE_MIN;
}

/* Passes the task to an engine thread unless it is invalid, which progress reports. */
static bool hand_over(struct doca_aes_gcm *aes_gcm, struct aes_gcm_engine_task *task)
{
	if (!is_large(&task->common))
		return false;
	task->common.base.status = take_apart(&task->common, task->common.nonce_len != 0, &task->from, &task->to);
	if (task->common.base.status != DOCA_SUCCESS) {
		task->common.done = AES_GCM_REFUSED;
		return false;
	}
	sf_offload_hand_over(&aes_gcm->offload, &task->job, &task->common.base, 1, run_on_engine);
	return true;
}

/* Handles unusual IV lengths. */
static __attribute__((noinline)) void keep_odd_iv(struct aes_gcm_task *task)
{
	task->nonce_len = 0;
	if (!iv_is_valid(task->iv, task->iv_len))
		return;
	memset(task->nonce, 0, sizeof(task->nonce));
	if (task->iv_len != 0)
		memcpy(task->nonce, task->iv, task->iv_len);
	task->nonce_len = task->iv_len != 0 ? task->iv_len : AES_GCM_IV_MAX;
}

doca_error_t aes_gcm_submit(struct doca_task *base, uint32_t flags)
{
	struct aes_gcm_task *task = (struct aes_gcm_task *)base;
	struct doca_aes_gcm *aes_gcm = task_aes_gcm(task);

	(void)flags;
	task->done = 0;
	if (__builtin_expect(task->iv_len != AES_GCM_IV_MAX || task->iv == NULL, 0)) {
		keep_odd_iv(task);
	} else {
		memcpy(task->nonce, task->iv, AES_GCM_IV_MAX);
		task->nonce_len = AES_GCM_IV_MAX;
	}
	if (aes_gcm->offload.engine != NULL && hand_over(aes_gcm, (struct aes_gcm_engine_task *)task))
		return DOCA_SUCCESS;
	sf_offload_queue(&aes_gcm->offload, base);
	return DOCA_SUCCESS;
}
