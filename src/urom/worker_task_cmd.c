/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that takes a command to a plugin. */
#include "urom/worker_task_cmd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log_rate.h"
#include "urom/check.h"
#include "urom/worker.h"

typedef struct doca_urom_worker_cmd_task cmd_task;

/* The body of a command: this and the payload, sent together. */
#define HEADER_SIZE sizeof(struct urom_worker_cmd)

_Static_assert(HEADER_SIZE == 24 && sizeof(struct urom_worker_notify) == 32, "both go over the wire as they lie in memory");

static cmd_task *task_at(const struct doca_urom_worker *worker, uint32_t index)
{
	return (cmd_task *)(void *)((char *)worker->pool.memory + index * worker->pool.slot_built);
}

/* Each holds a header and payload, and a response of the largest message. */
static size_t slot_size(const struct doca_urom_worker *worker)
{
	return (2 * (worker->message_max + HEADER_SIZE) + 63) & ~(size_t)63;
}

static uint8_t *command_of(const struct doca_urom_worker *worker, uint32_t index)
{
	return worker->payloads + index * slot_size(worker);
}

static void reset_buf(struct doca_buf *buf, uint8_t *memory, size_t len)
{
	*buf = (struct doca_buf){
		.head = memory, .len = len, .data = memory, .data_len = len, .list_len = 1, .refcount = UINT16_MAX / 2};
	buf->first = buf->last = buf;
}

doca_error_t urom_cmd_tasks_prepare(struct doca_urom_worker *worker)
{
	worker->payloads = (uint8_t *)calloc(worker->max_inflight, slot_size(worker));
	if (worker->payloads == NULL) {
		SF_LOG_ERR("urom worker: no memory for %u commands of %zu bytes", worker->max_inflight, worker->message_max);
		return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

/* ---- submit ---- */

static doca_error_t command_check(const struct doca_urom_worker *worker, const cmd_task *task)
{
	if (task->cb == NULL) {
		SF_LOG_ERR("urom command: the task has no callback");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (__builtin_popcountll(task->plugin) != 1 || (task->plugin & worker->plugins) == 0) {
		SF_LOG_ERR("urom command: plugin 0x%llx is not loaded in the worker: add it by doca_urom_worker_set_plugins",
			   (unsigned long long)task->plugin);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (task->payload.data_len > worker->message_max - HEADER_SIZE) {
		SF_LOG_ERR("urom command: %zu bytes and a header of %zu, messages hold %zu: raise "
			   "doca_urom_service_set_max_comm_msg_size",
			   task->payload.data_len, HEADER_SIZE, worker->message_max);
		return DOCA_ERROR_TOO_BIG;
	}
	return DOCA_SUCCESS;
}

static doca_error_t command_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)base->ctx;
	cmd_task *task = (cmd_task *)base;
	const struct urom_head head = urom_head_make(UROM_COMMAND, DOCA_SUCCESS, 0, worker->id);
	struct urom_worker_cmd *command = (struct urom_worker_cmd *)(void *)command_of(worker, task->index);

	(void)flags;
	doca_error_t result = command_check(worker, task);
	if (result != DOCA_SUCCESS)
		return result;
	if (worker->phase != UROM_WORKER_ON)
		return DOCA_ERROR_NOT_CONNECTED;
	command->type = task->plugin;
	command->urom_context = (uint64_t)++task->number << 32 | task->index;
	command->len = task->payload.data_len;
	if (task->payload.data != command->plugin_cmd) /* otherwise packed in place */
		memmove(command->plugin_cmd, task->payload.data, task->payload.data_len);
	task->has_response = false;
	return sf_comm_send(worker->comm, worker->peer, &head, sizeof(head), command, HEADER_SIZE + task->payload.data_len);
}

const struct sf_task_class urom_cmd_task_class = {
	.name = "urom command",
	.size = sizeof(cmd_task),
	.may_wait = true,
	.submit = command_submit,
};

/* ---- the end ---- */

void urom_cmd_task_done(struct doca_task *base, union doca_data task_user_data, union doca_data ctx_user_data)
{
	cmd_task *task = (cmd_task *)base;

	task->cb(task, task_user_data, ctx_user_data);
}

/* NULL: the notification matches no command in flight. */
static cmd_task *find_task(const struct doca_urom_worker *worker, uint64_t urom_context)
{
	uint32_t index = (uint32_t)urom_context, number = (uint32_t)(urom_context >> 32);

	if (index >= worker->pool.num_begun)
		return NULL;
	cmd_task *task = task_at(worker, index);
	return task->number == number && sf_task_is_inflight(&task->base) ? task : NULL;
}

void urom_cmd_task_answered(struct doca_urom_worker *worker, const void *body, size_t len)
{
	struct urom_worker_notify notify;
	cmd_task *task = NULL;

	if (len >= sizeof(notify)) {
		memcpy(&notify, body, sizeof(notify));
		task = find_task(worker, notify.urom_context);
	}
	if (task == NULL || notify.type != task->plugin || notify.len > len - sizeof(notify)) {
		SF_LOG_WARN_LIMITED(
			"urom worker %llu: a notification of %zu bytes answers no command: its plugin must repeat the "
			"command's type and urom_context, and set its length",
			(unsigned long long)worker->id, len);
		return;
	}
	uint8_t *response = command_of(worker, task->index) + worker->message_max + HEADER_SIZE;
	memcpy(response, (const uint8_t *)body + sizeof(notify), notify.len);
	reset_buf(&task->response, response, notify.len);
	task->has_response = true;
	bool is_status = (uint32_t)notify.status <= UROM_STATUS_MAX;
	sf_task_complete(&task->base, is_status ? notify.status : DOCA_ERROR_UNEXPECTED);
}

void urom_cmd_tasks_fail(struct doca_urom_worker *worker, doca_error_t status)
{
	for (uint32_t i = worker->pool.num_begun; i > 0; i--) {
		struct doca_task *task = &task_at(worker, i - 1)->base;

		if (!sf_task_is_inflight(task))
			continue;
		assert(task->ctx == &worker->ctx);
		task->status = status;
		task->next = worker->ended;
		worker->ended = task;
	}
}

bool urom_cmd_tasks_complete(struct doca_urom_worker *worker)
{
	struct doca_task *task = worker->ended;

	worker->ended = NULL;
	for (struct doca_task *next; task != NULL; task = next) {
		next = task->next;
		sf_task_complete(task, task->status);
	}
	return true;
}

/* ---- public ---- */

doca_error_t doca_urom_worker_cmd_task_allocate(struct doca_urom_worker *worker, cmd_task **task)
{
	struct doca_task *base;

	if (worker == NULL || task == NULL)
		return urom_check_given(NULL, worker == NULL ? "worker" : "task");
	doca_error_t result = sf_task_alloc(&worker->ctx, &worker->pool, &base);
	if (result != DOCA_SUCCESS)
		return result;
	cmd_task *taken = (cmd_task *)base;
	taken->index = (uint32_t)(((char *)base - (char *)worker->pool.memory) / worker->pool.slot_built);
	assert(taken->index < worker->max_inflight);
	taken->cb = NULL;
	taken->plugin = 0;
	taken->has_response = false;
	reset_buf(&taken->payload, command_of(worker, taken->index) + HEADER_SIZE, worker->message_max);
	memset(taken->user_data, 0, sizeof(taken->user_data));
	*task = taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_worker_cmd_task_allocate_init(struct doca_urom_worker *worker, uint64_t plugin, cmd_task **task)
{
	doca_error_t result = doca_urom_worker_cmd_task_allocate(worker, task);

	if (result == DOCA_SUCCESS)
		(*task)->plugin = plugin;
	return result;
}

doca_error_t doca_urom_worker_cmd_task_release(cmd_task *task)
{
	if (task == NULL || task->base.state != SF_TASK_ALLOCATED) {
		SF_LOG_ERR("urom command: %s", task == NULL ? "task is NULL" : "the task is in flight or already released");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	doca_task_free(&task->base);
	return DOCA_SUCCESS;
}

void doca_urom_worker_cmd_task_set_plugin(cmd_task *task, uint64_t plugin)
{
	if (task != NULL)
		task->plugin = plugin;
}

void doca_urom_worker_cmd_task_set_cb(cmd_task *task, doca_urom_worker_cmd_task_completion_cb_t cb)
{
	if (task != NULL)
		task->cb = cb;
}

struct doca_buf *doca_urom_worker_cmd_task_get_payload(cmd_task *task)
{
	return task != NULL ? &task->payload : NULL;
}

struct doca_buf *doca_urom_worker_cmd_task_get_response(cmd_task *task)
{
	return task != NULL && task->has_response ? &task->response : NULL;
}

void *doca_urom_worker_cmd_task_get_user_data(cmd_task *task)
{
	return task != NULL ? task->user_data : NULL;
}

struct doca_task *doca_urom_worker_cmd_task_as_task(cmd_task *task)
{
	return task != NULL ? &task->base : NULL;
}
