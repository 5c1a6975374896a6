/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comch.h
 * @brief Communication channel between a host function and its DPU: servers, clients and control messages.
 *
 * A server runs on the DPU, on behalf of one host function, whose representor it is given. Clients run on that host function
 * and find the server by its name. Each client that connects is a connection, over which both sides send control messages:
 * short, ordered, with boundaries. Bulk data goes by producers and consumers, which are made on a connection
 * (doca_comch_producer.h, doca_comch_consumer.h).
 *
 * @code
 *   doca_comch_client_create(dev, "name", &client);          // server: doca_comch_server_create(dev, rep, "name", &server)
 *   doca_pe_connect_ctx(pe, doca_comch_client_as_ctx(client));
 *   doca_comch_client_task_send_set_conf(client, sent, failed, 16);
 *   doca_comch_client_event_msg_recv_register(client, received);
 *   doca_ctx_start(doca_comch_client_as_ctx(client));        // client: IN_PROGRESS, server: SUCCESS
 *   ... doca_pe_progress(pe) until the client is RUNNING, then doca_comch_client_get_connection() ...
 *   doca_comch_client_task_send_alloc_init(client, connection, "hello", 5, &task);
 *   doca_task_submit(doca_comch_task_send_as_task(task));
 *   ... doca_ctx_stop(), progress until IDLE, doca_comch_client_destroy() ...
 * @endcode
 *
 * Starting. A server's start returns DOCA_SUCCESS and it is RUNNING; DOCA_ERROR_ALREADY_EXIST when a server of that name runs
 * for the same host function. A client's start returns DOCA_ERROR_IN_PROGRESS; it is RUNNING when the server has accepted it. No
 * server of that name, or a refusal, takes it from STARTING to IDLE, and the log says why.
 *
 * Ending. A client that stops, or whose process dies, is a disconnection event at the server. A server that stops, dies or
 * disconnects a client takes that client's context to STOPPING and, once its tasks are freed, to IDLE. Messages submitted before
 * a stop still reach the peer. Producers and consumers on a connection are to be stopped and destroyed before it is ended; if
 * the connection goes first, they fail: their tasks end with an error and they go to STOPPING by themselves.
 *
 * Sizes. A message has up to the lower max_msg_size of both sides. recv_queue_size bounds the messages that wait at a receiver,
 * over all its connections; a sender that finds the queue full gets DOCA_ERROR_AGAIN from submit, which clears as the peer
 * progresses.
 *
 * Threads. A server or client, its connections and its tasks belong to the thread of their progress engine. Producers and
 * consumers on a connection may live on other threads, each with a progress engine of its own.
 *
 * Ownership. Connections and event objects are the library's. A connection is valid until its disconnection callback has
 * returned (client: until the context is IDLE); while producers or consumers exist on it, until the last one is destroyed.
 */
#ifndef DOCA_COMCH_H_
#define DOCA_COMCH_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
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

/** One client connected to one server. Made and freed by the library. */
struct doca_comch_connection;

/**
 * Keeps a value of the program's with the connection. It starts as 0 and is never freed by the library.
 *
 * @param connection the connection, alive
 * @param user_data the value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE connection is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection, union doca_data user_data);

/** The value last set, or 0. 0 too for a NULL connection. */
DOCA_STABLE
union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection);

/** The server that the connection was made to, or NULL on a client's side (or for NULL). */
DOCA_STABLE
struct doca_comch_server *doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection);

/** The client whose connection it is, or NULL on a server's side (or for NULL). */
DOCA_STABLE
struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection);

/**
 * Bytes of a server's name, with its terminating zero.
 *
 * @param devinfo any device
 * @param[out] max_name_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len);

/**
 * Bytes of the longest control message that can be configured.
 *
 * @param devinfo any device
 * @param[out] size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/**
 * Messages of the longest receive queue that can be configured.
 *
 * @param devinfo any device
 * @param[out] size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size);

/**
 * Clients that one server can have at a time. A further one is refused, and the server logs it.
 *
 * @param devinfo any device
 * @param[out] num_clients the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients);

/** A server: an object with a context (doca_comch_server_as_ctx). */
struct doca_comch_server;

/**
 * Creates a server, not started. It holds the device and the representor until it is destroyed.
 *
 * @param dev the DPU's device
 * @param repr the representor, listed on dev, of the host function whose clients are served
 * @param name what clients ask for: 1 character up to doca_comch_cap_get_max_name_len() bytes with the terminating zero;
 *   copied
 * @param[out] comch_server the server
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, the name is empty or too long, dev is not on a DPU, or repr
 *   belongs to another device.
 * @retval DOCA_ERROR_NO_MEMORY no memory.
 */
DOCA_STABLE
doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name, struct doca_comch_server **comch_server);

/**
 * Destroys a server that is IDLE.
 *
 * @param comch_server the server
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE comch_server is NULL.
 * @retval DOCA_ERROR_IN_USE it is not IDLE, or producers or consumers still exist on connections that it had.
 */
DOCA_STABLE
doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/**
 * Can a server run on this device? On a DPU's device, yes.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot. Nothing is logged: programs ask one device after the other.
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets the longest message that this server sends and receives. The lower value of both sides holds. Default: the
 * capability.
 *
 * @param comch_server the server, IDLE
 * @param size bytes, 1 to doca_comch_cap_get_max_msg_size()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE comch_server is NULL, or size is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server, uint32_t size);

/**
 * The longest message as set here; the peer's may be lower.
 *
 * @param comch_server the server
 * @param[out] size bytes
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server, uint32_t *size);

/**
 * Sets how many messages may wait for this server, over all connections. Default: 16.
 *
 * @param comch_server the server, IDLE
 * @param size messages, 1 to doca_comch_cap_get_max_recv_queue_size()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE comch_server is NULL, or size is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t size);

/**
 * How many messages may wait for this server.
 *
 * @param comch_server the server
 * @param[out] size messages
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server, uint32_t *size);

/**
 * The device that the server was created on. No reference is taken.
 *
 * @param comch_server the server
 * @param[out] dev the device
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server, struct doca_dev **dev);

/**
 * The representor that the server was created with. No reference is taken.
 *
 * @param comch_server the server
 * @param[out] rep the representor
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server, struct doca_dev_rep **rep);

/** The server's context, for doca_ctx.h and doca_pe_connect_ctx. It lives as long as the server. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * Ends one connection. What was submitted on it before still goes out; the client's context then stops. No disconnection
 * event follows here, and the connection is not to be used any more.
 *
 * @param comch_server the server
 * @param connection a connection of it
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the server has no such connection (any more).
 * @retval DOCA_ERROR_IN_USE producers or consumers exist on it here.
 */
DOCA_STABLE
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server, struct doca_comch_connection *connection);

/** A client: an object with a context (doca_comch_client_as_ctx). It connects once per start. */
struct doca_comch_client;

/**
 * Creates a client, not started. It holds the device until it is destroyed.
 *
 * @param dev the host function's device
 * @param name the server's name: 1 character up to doca_comch_cap_get_max_name_len() bytes with the terminating zero;
 *   copied
 * @param[out] comch_client the client
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, the name is empty or too long, or dev is not on a host.
 * @retval DOCA_ERROR_NO_MEMORY no memory.
 */
DOCA_STABLE
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **comch_client);

/**
 * Destroys a client that is IDLE.
 *
 * @param comch_client the client
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE comch_client is NULL.
 * @retval DOCA_ERROR_IN_USE it is not IDLE, or producers or consumers still exist on a connection that it had.
 */
DOCA_STABLE
doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

/**
 * Can a client run on this device? On a host's function, yes.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot. Nothing is logged: programs ask one device after the other.
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets the longest message that this client sends and receives. The lower value of both sides holds. Default: the
 * capability.
 *
 * @param comch_client the client, IDLE
 * @param size bytes, 1 to doca_comch_cap_get_max_msg_size()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE comch_client is NULL, or size is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size);

/**
 * The longest message as set here; the peer's may be lower.
 *
 * @param comch_client the client
 * @param[out] size bytes
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client, uint32_t *size);

/**
 * Sets how many messages may wait for this client, over all connections. Default: 16.
 *
 * @param comch_client the client, IDLE
 * @param size messages, 1 to doca_comch_cap_get_max_recv_queue_size()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE comch_client is NULL, or size is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size);

/**
 * How many messages may wait for this client.
 *
 * @param comch_client the client
 * @param[out] size messages
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client, uint32_t *size);

/**
 * The device that the client was created on. No reference is taken.
 *
 * @param comch_client the client
 * @param[out] dev the device
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client, struct doca_dev **dev);

/** The client's context, for doca_ctx.h and doca_pe_connect_ctx. It lives as long as the client. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

/**
 * The client's connection.
 *
 * @param comch_client the client, RUNNING
 * @param[out] connection its connection, valid until the context is IDLE
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the client is not RUNNING.
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client, struct doca_comch_connection **connection);

/** A task that sends one control message. The message is copied when the task is allocated. */
struct doca_comch_task_send;

/**
 * The end of a send task. The task is the program's again: it may free it, keep it or submit it anew.
 *
 * @param task the task
 * @param task_user_data as set by doca_task_set_user_data
 * @param ctx_user_data as set by doca_ctx_set_user_data
 */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Send tasks that one server or client can be configured with.
 *
 * @param devinfo any device
 * @param[out] max_send_tasks the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, uint32_t *max_send_tasks);

/**
 * Configures send tasks: must be called before start by a server that is to send. Calling again replaces.
 *
 * @param comch_server the server, IDLE
 * @param task_completion_cb runs when the message is in the peer's queue
 * @param task_error_cb runs when it cannot be; doca_task_get_status says why
 * @param num_send_tasks tasks to have, 1 to doca_comch_cap_get_max_send_tasks()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server, doca_comch_task_send_completion_cb_t task_completion_cb, doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Configures send tasks: must be called before start by a client that is to send. Calling again replaces.
 *
 * @param comch_client the client, IDLE
 * @param task_completion_cb runs when the message is in the peer's queue
 * @param task_error_cb runs when it cannot be; doca_task_get_status says why
 * @param num_send_tasks tasks to have, 1 to doca_comch_cap_get_max_send_tasks()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client, doca_comch_task_send_completion_cb_t task_completion_cb, doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Takes a send task and copies the message into it: msg may change or go after this call.
 *
 * Submitting it returns DOCA_ERROR_AGAIN while the peer's queue is full and DOCA_ERROR_NOT_CONNECTED when the connection
 * has ended.
 *
 * @param comch_server the server, RUNNING
 * @param peer a connection of it
 * @param msg the message; may be NULL when len is 0
 * @param len bytes, 0 to the lower max_msg_size of both sides
 * @param[out] task the task, the program's until doca_task_free
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, len is too large, or peer belongs to another server.
 * @retval DOCA_ERROR_NO_MEMORY every configured task is allocated, or none was configured.
 * @retval DOCA_ERROR_BAD_STATE the server is not RUNNING.
 */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server, struct doca_comch_connection *peer, const void *msg, uint32_t len, struct doca_comch_task_send **task);

/**
 * Takes a send task and copies the message into it: msg may change or go after this call.
 *
 * Submitting it returns DOCA_ERROR_AGAIN while the peer's queue is full and DOCA_ERROR_NOT_CONNECTED when the connection
 * has ended.
 *
 * @param comch_client the client, RUNNING
 * @param peer a connection of it
 * @param msg the message; may be NULL when len is 0
 * @param len bytes, 0 to the lower max_msg_size of both sides
 * @param[out] task the task, the program's until doca_task_free
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, len is too large, or peer belongs to another client.
 * @retval DOCA_ERROR_NO_MEMORY every configured task is allocated, or none was configured.
 * @retval DOCA_ERROR_BAD_STATE the client is not RUNNING.
 */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client, struct doca_comch_connection *peer, const void *msg, uint32_t len, struct doca_comch_task_send **task);

/** The task's base, for doca_pe.h. NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

/** Handed to the message callback. It carries nothing for the program. */
struct doca_comch_event_msg_recv;

/**
 * A message has arrived.
 *
 * @param event nothing to use
 * @param recv_buffer the message, valid during the call only
 * @param msg_len bytes, may be 0
 * @param comch_connection from whom
 */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len, struct doca_comch_connection *comch_connection);

/**
 * Sets the callback for messages that arrive. Without one they are dropped.
 *
 * @param comch_server the server, IDLE
 * @param recv_event_cb the callback
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server, doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Sets the callback for messages that arrive. Without one they are dropped.
 *
 * @param comch_client the client, IDLE
 * @param recv_event_cb the callback
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client, doca_comch_event_msg_recv_cb_t recv_event_cb);

/** Handed to the connection callbacks. It carries nothing for the program. */
struct doca_comch_event_connection_status_changed;

/**
 * A client connected or left.
 *
 * @param event nothing to use
 * @param comch_connection the client's connection; after a failed change and after a disconnection not to be used any
 *   more
 * @param change_successful 1, or 0 when a client that asked to connect was gone before it could be accepted
 */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *comch_connection, uint8_t change_successful);

/**
 * Sets the callbacks for clients that connect and leave. The second is not called for connections that the server itself
 * ends.
 *
 * @param comch_server the server, IDLE
 * @param connect_event_cb runs for each client that connects
 * @param disconnect_event_cb runs when a client stopped or died
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_connection_status_changed_register(struct doca_comch_server *comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb, doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/** What doca_comch_connection_get_counter can tell. Control messages of the program only; the data path is not counted. */
enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1, /**< messages whose send completed */
	DOCA_COMCH_COUNTER_SENT_BYTES = 2, /**< bytes of those */
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3, /**< messages that arrived */
	DOCA_COMCH_COUNTER_RECV_BYTES = 4, /**< bytes of those */
};

/**
 * Takes the counters' present values, for doca_comch_connection_get_counter.
 *
 * @param comch_connection the connection
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE comch_connection is NULL.
 * @retval DOCA_ERROR_CONNECTION_INPROGRESS it is not established yet.
 * @retval DOCA_ERROR_CONNECTION_ABORTED it has ended; the values stay as they were.
 */
DOCA_STABLE
doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection);

/**
 * A counter, as of the last doca_comch_connection_update_info. 0 before the first.
 *
 * @param comch_connection the connection
 * @param counter_type which
 * @param[out] counter_value messages or bytes
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or there is no such counter.
 */
DOCA_STABLE
doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *comch_connection, enum doca_comch_counter counter_type, uint64_t *counter_value);

/** Handed to the consumer callbacks. It carries nothing for the program. */
struct doca_comch_event_consumer;

/**
 * A consumer of the peer began or ended.
 *
 * @param event nothing to use
 * @param comch_connection the connection that it is on
 * @param id its id, for doca_comch_producer_task_send_alloc_init
 */
typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event, struct doca_comch_connection *comch_connection, uint32_t id);

/**
 * Sets the callbacks for consumers of the peer that begin and end.
 *
 * @param comch_server the server, IDLE
 * @param new_consumer_event_cb runs when a consumer of the peer can be sent to
 * @param expired_consumer_event_cb runs when it no longer can: it stopped, or the peer was lost
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server, doca_comch_event_consumer_cb_t new_consumer_event_cb, doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/**
 * Sets the callbacks for consumers of the peer that begin and end.
 *
 * @param comch_client the client, IDLE
 * @param new_consumer_event_cb runs when a consumer of the peer can be sent to
 * @param expired_consumer_event_cb runs when it no longer can: it stopped, or the peer was lost
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client, doca_comch_event_consumer_cb_t new_consumer_event_cb, doca_comch_event_consumer_cb_t expired_consumer_event_cb);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_H_ */
