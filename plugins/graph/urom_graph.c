/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom_graph.h"

#include <string.h>

#include <doca_buf.h>
#include <doca_pe.h>

#include "graph_proto.h"

static uint64_t graph_id;

struct pending { /* stored in the task's 32 bytes */
	urom_graph_loopback_finished finished;
	union doca_data cookie;
};

doca_error_t urom_graph_init(uint64_t plugin_id, uint64_t version)
{
	if (version != GRAPH_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	graph_id = plugin_id;
	return DOCA_SUCCESS;
}

static doca_error_t read_answer(struct doca_urom_worker_cmd_task *task, struct graph_notification *answer)
{
	doca_error_t result = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);
	void *data;
	size_t len = 0;

	if (result != DOCA_SUCCESS)
		return result;
	if (response == NULL || doca_buf_get_data(response, &data) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(response, &len) != DOCA_SUCCESS || len != sizeof(*answer))
		return DOCA_ERROR_UNEXPECTED;
	memcpy(answer, data, sizeof(*answer));
	return DOCA_SUCCESS;
}

static void loopback_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct graph_notification answer = {0};
	struct pending pending;

	(void)task_user_data;
	(void)ctx_user_data;
	memcpy(&pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(pending));
	doca_error_t result = read_answer(task, &answer);
	(void)doca_urom_worker_cmd_task_release(task);
	pending.finished(result, pending.cookie, answer.value);
}

doca_error_t urom_graph_task_loopback(struct doca_urom_worker *worker, union doca_data cookie, uint64_t value,
				      urom_graph_loopback_finished finished)
{
	const struct graph_command command = {GRAPH_LOOPBACK, value};
	const struct pending pending = {finished, cookie};
	struct doca_urom_worker_cmd_task *task;
	void *place;

	if (finished == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	doca_error_t result = doca_urom_worker_cmd_task_allocate_init(worker, graph_id, &task);
	if (result != DOCA_SUCCESS)
		return result;
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	(void)doca_buf_get_data(payload, &place);
	memcpy(place, &command, sizeof(command));
	(void)doca_buf_set_data(payload, place, sizeof(command));
	memcpy(doca_urom_worker_cmd_task_get_user_data(task), &pending, sizeof(pending));
	doca_urom_worker_cmd_task_set_cb(task, loopback_done);
	result = doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
	if (result != DOCA_SUCCESS)
		(void)doca_urom_worker_cmd_task_release(task);
	return result;
}
