/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault_rig.h"

#include <stdio.h>
#include <string.h>

#include <doca_buf.h>

static void asked(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fault_ask *ask = (struct fault_ask *)task_user_data.ptr;
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);
	struct fault_answer answer = {0};
	void *data;

	(void)ctx_user_data;
	ask->status = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	if (response != NULL && doca_buf_get_data_len(response, &ask->size) == DOCA_SUCCESS && ask->size >= sizeof(answer) &&
	    doca_buf_get_data(response, &data) == DOCA_SUCCESS)
		memcpy(&answer, data, sizeof(answer));
	ask->value = answer.value;
	ask->done = 1;
	(void)doca_urom_worker_cmd_task_release(task);
}

doca_error_t fault_submit(struct urom_rig *rig, struct doca_urom_worker *worker, enum fault_what what, enum fault_where where,
			  struct fault_ask *ask)
{
	const struct fault_command command = {what, where};
	struct doca_urom_worker_cmd_task *task;
	void *data;
	doca_error_t result = doca_urom_worker_cmd_task_allocate_init(worker, urom_rig_plugin(rig, FAULT_PLUGIN), &task);

	if (result != DOCA_SUCCESS)
		return result;
	*ask = (struct fault_ask){0};
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	(void)doca_buf_get_data(payload, &data);
	memcpy(data, &command, sizeof(command));
	(void)doca_buf_set_data(payload, data, sizeof(command));
	doca_urom_worker_cmd_task_set_cb(task, asked);
	doca_task_set_user_data(doca_urom_worker_cmd_task_as_task(task), (union doca_data){.ptr = ask});
	result = doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
	if (result != DOCA_SUCCESS)
		(void)doca_urom_worker_cmd_task_release(task);
	return result;
}

doca_error_t fault_ask(struct urom_rig *rig, struct doca_urom_worker *worker, enum fault_what what, enum fault_where where,
		       uint64_t *value)
{
	struct fault_ask ask;
	doca_error_t result = fault_submit(rig, worker, what, where, &ask);

	if (result != DOCA_SUCCESS)
		return result;
	if (!urom_rig_await_flag(rig, &ask.done))
		return DOCA_ERROR_TIME_OUT;
	if (value != NULL)
		*value = ask.value;
	return ask.status;
}

struct doca_urom_worker *fault_worker(struct urom_rig *rig, const char *at)
{
	struct doca_urom_worker *worker = urom_rig_worker(rig, DOCA_UROM_WORKER_ID_ANY, FAULT_PLUGIN);
	char variable[64];
	char *env[] = {variable};

	snprintf(variable, sizeof(variable), FAULT_ENV "=%s", at != NULL ? at : "");
	if (worker == NULL || doca_urom_worker_set_env(worker, env, 1) != DOCA_SUCCESS)
		return NULL;
	if (urom_rig_start_worker(rig, worker))
		return worker;
	(void)fault_await_end(rig, worker);
	return NULL;
}

bool fault_await_end(struct urom_rig *rig, struct doca_urom_worker *worker)
{
	return urom_rig_await(rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE) &&
	       doca_urom_worker_destroy(worker) == DOCA_SUCCESS;
}
