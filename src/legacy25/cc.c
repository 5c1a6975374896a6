/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch of 2.5, which was called CC: sizes are size_t, numbers of tasks are powers of two. */
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "comch/sized.h"
#include "legacy25/legacy25.h"

#define LOG_TASKS_MAX 31 /* the maximum of a uint32_t; devices allow less */

/* ---- sizes ---- */

/* A size that is too large for today's type is too large for any device. */
static doca_error_t value_narrow(const char *function, size_t size, uint32_t *narrowed)
{
	if (size > UINT32_MAX) {
		SF_LOG_ERR("%s: %zu exceeds the limit of every device", function, size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*narrowed = (uint32_t)size;
	return DOCA_SUCCESS;
}

static doca_error_t num_of_tasks(const char *function, size_t log_num, uint32_t *num)
{
	if (log_num > LOG_TASKS_MAX) {
		SF_LOG_ERR("%s: 2^%zu tasks exceed the limit of every device", function, log_num);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*num = UINT32_C(1) << log_num;
	return DOCA_SUCCESS;
}

static size_t log_of(uint32_t num)
{
	size_t log_num = 0;

	while (num > 1) {
		num >>= 1;
		log_num++;
	}
	return log_num;
}

typedef doca_error_t (*cap)(const struct doca_devinfo *devinfo, uint32_t *value);

static doca_error_t cap_ask(const char *function, cap ask_today, const struct doca_devinfo *devinfo, size_t *value)
{
	uint32_t answer;
	doca_error_t result = legacy_check(function, devinfo, value);

	if (result == DOCA_SUCCESS)
		result = ask_today(devinfo, &answer);
	if (result == DOCA_SUCCESS)
		*value = answer;
	return result;
}

static doca_error_t ask_log(const char *function, cap ask_today, const struct doca_devinfo *devinfo, size_t *log_value)
{
	doca_error_t result = cap_ask(function, ask_today, devinfo, log_value);

	if (result == DOCA_SUCCESS)
		*log_value = log_of((uint32_t)*log_value);
	return result;
}

/* ---- capabilities ---- */

LEGACY_API doca_error_t doca_2_5_cc_cap_get_max_msg_size(const struct doca_devinfo *devinfo, size_t *value)
{
	return cap_ask("doca_cc_cap_get_max_msg_size", doca_comch_cap_get_max_msg_size, devinfo, value);
}

LEGACY_API doca_error_t doca_2_5_cc_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, size_t *value)
{
	return cap_ask("doca_cc_cap_get_max_recv_queue_size", doca_comch_cap_get_max_recv_queue_size, devinfo, value);
}

LEGACY_API doca_error_t doca_2_5_cc_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, size_t *value)
{
	return cap_ask("doca_cc_cap_get_max_send_tasks", doca_comch_cap_get_max_send_tasks, devinfo, value);
}

LEGACY_API doca_error_t doca_2_5_cc_cap_get_max_clients(const struct doca_devinfo *devinfo, size_t *value)
{
	return cap_ask("doca_cc_cap_get_max_clients", doca_comch_cap_get_max_clients, devinfo, value);
}

LEGACY_API doca_error_t doca_2_5_cc_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, size_t *value)
{
	return cap_ask("doca_cc_consumer_cap_get_max_buf_size", doca_comch_consumer_cap_get_max_buf_size, devinfo, value);
}

LEGACY_API doca_error_t doca_2_5_cc_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, size_t *value)
{
	return cap_ask("doca_cc_producer_cap_get_max_buf_size", doca_comch_producer_cap_get_max_buf_size, devinfo, value);
}

LEGACY_API doca_error_t doca_2_5_cc_consumer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo, size_t *value)
{
	return ask_log("doca_cc_consumer_cap_get_max_log_num_tasks", doca_comch_consumer_cap_get_max_num_tasks, devinfo, value);
}

LEGACY_API doca_error_t doca_2_5_cc_producer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo, size_t *value)
{
	return ask_log("doca_cc_producer_cap_get_max_log_num_tasks", doca_comch_producer_cap_get_max_num_tasks, devinfo, value);
}

/* ---- servers and clients ---- */

LEGACY_API doca_error_t doca_2_5_cc_server_set_max_msg_size(struct doca_comch_server *server, size_t size)
{
	uint32_t narrowed;
	doca_error_t result = value_narrow("doca_cc_server_set_max_msg_size", size, &narrowed);

	return result == DOCA_SUCCESS ? doca_comch_server_set_max_msg_size(server, narrowed) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_server_get_max_msg_size(const struct doca_comch_server *server, size_t *size)
{
	uint32_t answer;
	doca_error_t result = legacy_check("doca_cc_server_get_max_msg_size", server, size);

	if (result == DOCA_SUCCESS)
		result = doca_comch_server_get_max_msg_size(server, &answer);
	if (result == DOCA_SUCCESS)
		*size = answer;
	return result;
}

LEGACY_API doca_error_t doca_2_5_cc_server_set_recv_queue_size(struct doca_comch_server *server, size_t size)
{
	uint32_t narrowed;
	doca_error_t result = value_narrow("doca_cc_server_set_recv_queue_size", size, &narrowed);

	return result == DOCA_SUCCESS ? doca_comch_server_set_recv_queue_size(server, narrowed) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_server_get_recv_queue_size(const struct doca_comch_server *server, size_t *size)
{
	uint32_t answer;
	doca_error_t result = legacy_check("doca_cc_server_get_recv_queue_size", server, size);

	if (result == DOCA_SUCCESS)
		result = doca_comch_server_get_recv_queue_size(server, &answer);
	if (result == DOCA_SUCCESS)
		*size = answer;
	return result;
}

LEGACY_API doca_error_t doca_2_5_cc_server_send_task_set_conf(struct doca_comch_server *server,
							      doca_comch_task_send_completion_cb_t completed,
							      doca_comch_task_send_completion_cb_t failed, uint8_t log_num_tasks)
{
	uint32_t num;
	doca_error_t result = num_of_tasks("doca_cc_server_send_task_set_conf", log_num_tasks, &num);

	return result == DOCA_SUCCESS ? doca_comch_server_task_send_set_conf(server, completed, failed, num) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_server_send_task_alloc_init(struct doca_comch_server *server,
								struct doca_comch_connection *peer, const void *msg, size_t len,
								struct doca_comch_task_send **task)
{
	uint32_t narrowed;
	doca_error_t result = value_narrow("doca_cc_server_send_task_alloc_init", len, &narrowed);

	return result == DOCA_SUCCESS ? doca_comch_server_task_send_alloc_init(server, peer, msg, narrowed, task) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_server_event_msg_recv_register(struct doca_comch_server *server, sf_comch_recv_cb callback)
{
	return sf_comch_server_recv_register(server, callback);
}

LEGACY_API doca_error_t doca_2_5_cc_client_set_max_msg_size(struct doca_comch_client *client, size_t size)
{
	uint32_t narrowed;
	doca_error_t result = value_narrow("doca_cc_client_set_max_msg_size", size, &narrowed);

	return result == DOCA_SUCCESS ? doca_comch_client_set_max_msg_size(client, narrowed) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_client_get_max_msg_size(const struct doca_comch_client *client, size_t *size)
{
	uint32_t answer;
	doca_error_t result = legacy_check("doca_cc_client_get_max_msg_size", client, size);

	if (result == DOCA_SUCCESS)
		result = doca_comch_client_get_max_msg_size(client, &answer);
	if (result == DOCA_SUCCESS)
		*size = answer;
	return result;
}

LEGACY_API doca_error_t doca_2_5_cc_client_set_recv_queue_size(struct doca_comch_client *client, size_t size)
{
	uint32_t narrowed;
	doca_error_t result = value_narrow("doca_cc_client_set_recv_queue_size", size, &narrowed);

	return result == DOCA_SUCCESS ? doca_comch_client_set_recv_queue_size(client, narrowed) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_client_get_recv_queue_size(const struct doca_comch_client *client, size_t *size)
{
	uint32_t answer;
	doca_error_t result = legacy_check("doca_cc_client_get_recv_queue_size", client, size);

	if (result == DOCA_SUCCESS)
		result = doca_comch_client_get_recv_queue_size(client, &answer);
	if (result == DOCA_SUCCESS)
		*size = answer;
	return result;
}

LEGACY_API doca_error_t doca_2_5_cc_client_send_task_set_conf(struct doca_comch_client *client,
							      doca_comch_task_send_completion_cb_t completed,
							      doca_comch_task_send_completion_cb_t failed, uint8_t log_num_tasks)
{
	uint32_t num;
	doca_error_t result = num_of_tasks("doca_cc_client_send_task_set_conf", log_num_tasks, &num);

	return result == DOCA_SUCCESS ? doca_comch_client_task_send_set_conf(client, completed, failed, num) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_client_send_task_alloc_init(struct doca_comch_client *client,
								struct doca_comch_connection *peer, const void *msg, size_t len,
								struct doca_comch_task_send **task)
{
	uint32_t narrowed;
	doca_error_t result = value_narrow("doca_cc_client_send_task_alloc_init", len, &narrowed);

	return result == DOCA_SUCCESS ? doca_comch_client_task_send_alloc_init(client, peer, msg, narrowed, task) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_client_event_msg_recv_register(struct doca_comch_client *client, sf_comch_recv_cb callback)
{
	return sf_comch_client_recv_register(client, callback);
}

/* ---- producers and consumers ---- */

LEGACY_API doca_error_t doca_2_5_cc_consumer_post_recv_task_set_conf(struct doca_comch_consumer *consumer,
								     doca_comch_consumer_task_post_recv_completion_cb_t completed,
								     doca_comch_consumer_task_post_recv_completion_cb_t failed,
								     size_t log_num_tasks)
{
	uint32_t num;
	doca_error_t result = num_of_tasks("doca_cc_consumer_post_recv_task_set_conf", log_num_tasks, &num);

	return result == DOCA_SUCCESS ? doca_comch_consumer_task_post_recv_set_conf(consumer, completed, failed, num) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_producer_send_task_set_conf(struct doca_comch_producer *producer,
								doca_comch_producer_task_send_completion_cb_t completed,
								doca_comch_producer_task_send_completion_cb_t failed,
								size_t log_num_tasks)
{
	uint32_t num;
	doca_error_t result = num_of_tasks("doca_cc_producer_send_task_set_conf", log_num_tasks, &num);

	return result == DOCA_SUCCESS ? doca_comch_producer_task_send_set_conf(producer, completed, failed, num) : result;
}

LEGACY_API doca_error_t doca_2_5_cc_producer_send_task_alloc_init(struct doca_comch_producer *producer, struct doca_buf *buf,
								  int consumer_id, struct doca_comch_producer_task_send **task)
{
	return doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, (uint32_t)consumer_id, task);
}
