/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom_sandbox.h"

#include <stddef.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_pe.h>

#include "sandbox_proto.h"

/* Bytes of headers that precede the data in a message of the channel. */
#define SEND_HEAD (sizeof(struct urom_worker_cmd) + sizeof(struct sandbox_command))
#define RECEIVE_HEAD (sizeof(struct urom_worker_notify) + sizeof(struct sandbox_notification))

static uint64_t sandbox_id;

struct pending { /* stored in the task's 32 bytes */
	union {
		urom_sandbox_send_finished send;
		urom_sandbox_receive_finished receive;
	} finished;
	union doca_data cookie;
};

doca_error_t urom_sandbox_init(uint64_t plugin_id, uint64_t version)
{
	if (version != SANDBOX_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	sandbox_id = plugin_id;
	return DOCA_SUCCESS;
}

/* ---- commands ---- */

/* *place: where the command must be written; *message_max: the channel's largest message. */
static doca_error_t command_begin(struct doca_urom_worker *worker, const struct pending *pending,
				  struct doca_urom_worker_cmd_task **task, void **place, size_t *message_max)
{
	doca_error_t result = doca_urom_worker_cmd_task_allocate_init(worker, sandbox_id, task);

	if (result != DOCA_SUCCESS)
		return result;
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(*task);
	(void)doca_buf_get_data(payload, place);
	(void)doca_buf_get_data_len(payload, message_max);
	memcpy(doca_urom_worker_cmd_task_get_user_data(*task), pending, sizeof(*pending));
	return DOCA_SUCCESS;
}

static doca_error_t command_submit(struct doca_urom_worker_cmd_task *task, void *place, size_t len,
				   doca_urom_worker_cmd_task_completion_cb_t done)
{
	(void)doca_buf_set_data(doca_urom_worker_cmd_task_get_payload(task), place, len);
	doca_urom_worker_cmd_task_set_cb(task, done);
	doca_error_t result = doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
	if (result != DOCA_SUCCESS)
		(void)doca_urom_worker_cmd_task_release(task);
	return result;
}

/* *data: the payload of the answer, owned by the task. */
static doca_error_t read_answer(struct doca_urom_worker_cmd_task *task, struct sandbox_notification *head, const void **data)
{
	doca_error_t result = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);
	void *bytes;
	size_t len = 0;

	if (result != DOCA_SUCCESS)
		return result;
	if (response == NULL || doca_buf_get_data(response, &bytes) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(response, &len) != DOCA_SUCCESS || len < sizeof(*head))
		return DOCA_ERROR_UNEXPECTED;
	memcpy(head, bytes, sizeof(*head));
	if (head->len != len - sizeof(*head))
		return DOCA_ERROR_UNEXPECTED;
	*data = (const uint8_t *)bytes + sizeof(*head);
	return DOCA_SUCCESS;
}

/* ---- send ---- */

static void send_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct sandbox_notification head;
	struct pending pending;
	const void *data;

	(void)task_user_data;
	(void)ctx_user_data;
	memcpy(&pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(pending));
	doca_error_t result = read_answer(task, &head, &data);
	(void)doca_urom_worker_cmd_task_release(task);
	pending.finished.send(result, pending.cookie);
}

doca_error_t urom_sandbox_task_send(struct doca_urom_worker *worker, union doca_data cookie, uint64_t peer, uint64_t tag,
				    const void *data, size_t len, urom_sandbox_send_finished finished)
{
	const struct sandbox_command command = {.type = SANDBOX_SEND, .peer = peer, .tag = tag, .len = len};
	const struct pending pending = {{.send = finished}, cookie};
	struct doca_urom_worker_cmd_task *task;
	void *place;
	size_t message_max;

	if (finished == NULL || (data == NULL && len != 0))
		return DOCA_ERROR_INVALID_VALUE;
	doca_error_t result = command_begin(worker, &pending, &task, &place, &message_max);
	if (result != DOCA_SUCCESS)
		return result;
	if (message_max < SEND_HEAD || len > message_max - SEND_HEAD) {
		(void)doca_urom_worker_cmd_task_release(task);
		return DOCA_ERROR_TOO_BIG;
	}
	memcpy(place, &command, sizeof(command));
	if (len != 0)
		memcpy((uint8_t *)place + sizeof(command), data, len);
	return command_submit(task, place, sizeof(command) + len, send_done);
}

/* ---- receive ---- */

static void receive_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct sandbox_notification head = {0};
	struct pending pending;
	const void *data = NULL;

	(void)task_user_data;
	(void)ctx_user_data;
	memcpy(&pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(pending));
	doca_error_t result = read_answer(task, &head, &data);
	pending.finished.receive(result, pending.cookie, data, result == DOCA_SUCCESS ? head.len : 0, head.tag);
	(void)doca_urom_worker_cmd_task_release(task); /* after the callback, which reads the data in it */
}

doca_error_t urom_sandbox_task_receive(struct doca_urom_worker *worker, union doca_data cookie, uint64_t tag, uint64_t tag_mask,
				       size_t len_max, urom_sandbox_receive_finished finished)
{
	const struct sandbox_command command = {.type = SANDBOX_RECEIVE, .tag = tag, .tag_mask = tag_mask, .len = len_max};
	const struct pending pending = {{.receive = finished}, cookie};
	struct doca_urom_worker_cmd_task *task;
	void *place;
	size_t message_max;

	if (finished == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	doca_error_t result = command_begin(worker, &pending, &task, &place, &message_max);
	if (result != DOCA_SUCCESS)
		return result;
	if (message_max < RECEIVE_HEAD || len_max > message_max - RECEIVE_HEAD) {
		(void)doca_urom_worker_cmd_task_release(task);
		return DOCA_ERROR_TOO_BIG;
	}
	memcpy(place, &command, sizeof(command));
	return command_submit(task, place, sizeof(command), receive_done);
}
