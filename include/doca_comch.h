/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comch.h
 * Communication channel between a host function and its DPU: servers, clients and control messages.
 *
 * A server runs on the DPU for one host function, whose representor it is given. Clients run on that host function and find the
 * server by its name. Each connected client is a connection, on which both sides send short, ordered control messages. Bulk data
 * is sent by producers and consumers on a connection (doca_comch_producer.h, doca_comch_consumer.h).
 *
 *     doca_comch_client_create(dev, "name", &client);          // server: doca_comch_server_create(dev, rep, "name", &server)
 *     doca_pe_connect_ctx(pe, doca_comch_client_as_ctx(client));
 *     doca_comch_client_task_send_set_conf(client, sent, failed, 16);
 *     doca_comch_client_event_msg_recv_register(client, received);
 *     doca_ctx_start(doca_comch_client_as_ctx(client));        // client: IN_PROGRESS, server: SUCCESS
 *     ... doca_pe_progress(pe) until the client is RUNNING, then doca_comch_client_get_connection() ...
 *     doca_comch_client_task_send_alloc_init(client, connection, "hello", 5, &task);
 *     doca_task_submit(doca_comch_task_send_as_task(task));
 *     ... doca_ctx_stop(), progress until IDLE, doca_comch_client_destroy() ...
 *
 * Starting: doca_ctx_start() of a server returns DOCA_SUCCESS, or DOCA_ERROR_ALREADY_EXIST if the name is in use for the host
 * function. A client starts with DOCA_ERROR_IN_PROGRESS, and is RUNNING once the server has accepted it. If no server has that
 * name or it rejects the client, the client becomes IDLE, and the log says why.
 *
 * Ending: a client that stops or dies is a disconnection event at the server. A server that stops, dies or disconnects a client
 * takes the client to STOPPING. Messages submitted before a stop still reach the peer. Stop and destroy producers and consumers
 * before their connection ends; otherwise their tasks fail and they go to STOPPING.
 *
 * Queues: recv_queue_size bounds the messages that wait at a receiver, over all its connections. While the peer's queue is full,
 * submit returns DOCA_ERROR_AGAIN. If the connection has ended, it returns DOCA_ERROR_NOT_CONNECTED. While all send tasks are in
 * flight, *_task_send_alloc_init() returns DOCA_ERROR_NO_MEMORY.
 *
 * A server or client, its connections and its tasks belong to the thread of their progress engine. Producers and consumers may
 * belong to other threads. The library owns connections and event objects. A connection is valid until its disconnection
 * callback has returned (client: until the context is IDLE), and while producers or consumers exist on it. (DOCA Comch guide;
 * task functions: doca_pe.h)
 *
 * @retval DOCA_ERROR_BAD_STATE doca_comch_server_set_*, doca_comch_client_set_*, *_set_conf, *_register: the context is not IDLE
 * @retval DOCA_ERROR_INVALID_VALUE *_max_msg_size, *_queue_size, *_set_conf: the number is out of range
 * @retval DOCA_ERROR_NO_MEMORY *_create: out of memory
 * @retval DOCA_ERROR_IN_USE *_destroy: the context is not IDLE, or producers or consumers exist on its connections
 */
#ifndef DOCA_COMCH_H_
#define DOCA_COMCH_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;

/** One client connected to one server. */
struct doca_comch_connection;

/**
 * @name Connections
 * The library never frees user data, which is 0 at first. doca_comch_server_get_server_ctx() of a client's connection and
 * doca_comch_client_get_client_ctx() of a server's return NULL.
 * @{
 */

DOCA_STABLE
doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection, union doca_data user_data);

DOCA_STABLE
union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection);

DOCA_STABLE
struct doca_comch_server *doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection);

DOCA_STABLE
struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection);

/** @} */

/** Includes the NUL. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len);

/** In bytes. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/** In messages. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size);

/** Of one server. It rejects and logs further clients. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients);

/** A server: an object with a context (doca_comch_server_as_ctx). */
struct doca_comch_server;

/**
 * @name Servers
 * @{
 */

/**
 * The device and the representor cannot be closed before the server is destroyed.
 * @param repr representor, listed on dev, of the host function that is served
 * @param name for clients: 1 to doca_comch_cap_get_max_name_len() - 1 characters; copied
 * @retval DOCA_ERROR_INVALID_VALUE the name's length, dev is not on a DPU, or repr belongs to another device
 */
DOCA_STABLE
doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				      struct doca_comch_server **comch_server);

DOCA_STABLE
doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/** @retval DOCA_ERROR_NOT_SUPPORTED not a device of a DPU; not logged */
DOCA_STABLE
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/**
 * The smaller value of both sides counts. Default: the capability.
 * @param size 1 to doca_comch_cap_get_max_msg_size()
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server, uint32_t size);

/** The value set here; the peer's may be smaller. */
DOCA_STABLE
doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server, uint32_t *size);

/** @param size messages, 1 to doca_comch_cap_get_max_recv_queue_size(); by default as many as send tasks, at least 16 */
DOCA_STABLE
doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t size);

DOCA_STABLE
doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server, uint32_t *size);

DOCA_STABLE
doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server, struct doca_dev **dev);

DOCA_STABLE
doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server, struct doca_dev_rep **rep);

DOCA_STABLE
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * Ends a connection, after sending what was submitted on it. The client's context stops. No disconnection event follows here,
 * and the connection must not be used any more.
 * @retval DOCA_ERROR_INVALID_VALUE the server does not have this connection
 * @retval DOCA_ERROR_IN_USE producers or consumers exist on it
 */
DOCA_STABLE
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server, struct doca_comch_connection *connection);

/** @} */

/** A client: an object with a context (doca_comch_client_as_ctx). It connects once per start. */
struct doca_comch_client;

/**
 * @name Clients
 * As the functions of servers.
 * @{
 */

/**
 * The device cannot be closed before the client is destroyed.
 * @param name the server's; copied
 * @retval DOCA_ERROR_INVALID_VALUE the name's length, or dev is not on a host
 */
DOCA_STABLE
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **comch_client);

DOCA_STABLE
doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

/** @retval DOCA_ERROR_NOT_SUPPORTED not a device of a host; not logged */
DOCA_STABLE
doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

DOCA_STABLE
doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size);

DOCA_STABLE
doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client, uint32_t *size);

DOCA_STABLE
doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size);

DOCA_STABLE
doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client, uint32_t *size);

DOCA_STABLE
doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client, struct doca_dev **dev);

DOCA_STABLE
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

/**
 * Valid until the context is IDLE.
 * @retval DOCA_ERROR_BAD_STATE the client is not RUNNING
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection);

/** @} */

/** A task that sends one control message. */
struct doca_comch_task_send;

/**
 * @name Send tasks
 * A send succeeds when the message is in the peer's queue. *_alloc_init copies the message.
 * @retval DOCA_ERROR_BAD_STATE *_alloc_init: the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY *_alloc_init: all configured tasks are allocated
 * @retval DOCA_ERROR_INVALID_VALUE *_alloc_init: len exceeds a side's max_msg_size, or peer has ended or is another object's
 * @{
 */

typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

DOCA_STABLE
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, uint32_t *max_send_tasks);

/** @param num_send_tasks 1 to doca_comch_cap_get_max_send_tasks() */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
						  doca_comch_task_send_completion_cb_t task_completion_cb,
						  doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/** @param num_send_tasks 1 to doca_comch_cap_get_max_send_tasks() */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
						  doca_comch_task_send_completion_cb_t task_completion_cb,
						  doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/** @param msg may be NULL if len is 0 */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server, struct doca_comch_connection *peer,
						    const void *msg, uint32_t len, struct doca_comch_task_send **task);

/** @param msg may be NULL if len is 0 */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client, struct doca_comch_connection *peer,
						    const void *msg, uint32_t len, struct doca_comch_task_send **task);

DOCA_STABLE
struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

/** @} */

/** Passed to the message callback. It has no fields for the program. */
struct doca_comch_event_msg_recv;

/**
 * @name Messages that arrive
 * They are dropped without a callback. The buffer is valid during the callback only; msg_len may be 0.
 * @{
 */

typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len,
					       struct doca_comch_connection *comch_connection);

DOCA_STABLE
doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
						       doca_comch_event_msg_recv_cb_t recv_event_cb);

DOCA_STABLE
doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
						       doca_comch_event_msg_recv_cb_t recv_event_cb);

/** @} */

/** Passed to the connection callbacks. It has no fields for the program. */
struct doca_comch_event_connection_status_changed;

/**
 * A client connected or left. The connection must not be used after a failed change or a disconnection.
 * @param change_successful 0 if a client left before it was accepted
 */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(struct doca_comch_event_connection_status_changed *event,
								struct doca_comch_connection *comch_connection,
								uint8_t change_successful);

/** Sets the callbacks for clients that connect, and that stop or die. Connections that the server ends are not reported. */
DOCA_STABLE
doca_error_t
doca_comch_server_event_connection_status_changed_register(struct doca_comch_server *comch_server,
							   doca_comch_event_connection_status_changed_cb_t connect_event_cb,
							   doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/** As doca_comch_server_event_connection_status_changed_register(): its name in DOCA 2.6. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_event_connection_register(struct doca_comch_server *comch_server,
							 doca_comch_event_connection_status_changed_cb_t connect_event_cb,
							 doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/** What doca_comch_connection_get_counter() counts: control messages of the program. */
enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1, /**< messages whose send completed */
	DOCA_COMCH_COUNTER_SENT_BYTES = 2,    /**< bytes of those */
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3, /**< messages that arrived */
	DOCA_COMCH_COUNTER_RECV_BYTES = 4,    /**< bytes of those */
};

/**
 * Takes a snapshot of the counters.
 * @retval DOCA_ERROR_CONNECTION_INPROGRESS it is not established yet
 * @retval DOCA_ERROR_CONNECTION_ABORTED it has ended; the snapshot stays
 */
DOCA_STABLE
doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection);

/**
 * The value in the last snapshot; 0 before the first.
 * @retval DOCA_ERROR_INVALID_VALUE no such counter
 */
DOCA_STABLE
doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *comch_connection,
					       enum doca_comch_counter counter_type, uint64_t *counter_value);

/** Passed to the consumer callbacks. It has no fields for the program. */
struct doca_comch_event_consumer;

/**
 * @name Consumers of the peer
 * The first callback runs when a consumer can be sent to, the second when it stopped or the peer is lost.
 * @{
 */

typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event,
					       struct doca_comch_connection *comch_connection, uint32_t id);

DOCA_STABLE
doca_error_t doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
						       doca_comch_event_consumer_cb_t new_consumer_event_cb,
						       doca_comch_event_consumer_cb_t expired_consumer_event_cb);

DOCA_STABLE
doca_error_t doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
						       doca_comch_event_consumer_cb_t new_consumer_event_cb,
						       doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_H_ */
