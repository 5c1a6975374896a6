/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_pe.h>

#include "rdmo_proto.h"
#include "urom_rdmo.h"

static uint64_t rdmo_id;

struct pending { /* stored in the task's 32 bytes */
	union {
		urom_rdmo_client_init_finished client_init;
		urom_rdmo_finished other;
	} finished;
	union doca_data cookie;
};

doca_error_t urom_rdmo_init(uint64_t plugin_id, uint64_t version)
{
	if (version != RDMO_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	rdmo_id = plugin_id;
	return DOCA_SUCCESS;
}

static doca_error_t command_submit(struct doca_urom_worker *worker, struct rdmo_command *command, const void *blob,
				   uint64_t blob_len, const struct pending *pending,
				   doca_urom_worker_cmd_task_completion_cb_t done)
{
	struct doca_urom_worker_cmd_task *task;
	void *place;
	size_t room;

	if (pending->finished.other == NULL || (blob == NULL && blob_len != 0))
		return DOCA_ERROR_INVALID_VALUE;
	doca_error_t result = doca_urom_worker_cmd_task_allocate_init(worker, rdmo_id, &task);
	if (result != DOCA_SUCCESS)
		return result;
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	(void)doca_buf_get_data(payload, &place);
	(void)doca_buf_get_data_len(payload, &room);
	result = DOCA_ERROR_TOO_BIG;
	if (room >= sizeof(*command) && blob_len <= room - sizeof(*command)) {
		command->blob_len = blob_len;
		memcpy(place, command, sizeof(*command));
		if (blob_len != 0)
			memcpy((uint8_t *)place + sizeof(*command), blob, blob_len);
		(void)doca_buf_set_data(payload, place, sizeof(*command) + blob_len);
		memcpy(doca_urom_worker_cmd_task_get_user_data(task), pending, sizeof(*pending));
		doca_urom_worker_cmd_task_set_cb(task, done);
		result = doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
	}
	if (result != DOCA_SUCCESS)
		(void)doca_urom_worker_cmd_task_release(task);
	return result;
}

static doca_error_t read_answer(struct doca_urom_worker_cmd_task *task, struct pending *pending, struct rdmo_notification *head,
				const void **blob)
{
	doca_error_t result = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);
	void *data;
	size_t len = 0;

	memcpy(pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(*pending));
	if (result != DOCA_SUCCESS)
		return result;
	if (response == NULL || doca_buf_get_data(response, &data) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(response, &len) != DOCA_SUCCESS || len < sizeof(*head))
		return DOCA_ERROR_UNEXPECTED;
	memcpy(head, data, sizeof(*head));
	*blob = (const uint8_t *)data + sizeof(*head);
	return head->blob_len == len - sizeof(*head) ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

static void client_init_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data,
			     union doca_data ctx_user_data)
{
	struct rdmo_notification head = {0};
	struct pending pending;
	const void *blob = NULL;

	(void)task_user_data;
	(void)ctx_user_data;
	doca_error_t result = read_answer(task, &pending, &head, &blob);
	bool good = result == DOCA_SUCCESS;
	pending.finished.client_init(result, pending.cookie, good ? blob : NULL, good ? head.blob_len : 0);
	(void)doca_urom_worker_cmd_task_release(task); /* after the callback, which reads the address in it */
}

static void other_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct rdmo_notification head = {0};
	struct pending pending;
	const void *blob = NULL;

	(void)task_user_data;
	(void)ctx_user_data;
	doca_error_t result = read_answer(task, &pending, &head, &blob);
	(void)doca_urom_worker_cmd_task_release(task);
	pending.finished.other(result, pending.cookie, head.number);
}

doca_error_t urom_rdmo_task_client_init(struct doca_urom_worker *worker, union doca_data cookie, uint64_t id, const void *addr,
					uint64_t addr_len, urom_rdmo_client_init_finished finished)
{
	struct rdmo_command command = {.type = RDMO_CLIENT_INIT, .number = id};
	const struct pending pending = {{.client_init = finished}, cookie};

	return command_submit(worker, &command, addr, addr_len, &pending, client_init_done);
}

doca_error_t urom_rdmo_task_rq_create(struct doca_urom_worker *worker, union doca_data cookie, const void *addr,
				      uint64_t addr_len, urom_rdmo_finished finished)
{
	struct rdmo_command command = {.type = RDMO_RQ_CREATE};
	const struct pending pending = {{.other = finished}, cookie};

	return command_submit(worker, &command, addr, addr_len, &pending, other_done);
}

doca_error_t urom_rdmo_task_rq_destroy(struct doca_urom_worker *worker, union doca_data cookie, uint64_t queue,
				       urom_rdmo_finished finished)
{
	struct rdmo_command command = {.type = RDMO_RQ_DESTROY, .number = queue};
	const struct pending pending = {{.other = finished}, cookie};

	return command_submit(worker, &command, NULL, 0, &pending, other_done);
}

doca_error_t urom_rdmo_task_mr_register(struct doca_urom_worker *worker, union doca_data cookie, uint64_t va, uint64_t len,
					const void *rkey, uint64_t rkey_len, urom_rdmo_finished finished)
{
	struct rdmo_command command = {.type = RDMO_MR_REGISTER, .va = va, .len = len};
	const struct pending pending = {{.other = finished}, cookie};

	return command_submit(worker, &command, rkey, rkey_len, &pending, other_done);
}

doca_error_t urom_rdmo_task_mr_deregister(struct doca_urom_worker *worker, union doca_data cookie, uint64_t region,
					  urom_rdmo_finished finished)
{
	struct rdmo_command command = {.type = RDMO_MR_DEREGISTER, .number = region};
	const struct pending pending = {{.other = finished}, cookie};

	return command_submit(worker, &command, NULL, 0, &pending, other_done);
}
