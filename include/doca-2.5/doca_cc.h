/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_cc.h
 * @brief Servers, clients and control messages: today's Comch, by its names in DOCA 2.5.
 *
 * The objects are Comch's (doca_comch.h describes their behaviour): a server here and a Comch client of the same name can
 * connect. Unlike today, sizes are size_t, and numbers of tasks are passed as powers of two.
 */
#ifndef DOCA_2_5_CC_H_
#define DOCA_2_5_CC_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;

/** One client connected to one server. Made and freed by the library. */
struct doca_cc_connection;

/** A server, on the DPU. Opaque. */
struct doca_cc_server;

/** A client, on the host. Opaque. */
struct doca_cc_client;

/** A task that sends a control message. Opaque. */
struct doca_cc_send_task;

/** A message has arrived. Opaque. */
struct doca_cc_event_msg_recv;

/** A client has connected or left. Opaque. */
struct doca_cc_event_connection_status_changed;

/** The peer has started or stopped a consumer. Opaque. */
struct doca_cc_event_consumer;

/* ---- connections ---- */

/** Today doca_comch_connection_set_user_data(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_set_user_data(struct doca_cc_connection *connection, union doca_data user_data)
	DOCA_2_5_SYMBOL(doca_comch_connection_set_user_data);

/** Today doca_comch_connection_get_user_data(). */
DOCA_EXPERIMENTAL
union doca_data doca_cc_connection_get_user_data(const struct doca_cc_connection *connection)
	DOCA_2_5_SYMBOL(doca_comch_connection_get_user_data);

/** Today doca_comch_server_get_server_ctx(). */
DOCA_EXPERIMENTAL
struct doca_cc_server *doca_cc_server_get_server_ctx(const struct doca_cc_connection *connection)
	DOCA_2_5_SYMBOL(doca_comch_server_get_server_ctx);

/** Today doca_comch_client_get_client_ctx(). */
DOCA_EXPERIMENTAL
struct doca_cc_client *doca_cc_client_get_client_ctx(const struct doca_cc_connection *connection)
	DOCA_2_5_SYMBOL(doca_comch_client_get_client_ctx);

/** What a connection counts. */
enum doca_cc_counter {
	DOCA_CC_COUNTER_SENT_MESSAGES = 1, /**< messages sent */
	DOCA_CC_COUNTER_SENT_BYTES = 2,	   /**< their bytes */
	DOCA_CC_COUNTER_RECV_MESSAGES = 3, /**< messages received */
	DOCA_CC_COUNTER_RECV_BYTES = 4,	   /**< their bytes */
};

/** Today doca_comch_connection_update_info(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_update_info(struct doca_cc_connection *cc_connection)
	DOCA_2_5_SYMBOL(doca_comch_connection_update_info);

/** Today doca_comch_connection_get_counter(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_get_counter(const struct doca_cc_connection *cc_connection, enum doca_cc_counter counter_type,
					    uint64_t *counter_value) DOCA_2_5_SYMBOL(doca_comch_connection_get_counter);

/* ---- what a device can do ---- */

/** Today doca_comch_cap_get_max_name_len(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len)
	DOCA_2_5_SYMBOL(doca_comch_cap_get_max_name_len);

/** Bytes of the longest message that can be configured. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_msg_size(const struct doca_devinfo *devinfo, size_t *size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_cap_get_max_msg_size);

/** Messages that a queue can be configured for. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, size_t *size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_cap_get_max_recv_queue_size);

/** Send tasks that can be configured. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, size_t *max_send_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_cc_cap_get_max_send_tasks);

/** The most clients of a server. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_clients(const struct doca_devinfo *devinfo, size_t *num_clients)
	DOCA_2_5_SYMBOL(doca_2_5_cc_cap_get_max_clients);

/** Today doca_comch_cap_server_is_supported(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_server_is_supported(const struct doca_devinfo *devinfo)
	DOCA_2_5_SYMBOL(doca_comch_cap_server_is_supported);

/** Today doca_comch_cap_client_is_supported(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_client_is_supported(const struct doca_devinfo *devinfo)
	DOCA_2_5_SYMBOL(doca_comch_cap_client_is_supported);

/* ---- servers and clients ---- */

/** Today doca_comch_server_create(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				   struct doca_cc_server **cc_server) DOCA_2_5_SYMBOL(doca_comch_server_create);

/** Today doca_comch_client_create(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_create(struct doca_dev *dev, const char *name, struct doca_cc_client **cc_client)
	DOCA_2_5_SYMBOL(doca_comch_client_create);

/** Today doca_comch_server_destroy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_destroy(struct doca_cc_server *cc_server) DOCA_2_5_SYMBOL(doca_comch_server_destroy);

/** Today doca_comch_client_destroy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_destroy(struct doca_cc_client *cc_client) DOCA_2_5_SYMBOL(doca_comch_client_destroy);

/** Today doca_comch_server_as_ctx(). */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_server_as_ctx(struct doca_cc_server *cc_server) DOCA_2_5_SYMBOL(doca_comch_server_as_ctx);

/** Today doca_comch_client_as_ctx(). */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_client_as_ctx(struct doca_cc_client *cc_client) DOCA_2_5_SYMBOL(doca_comch_client_as_ctx);

/** Today doca_comch_server_get_device(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_device(const struct doca_cc_server *cc_server, struct doca_dev **dev)
	DOCA_2_5_SYMBOL(doca_comch_server_get_device);

/** Today doca_comch_client_get_device(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_device(const struct doca_cc_client *cc_client, struct doca_dev **dev)
	DOCA_2_5_SYMBOL(doca_comch_client_get_device);

/** Today doca_comch_server_get_device_rep(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_device_repr(const struct doca_cc_server *cc_server, struct doca_dev_rep **repr)
	DOCA_2_5_SYMBOL(doca_comch_server_get_device_rep);

/** Today doca_comch_client_get_connection(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_connection(const struct doca_cc_client *cc_client, struct doca_cc_connection **connection)
	DOCA_2_5_SYMBOL(doca_comch_client_get_connection);

/** Bytes of the longest message, before start. DOCA_ERROR_INVALID_VALUE: NULL, or a wrong size; BAD_STATE: started. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_set_max_msg_size(struct doca_cc_server *cc_server, size_t size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_server_set_max_msg_size);

/** Bytes of the longest message, before start. DOCA_ERROR_INVALID_VALUE: NULL, or a wrong size; BAD_STATE: started. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_set_max_msg_size(struct doca_cc_client *cc_client, size_t size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_client_set_max_msg_size);

/** Bytes of the longest message. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_max_msg_size(const struct doca_cc_server *cc_server, size_t *size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_server_get_max_msg_size);

/** Bytes of the longest message. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_max_msg_size(const struct doca_cc_client *cc_client, size_t *size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_client_get_max_msg_size);

/** Messages that may wait here, before start. DOCA_ERROR_INVALID_VALUE: NULL, or a wrong number; BAD_STATE: started. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_set_recv_queue_size(struct doca_cc_server *cc_server, size_t size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_server_set_recv_queue_size);

/** Messages that may wait here, before start. DOCA_ERROR_INVALID_VALUE: NULL, or a wrong number; BAD_STATE: started. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_set_recv_queue_size(struct doca_cc_client *cc_client, size_t size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_client_set_recv_queue_size);

/** Messages that may wait here. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_recv_queue_size(const struct doca_cc_server *cc_server, size_t *size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_server_get_recv_queue_size);

/** Messages that may wait here. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_recv_queue_size(const struct doca_cc_client *cc_client, size_t *size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_client_get_recv_queue_size);

/* ---- messages ---- */

/** Runs when a message has been sent, or the send has failed. */
typedef void (*doca_cc_send_task_comp_handler)(struct doca_cc_send_task *task, union doca_data task_user_data,
					       union doca_data ctx_user_data);

/**
 * Configures 2^log_num_tasks send tasks, before start.
 * @retval DOCA_ERROR_INVALID_VALUE more than a device has (doca_cc_cap_get_max_send_tasks())
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_send_task_set_conf(struct doca_cc_server *cc_server,
					       doca_cc_send_task_comp_handler task_completion_cb,
					       doca_cc_send_task_comp_handler task_error_cb, uint8_t log_num_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_cc_server_send_task_set_conf);

/**
 * Configures 2^log_num_tasks send tasks, before start.
 * @retval DOCA_ERROR_INVALID_VALUE more than a device has (doca_cc_cap_get_max_send_tasks())
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_send_task_set_conf(struct doca_cc_client *cc_client,
					       doca_cc_send_task_comp_handler task_completion_cb,
					       doca_cc_send_task_comp_handler task_error_cb, uint8_t log_num_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_cc_client_send_task_set_conf);

/**
 * Allocates a task for a message, which is copied.
 * @retval DOCA_ERROR_INVALID_VALUE a message that is empty or too long
 * @retval DOCA_ERROR_BAD_STATE not running
 * @retval DOCA_ERROR_NO_MEMORY all are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_send_task_alloc_init(struct doca_cc_server *cc_server, struct doca_cc_connection *peer,
						 const void *msg, size_t len, struct doca_cc_send_task **task)
	DOCA_2_5_SYMBOL(doca_2_5_cc_server_send_task_alloc_init);

/**
 * Allocates a task for a message, which is copied.
 * @retval DOCA_ERROR_INVALID_VALUE a message that is empty or too long
 * @retval DOCA_ERROR_BAD_STATE not running
 * @retval DOCA_ERROR_NO_MEMORY all are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_send_task_alloc_init(struct doca_cc_client *cc_client, struct doca_cc_connection *peer,
						 const void *msg, size_t len, struct doca_cc_send_task **task)
	DOCA_2_5_SYMBOL(doca_2_5_cc_client_send_task_alloc_init);

/** Today doca_comch_task_send_as_task(). */
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_send_task_as_task(struct doca_cc_send_task *task) DOCA_2_5_SYMBOL(doca_comch_task_send_as_task);

/** Runs when a message has arrived. Its bytes are valid until the callback returns. */
typedef void (*doca_cc_event_msg_recv_cb_t)(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer, size_t msg_len,
					    struct doca_cc_connection *cc_connection);

/**
 * Sets the callback for messages, before start.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_msg_recv_register(struct doca_cc_server *cc_server, doca_cc_event_msg_recv_cb_t recv_event_cb)
	DOCA_2_5_SYMBOL(doca_2_5_cc_server_event_msg_recv_register);

/**
 * Sets the callback for messages, before start.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_event_msg_recv_register(struct doca_cc_client *cc_client, doca_cc_event_msg_recv_cb_t recv_event_cb)
	DOCA_2_5_SYMBOL(doca_2_5_cc_client_event_msg_recv_register);

/** Runs when a client has connected or left; change_successful is false if it left before it was accepted. */
typedef void (*doca_cc_event_connection_status_changed_cb_t)(struct doca_cc_event_connection_status_changed *event,
							     struct doca_cc_connection *cc_connection, bool change_successful);

/** Today doca_comch_server_event_connection_status_changed_register(), whose callbacks get the same byte as a uint8_t. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_connection_register(struct doca_cc_server *cc_server,
						      doca_cc_event_connection_status_changed_cb_t connect_event_cb,
						      doca_cc_event_connection_status_changed_cb_t disconnect_event_cb)
	DOCA_2_5_SYMBOL(doca_comch_server_event_connection_status_changed_register);

/** Runs when the peer has started a consumer, or stopped one. */
typedef void (*doca_cc_event_consumer_cb_t)(struct doca_cc_event_consumer *event, struct doca_cc_connection *cc_connection,
					    uint32_t id);

/** Today doca_comch_server_event_consumer_register(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_consumer_register(struct doca_cc_server *cc_server,
						    doca_cc_event_consumer_cb_t new_consumer_event_cb,
						    doca_cc_event_consumer_cb_t expired_consumer_event_cb)
	DOCA_2_5_SYMBOL(doca_comch_server_event_consumer_register);

/** Today doca_comch_client_event_consumer_register(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_event_consumer_register(struct doca_cc_client *cc_client,
						    doca_cc_event_consumer_cb_t new_consumer_event_cb,
						    doca_cc_event_consumer_cb_t expired_consumer_event_cb)
	DOCA_2_5_SYMBOL(doca_comch_client_event_consumer_register);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_CC_H_ */
