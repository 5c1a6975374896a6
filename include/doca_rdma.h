/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_rdma.h
 * @brief RDMA: messages to a peer, and reads, writes and atomics of its memory without its program taking part.
 *
 * @code
 *   doca_rdma_create(dev, &rdma);
 *   doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE);
 *   doca_rdma_task_write_set_conf(rdma, written, failed, 16);
 *   doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma));
 *   doca_ctx_start(doca_rdma_as_ctx(rdma));                     // DOCA_SUCCESS: it is RUNNING
 *   doca_rdma_export(rdma, &details, &size, &connection);       // carry them to the peer, and the peer's here
 *   doca_rdma_connect(rdma, peers_details, peers_size, connection);
 *   doca_rdma_task_write_allocate_init(rdma, connection, src, dst, user_data, &task);
 *   doca_task_submit(doca_rdma_task_write_as_task(task));       // then doca_pe_progress until a callback came
 * @endcode
 *
 * Two instances, in two processes or in one, each export a connection, and each connects with what the other exported: in either
 * order, any time apart. One instance can have several connections. A peer's memory is reached by a memory map that is made of
 * its doca_mmap_export_rdma(); remote buffers lie in it.
 *
 * Or by address: one instance calls doca_rdma_start_listen_to_port(), others doca_rdma_connect_to_addr() with an address of its
 * device, and callbacks tell of requests, connections and their ends (doca_rdma_set_connection_state_callbacks()). The end of such
 * a connection leaves the context running, and makes room for another.
 *
 * Tasks of one connection take effect and complete in the order of their submission. Reads, writes and atomics need nothing of
 * the peer's program, which may be busy or stopped. Sends and writes with immediate need a receive there, and wait for one
 * (doca_rdma_set_rnr_retry_count()), with all tasks behind them. No task allocates memory, but the first receive into a memory map
 * registers it: DOCA_ERROR_NO_MEMORY from its submit.
 *
 * A submit refuses, with DOCA_ERROR_INVALID_VALUE and one line in the log, what is wrong with the task itself: no connection or
 * one that is not connected, a missing buffer, one outside its memory map or too small, a list longer than configured, imported
 * memory as a local buffer or the other way round, an atomic's address that 8 does not divide; with DOCA_ERROR_NOT_PERMITTED,
 * what writes into a local buffer (receives, reads, atomics' results) whose memory map lacks DOCA_ACCESS_FLAG_LOCAL_READ_WRITE.
 * A local buffer may be memory that another process exported over PCI: DOCA_ERROR_NOT_SUPPORTED where it cannot be mapped here, and
 * DOCA_ERROR_IO_FAILED where its owner has stopped it or is gone.
 * What only the peer makes impossible is taken, and ends in the error callback with one of these statuses:
 *
 * - DOCA_ERROR_NOT_PERMITTED: the peer's instance, or its memory map, does not permit the operation
 * - DOCA_ERROR_IO_FAILED: the message is longer than the peer's receive; or no receive came in all retries
 * - DOCA_ERROR_CONNECTION_ABORTED: the peer stopped its instance, exited or died, or ended the export of its memory
 * - DOCA_ERROR_BAD_STATE: flushed, because the context was stopped or a task before it failed
 *
 * As on hardware, a task that fails ends its connection: all behind it are flushed. The other connections go on. When a task has
 * failed, no working connection is left and no port is listened to, the context goes to STOPPING, and to IDLE when all tasks are
 * freed; not when a peer by address went away, which its callback tells. That a peer by descriptor is gone is told by the next
 * task, not by itself. Posted receives belong to all connections, and stay.
 *
 * Threads: an instance belongs to the thread of its progress engine. (RDMA guide)
 */
#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

#include <stdbool.h>
#include <stdint.h>

#include <rdma/rdma_cma.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa_completion;
struct doca_gpu_dev_rdma;
struct doca_sync_event_remote_net;
struct doca_task;

/** An instance in the hands of a DPA's code. */
typedef uint64_t doca_dpa_dev_rdma_t;

/** How an instance's connections carry data. */
enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_TYPE_RC = 0, /**< reliable connections */
	DOCA_RDMA_TRANSPORT_TYPE_DC = 1, /**< dynamically connected: one side of many peers */
};

/** The forms of a device's address. */
enum doca_rdma_addr_type {
	DOCA_RDMA_ADDR_TYPE_IPv4 = 0, /**< four numbers */
	DOCA_RDMA_ADDR_TYPE_IPv6 = 1, /**< as RFC 4291 writes it */
	DOCA_RDMA_ADDR_TYPE_GID = 2,  /**< an entry of the device's table of GIDs, written as an IPv6 address */
};

/** An entry of a device's table of GIDs. */
struct doca_rdma_gid {
	uint8_t raw[DOCA_GID_BYTE_LENGTH]; /**< as it is on the wire */
};

/** An instance: an object with a context (doca_rdma_as_ctx). */
struct doca_rdma;

/** A connection to one peer. It belongs to its instance, and to one run of its context. */
struct doca_rdma_connection;

/** An address and a port: where a peer listens, or who called. */
struct doca_rdma_addr;

/* ---- the instance ---- */

/**
 * Creates an instance on a device, which cannot be closed while the instance exists.
 *
 * @param dev the device; the memory maps of all local buffers and of all imports must have it
 * @param[out] rdma the instance
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NO_MEMORY no memory.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma);

/**
 * Destroys an instance whose context is IDLE. Its connections go with it.
 *
 * @param rdma the instance
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);

/** The instance's context, which lives as long. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/* ---- connections ---- */

/**
 * Makes a connection and the details by which one peer connects to it. Call it once for each peer.
 *
 * The details are opaque, versioned and checksummed. They belong to the connection and are readable until it has ended or the
 * context is started again or destroyed; the program copies them to the peer, by a file, a socket or Comch. Stopping the context
 * ends them.
 *
 * @param rdma an instance whose context is RUNNING (of DOCA 2.5: or STARTING)
 * @param[out] local_rdma_conn_details the details
 * @param[out] local_rdma_conn_details_size their bytes
 * @param[out] rdma_connection the connection, which belongs to the instance
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_FULL as many connections as doca_rdma_set_max_num_connections() allows are in use.
 * @retval DOCA_ERROR_CONNECTION_ABORTED the system gave no random numbers.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details, size_t *local_rdma_conn_details_size,
			      struct doca_rdma_connection **rdma_connection);

/**
 * Connects an exported connection to a peer's. Waits for the peer's process to answer, not for its program: a moment, and a second
 * if that process is stopped. Tasks may be submitted right after it, before the peer has connected, too, and one-sided ones need
 * neither the peer's program nor its process running from here on. If the peer is gone, they end in their error callbacks.
 *
 * @param rdma an instance whose context is RUNNING (of DOCA 2.5: or STARTING)
 * @param remote_rdma_conn_details what the peer's doca_rdma_export() gave; may be freed after the call
 * @param remote_rdma_conn_details_size its bytes
 * @param rdma_connection the connection whose own details the peer is given
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, the connection is another instance's, or the details are truncated,
 * altered, of another version or transport, or the connection's own.
 * @retval DOCA_ERROR_BAD_STATE the context is not started, or the connection is of an earlier run, by address, or was connected
 * before.
 * @retval DOCA_ERROR_CONNECTION_ABORTED the connection cannot be begun, or the peer's process is stopped; the connection may be
 * connected later.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details, size_t remote_rdma_conn_details_size,
			       struct doca_rdma_connection *rdma_connection);

/**
 * Keeps a value of the program with a connection.
 *
 * @param rdma_connection the connection
 * @param connection_user_data the value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma_connection is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data);

/**
 * Gives the value that was set last; 0 if none was.
 *
 * @param rdma_connection the connection
 * @param[out] connection_user_data the value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
						union doca_data *connection_user_data);

/**
 * Gives the number of a connection in its instance: 0 for the first of a run, then 1, and so on; from the configured number of
 * connections on, those of connections that have ended come again.
 *
 * @param rdma_connection the connection
 * @param[out] connection_id the number
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection, uint32_t *connection_id);

/**
 * Ends a connection, however it was made. Tasks that wait or are under way end in their error callbacks, with
 * DOCA_ERROR_BAD_STATE unless they took effect; what was sent before reaches the peer. Then, for a connection by address, the
 * disconnection callback runs on both sides, and the connection's place may be used again: by an export, a call or a caller. The
 * context goes on.
 *
 * Disconnecting a connection that has ended, or whose end has begun, does nothing, so the disconnection callback of either side
 * may call it. If a connection that was just accepted is ended before its established callback, the failure callback tells it.
 *
 * @param rdma_connection the connection
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma_connection is NULL, of an earlier run of the context, or a request that is not answered.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection);

/* ---- connections by address ---- */

/**
 * Runs when a peer calls at a port that the instance listens to. The program answers here or later, by
 * doca_rdma_connection_accept() or doca_rdma_connection_reject(); until then the connection takes one of the instance's places.
 *
 * @param rdma_connection the connection that it may become
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_rdma_connection_request_cb_t)(struct doca_rdma_connection *rdma_connection, union doca_data ctx_user_data);

/**
 * Runs on both sides when a connection stands: after doca_rdma_connect_to_addr() was accepted there, and after
 * doca_rdma_connection_accept() here. No message of the connection is received before. Tasks may be submitted from here on.
 *
 * @param rdma_connection the connection
 * @param connection_user_data of doca_rdma_connect_to_addr() or doca_rdma_connection_set_user_data(); 0 if none
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_rdma_connection_established_cb_t)(struct doca_rdma_connection *rdma_connection,
						      union doca_data connection_user_data, union doca_data ctx_user_data);

/**
 * Runs in place of the established callback when a connection does not come to be: the log says why. The connection is gone when
 * it returns.
 *
 * @param rdma_connection the connection
 * @param connection_user_data of doca_rdma_connect_to_addr() or doca_rdma_connection_set_user_data(); 0 if none
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_rdma_connection_failure_cb_t)(struct doca_rdma_connection *rdma_connection,
						  union doca_data connection_user_data, union doca_data ctx_user_data);

/**
 * Runs once, on both sides, when an established connection has ended: either side disconnected, a task of it failed, or the peer
 * stopped its context, exited or died (noticed within a second). All its tasks have ended before. It may call
 * doca_rdma_connection_disconnect(), which does nothing more. When it returns, the connection's place may be used again. Stopping
 * the context ends its connections without this callback.
 *
 * @param rdma_connection the connection
 * @param connection_user_data of doca_rdma_connect_to_addr() or doca_rdma_connection_set_user_data(); 0 if none
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_rdma_connection_disconnection_cb_t)(struct doca_rdma_connection *rdma_connection,
							union doca_data connection_user_data, union doca_data ctx_user_data);

/**
 * Sets what runs when connections by address begin and end. All of it runs from doca_pe_progress(). Needed for
 * doca_rdma_start_listen_to_port() and doca_rdma_connect_to_addr().
 *
 * @param rdma an instance whose context is IDLE
 * @param doca_rdma_connect_request_cb a peer calls; NULL for an instance that does not listen
 * @param doca_rdma_connect_established_cb a connection stands
 * @param doca_rdma_connect_failure_cb a connection did not come to be
 * @param doca_rdma_disconnect_cb a connection has ended
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma or one of the last three callbacks is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_connection_state_callbacks(struct doca_rdma *rdma,
						      doca_rdma_connection_request_cb_t doca_rdma_connect_request_cb,
						      doca_rdma_connection_established_cb_t doca_rdma_connect_established_cb,
						      doca_rdma_connection_failure_cb_t doca_rdma_connect_failure_cb,
						      doca_rdma_connection_disconnection_cb_t doca_rdma_disconnect_cb);

/**
 * Makes an address out of its text, for doca_rdma_connect_to_addr(). The text's form is checked here, and whether a device has
 * the address by the connect.
 *
 * @param addr_type the form of the address
 * @param address "192.168.100.1"; "fe80::ac0:ebff:fe12:3456", a scope such as "%eth0" is passed over;
 * or a GID, as "fe80:0000:0000:0000:0ac0:ebff:fe12:3456" or with zeros left out; copied
 * @param port the port that the peer listens to, 1 to 65535
 * @param[out] addr the address, for doca_rdma_addr_destroy()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL, the type is unknown, the text is not an address of it, or the port is 0.
 * @retval DOCA_ERROR_NO_MEMORY no memory.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address, uint16_t port,
				   struct doca_rdma_addr **addr);

/**
 * Destroys an address. Connections that were made by it have a copy.
 *
 * @param addr the address
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE addr is NULL.
 * @retval DOCA_ERROR_BAD_STATE it was given by doca_rdma_connection_get_addr(): it is the connection's.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr);

/**
 * Gives what an address is made of.
 *
 * @param addr the address
 * @param[out] addr_type its form
 * @param[out] address its text, which lives as long as the address
 * @param[out] port its port; 0 for a caller's address, which has none
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr, enum doca_rdma_addr_type *addr_type, const char **address,
				       uint16_t *port);

/**
 * Listens to a port of the instance's device, at all of its addresses. The request callback runs for each peer that calls. One
 * instance may listen to 16 ports; stopping the context ends it.
 *
 * @param rdma an instance whose context is RUNNING, with a request callback
 * @param port 1 to 65535
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, the port is 0, or the instance listens to it already.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING, no request callback was set, or too many ports are listened to.
 * @retval DOCA_ERROR_CONNECTION_ABORTED another instance listens to that port of the device, or the system refuses.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/**
 * Stops to listen to a port. Connections stay. Requests from there that are not answered yet are refused, and their failure
 * callbacks run.
 *
 * @param rdma the instance
 * @param port a port that it listens to
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the instance does not listen to the port.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/**
 * Calls a peer. Returns at once: the established or the failure callback tells the end, within the time of
 * doca_rdma_set_connection_request_timeout().
 *
 * @param rdma an instance whose context is RUNNING, with connection state callbacks
 * @param addr an address that a device of the topology has; copied
 * @param connection_user_data for the callbacks of this connection
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING, no callbacks were set, or all connections of the instance are in use.
 * @retval DOCA_ERROR_CONNECTION_ABORTED no device has the address, or the call cannot be begun.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr, union doca_data connection_user_data);

/**
 * Accepts a peer: in the request callback or later. The established callback follows from progress.
 *
 * @param rdma_connection a connection that was requested
 * @param private_data bytes that go to the peer with the answer; NULL for none; copied
 * @param private_data_len how many, up to 196
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma_connection is NULL or has no request that waits, or the private data is NULL or too long.
 * @retval DOCA_ERROR_CONNECTION_ABORTED the peer has gone meanwhile: the connection is gone too.
 * @retval DOCA_ERROR_NO_MEMORY no memory: the connection is gone.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection, void *private_data,
					 uint8_t private_data_len);

/**
 * Refuses a peer: in the request callback or later. Its failure callback runs; here the connection is gone, without one.
 *
 * @param rdma_connection a connection that was requested
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma_connection is NULL, or has no request that waits.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection);

/**
 * Gives the address of the peer: for the caller the one it called, for the other side the caller's, in the form that the caller
 * used (an IPv6 address where its device has no IPv4 address) and with port 0.
 *
 * @param rdma_connection a connection by address
 * @param[out] addr the address, which belongs to the connection
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL, or the connection was not made by address.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection, struct doca_rdma_addr **addr);

/* ---- connections over a program's own rdma_cm ---- */

/**
 * Makes a connection of a request that a program's own rdma_cm listener got. Only real RDMA devices have that; on others the
 * answer is DOCA_ERROR_NOT_SUPPORTED, and doca_rdma_start_listen_to_port() does the same.
 *
 * @param rdma an instance whose context is RUNNING
 * @param cm_id the id of the request, which the library owns from a success on
 * @param[out] rdma_connection the connection
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_NOT_SUPPORTED the device is not a real RDMA device.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
						 struct doca_rdma_connection **rdma_connection);

/**
 * Accepts a connection that was prepared.
 *
 * @param rdma the instance
 * @param private_data bytes that go to the peer with the answer; NULL for none
 * @param private_data_len how many
 * @param rdma_connection the connection
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_NOT_SUPPORTED the device is not a real RDMA device.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data, uint8_t private_data_len,
				     struct doca_rdma_connection *rdma_connection);

/**
 * Tells that the program's listener heard that the connection is established.
 *
 * @param rdma the instance
 * @param rdma_connection the connection
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED the device is not a real RDMA device.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection);

/* ---- capabilities ---- */

/**
 * Receives that a receive queue can hold.
 *
 * @param devinfo the device asked about
 * @param[out] max_recv_queue_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size);

/**
 * The largest size that doca_rdma_set_send_queue_size() takes.
 *
 * @param devinfo the device asked about
 * @param[out] max_send_queue_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size);

/**
 * The longest list of local buffers that doca_rdma_set_max_send_buf_list_len() takes.
 *
 * @param devinfo the device asked about
 * @param[out] max_send_buf_list_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_send_buf_list_len);

/**
 * Bytes of the largest message, read or write: 2 GiB.
 *
 * @param devinfo the device asked about
 * @param[out] max_message_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size);

/**
 * Entries of the device's table of GIDs: two with its link-local address and, if it has an IPv4 address, two with that.
 *
 * @param devinfo the device asked about
 * @param[out] gid_table_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo, uint32_t *gid_table_size);

/**
 * Copies entries of the device's table of GIDs.
 *
 * @param devinfo the device asked about
 * @param start_index the first entry
 * @param num_entries how many, at least 1
 * @param[out] gid_array room for as many
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL, or the entries are not all in the table.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
				   struct doca_rdma_gid *gid_array);

/**
 * Can instances on the device be of a transport type? RC and DC both can.
 *
 * @param devinfo the device asked about
 * @param transport_type the type
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they cannot.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
						       enum doca_rdma_transport_type transport_type);

/* ---- properties ---- */

/**
 * Sets the tasks that one connection is meant to have under way. It is rounded up to a power of two. On a software device the
 * numbers of tasks that are configured bound this, so the value is kept and limits nothing more.
 *
 * @param rdma an instance whose context is IDLE
 * @param send_queue_size 1 to doca_rdma_cap_get_max_send_queue_size(); 128 if never set
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size);

/**
 * Gives the rounded send queue size.
 *
 * @param rdma the instance
 * @param[out] send_queue_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size);

/**
 * Sets the receives that kernels of an instance with a data path on a GPU can have posted. It is rounded up to a power of two.
 *
 * @param rdma an instance whose context is IDLE, after doca_ctx_set_datapath_on_gpu()
 * @param recv_queue_size 1 to doca_rdma_cap_get_max_recv_queue_size(); 128 if never set
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_NOT_SUPPORTED the data path is on the CPU, where doca_rdma_task_receive_set_conf() says how many.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size);

/**
 * Gives the rounded receive queue size.
 *
 * @param rdma an instance with a data path on a GPU
 * @param[out] recv_queue_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED the data path is on the CPU.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size);

/**
 * Sets how many buffers a list of local buffers may have, in every task but the receive.
 *
 * @param rdma an instance whose context is IDLE
 * @param max_send_buf_list_len 1 to doca_rdma_cap_get_max_send_buf_list_len(); 1 if never set
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma, uint32_t max_send_buf_list_len);

/**
 * Gives the length of local lists.
 *
 * @param rdma the instance
 * @param[out] max_send_buf_list_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma, uint32_t *max_send_buf_list_len);

/**
 * Chooses the transport, the same on both sides of every connection. What tasks do is the same. With RC one peer connects with
 * the details of an export; with DC any number can, all of whose messages arrive on that connection.
 *
 * @param rdma an instance whose context is IDLE
 * @param transport_type RC (if nothing is set) or DC
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type);

/**
 * Gives the transport.
 *
 * @param rdma the instance
 * @param[out] transport_type the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type);

/**
 * Sets how long doca_rdma_connect_to_addr() waits for the peer's answer before the failure callback runs.
 *
 * @param rdma an instance whose context is IDLE
 * @param timeout milliseconds from 1 on; 10000 if never set
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is 0.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma, uint16_t timeout);

/**
 * Gives the timeout of a call in milliseconds.
 *
 * @param rdma the instance
 * @param[out] timeout the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma, uint16_t *timeout);

/**
 * Sets the largest packet. A software device sends no packets: the value is kept for programs that ask.
 *
 * @param rdma an instance whose context is IDLE
 * @param mtu 256 to 4096 bytes; 1024 if never set
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);

/**
 * Gives the MTU.
 *
 * @param rdma the instance
 * @param[out] mtu the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu);

/**
 * Sets what the peers of this instance may do with the memory that it exports. A memory map must permit it too. They travel in
 * the details of doca_rdma_export().
 *
 * @param rdma an instance whose context is IDLE
 * @param permissions DOCA_ACCESS_FLAG_LOCAL_READ_WRITE and RDMA flags, or 0 (if never set)
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);

/**
 * Gives the permissions.
 *
 * @param rdma the instance
 * @param[out] permissions the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions);

/**
 * Switches the global routing header. The ports here are Ethernet, where it is always on.
 *
 * @param rdma an instance whose context is IDLE
 * @param grh_enabled 1
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_NOT_SUPPORTED it is 0.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled);

/**
 * Is the global routing header on? It is 1.
 *
 * @param rdma the instance
 * @param[out] grh_enabled the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled);

/**
 * Chooses the entry of the device's table of GIDs that the instance goes by.
 *
 * @param rdma an instance whose context is IDLE
 * @param gid_index 0 (if never set) to doca_rdma_cap_get_gid_table_size() - 1
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);

/**
 * Gives the GID index.
 *
 * @param rdma the instance
 * @param[out] gid_index the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index);

/**
 * Sets the service level. A software device has one way for all: the value is kept for programs that ask.
 *
 * @param rdma an instance whose context is IDLE
 * @param sl 0 (if never set) to 15
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);

/**
 * Gives the service level.
 *
 * @param rdma the instance
 * @param[out] sl the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);

/**
 * Sets how many connections can be exported in one run.
 *
 * @param rdma an instance whose context is IDLE
 * @param max_num_connections 1 (if never set) to 1024
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections);

/**
 * Gives the number of connections.
 *
 * @param rdma the instance
 * @param[out] max_num_connections the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma, uint16_t *max_num_connections);

/**
 * Sets how often a send, or write with immediate, is tried again when the peer has no receive posted, 10 ms apart. After that the
 * task fails.
 *
 * @param rdma an instance whose context is IDLE
 * @param rnr_retry_count 0 to 7; 7 (if never set) is for ever
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the value is not possible.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count);

/**
 * Gives the retry count.
 *
 * @param rdma the instance
 * @param[out] rnr_retry_count the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma, uint8_t *rnr_retry_count);

/* ---- receive ---- */

/** A task that takes one message from whichever peer sends it. */
struct doca_rdma_task_receive;

/**
 * Told when a receive ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once more,
 * from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_receive_completion_cb_t)(struct doca_rdma_task_receive *task, union doca_data task_user_data,
						       union doca_data ctx_user_data);

/**
 * Can receive tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo);

/**
 * The longest list of buffers that a receive can have.
 *
 * @param devinfo the device asked about
 * @param transport_type RC or DC
 * @param[out] max_buf_list_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE a pointer is NULL, or the transport is neither.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
								 enum doca_rdma_transport_type transport_type,
								 uint32_t *max_buf_list_len);

/**
 * Sets how many receive tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_set_conf(struct doca_rdma *rdma,
					     doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
					     doca_rdma_task_receive_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Sets how many buffers the list of a receive may have.
 *
 * @param rdma an instance whose context is IDLE
 * @param buf_list_len 1 (if never set) to what the capability says
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma, uint32_t buf_list_len);

/**
 * Gives the length of the lists of receives.
 *
 * @param rdma the instance
 * @param[out] buf_list_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma, uint32_t *buf_list_len);

/**
 * Allocates a receive: one message is appended to the data section of the buffer, or of a list's buffers one after the other.
 * Receives are taken in the order of their submission, by the messages of all connections.
 *
 * @param rdma an instance whose context is RUNNING
 * @param dst_buf a buffer, or the head of a list of buffers of one memory map; NULL for messages without bytes
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf, union doca_data user_data,
						  struct doca_rdma_task_receive **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task);

/** Sets another destination. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task, struct doca_buf *dst_buf);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task);

/** What a receive received. */
enum doca_rdma_opcode {
	DOCA_RDMA_OPCODE_RECV_SEND = 0,		  /**< a send */
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM = 1,  /**< a send with immediate */
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM = 2, /**< the immediate of a write; no bytes were put into the buffer */
};

/** What was received. Valid in the success callback. DOCA_RDMA_OPCODE_RECV_SEND for NULL. */
DOCA_EXPERIMENTAL
enum doca_rdma_opcode doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task);

/** Bytes that were received into the buffer. Valid in the success callback. 0 for NULL. */
DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task);

/** The immediate, as the peer gave it: no byte is swapped. Valid in the success callback; 0 when there was none, and for NULL. */
DOCA_EXPERIMENTAL
doca_be32_t doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task);

/** The connection that the message came by. Valid in the success callback. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_receive_get_result_rdma_connection(const struct doca_rdma_task_receive *task);

/* ---- send ---- */

/** A task that sends a message into a receive of the peer. */
struct doca_rdma_task_send;

/**
 * Told when a send ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once more,
 * from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_send_completion_cb_t)(struct doca_rdma_task_send *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Can send tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many send tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_set_conf(struct doca_rdma *rdma,
					  doca_rdma_task_send_completion_cb_t successful_task_completion_cb,
					  doca_rdma_task_send_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocates a send. It succeeds when the message is in the buffer of the receive that the peer posted first.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by
 * @param src_buf the message, a buffer or the head of a list; NULL for one without bytes
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf, union doca_data user_data,
					       struct doca_rdma_task_send **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task);

/** Sets another source. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task, const struct doca_buf *src_buf);

/** The source that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task, struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task);

/** A task that sends a message and 32 bits beside it. */
struct doca_rdma_task_send_imm;

/**
 * Told when a send with immediate ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or
 * submitted once more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_send_imm_completion_cb_t)(struct doca_rdma_task_send_imm *task, union doca_data task_user_data,
							union doca_data ctx_user_data);

/**
 * Can send with immediate tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many send with immediate tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_imm_set_conf(struct doca_rdma *rdma,
					      doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
					      doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb,
					      uint32_t num_tasks);

/**
 * Allocates a send with immediate. As a send; the immediate arrives with the receive.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by
 * @param src_buf the message, a buffer or the head of a list; NULL for one without bytes
 * @param immediate_data 32 bits, passed on as they are
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						   const struct doca_buf *src_buf, doca_be32_t immediate_data,
						   union doca_data user_data, struct doca_rdma_task_send_imm **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task);

/** Sets another source. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task, const struct doca_buf *src_buf);

/** The source that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task);

/** Sets another immediate. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task, doca_be32_t immediate_data);

/** The immediate that was set last. Also just after the task was freed. 0 for NULL. */
DOCA_EXPERIMENTAL
doca_be32_t doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
						 struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_send_imm_get_rdma_connection(const struct doca_rdma_task_send_imm *task);

/* ---- read and write ---- */

/** A task that reads the peer's memory. */
struct doca_rdma_task_read;

/**
 * Told when a read ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once more,
 * from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_read_completion_cb_t)(struct doca_rdma_task_read *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Can read tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many read tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_read_set_conf(struct doca_rdma *rdma,
					  doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
					  doca_rdma_task_read_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocates a read: the data section of the source is appended to the destination.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by
 * @param src_buf one buffer in a memory map made of the peer's export; NULL, or one without data, reads nothing
 * @param dst_buf a local buffer or the head of a list
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf, struct doca_buf *dst_buf,
					       union doca_data user_data, struct doca_rdma_task_read **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task);

/** Sets another source. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task, const struct doca_buf *src_buf);

/** The source that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task);

/** Sets another destination. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task, struct doca_buf *dst_buf);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task, struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task);

/** Bytes that were read. Valid in the success callback. 0 for NULL. */
DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task);

/** A task that writes to the peer's memory. */
struct doca_rdma_task_write;

/**
 * Told when a write ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once more,
 * from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_write_completion_cb_t)(struct doca_rdma_task_write *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Can write tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many write tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_set_conf(struct doca_rdma *rdma,
					   doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
					   doca_rdma_task_write_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocates a write: the source's data goes behind the data section of the destination, which grows by it.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by
 * @param src_buf a local buffer or the head of a list; NULL, or one without data, writes nothing
 * @param dst_buf one buffer in a memory map made of the peer's export
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						union doca_data user_data, struct doca_rdma_task_write **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task);

/** Sets another source. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task, const struct doca_buf *src_buf);

/** The source that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task);

/** Sets another destination. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task, struct doca_buf *dst_buf);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task, struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task);

/** A task that writes to the peer's memory and completes one of its receives. */
struct doca_rdma_task_write_imm;

/**
 * Told when a write with immediate ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or
 * submitted once more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_write_imm_completion_cb_t)(struct doca_rdma_task_write_imm *task, union doca_data task_user_data,
							 union doca_data ctx_user_data);

/**
 * Can write with immediate tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many write with immediate tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_imm_set_conf(struct doca_rdma *rdma,
					       doca_rdma_task_write_imm_completion_cb_t successful_task_completion_cb,
					       doca_rdma_task_write_imm_completion_cb_t error_task_completion_cb,
					       uint32_t num_tasks);

/**
 * Allocates a write with immediate. As a write; then the immediate completes the receive that the peer posted first.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by
 * @param src_buf a local buffer or the head of a list; NULL, or one without data, writes nothing
 * @param dst_buf one buffer in a memory map made of the peer's export; may be NULL when nothing is written
 * @param immediate_data 32 bits, passed on as they are
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						    const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						    doca_be32_t immediate_data, union doca_data user_data,
						    struct doca_rdma_task_write_imm **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_write_imm_as_task(struct doca_rdma_task_write_imm *task);

/** Sets another source. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_src_buf(struct doca_rdma_task_write_imm *task, const struct doca_buf *src_buf);

/** The source that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_write_imm_get_src_buf(const struct doca_rdma_task_write_imm *task);

/** Sets another destination. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_dst_buf(struct doca_rdma_task_write_imm *task, struct doca_buf *dst_buf);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_write_imm_get_dst_buf(const struct doca_rdma_task_write_imm *task);

/** Sets another immediate. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_immediate_data(struct doca_rdma_task_write_imm *task, doca_be32_t immediate_data);

/** The immediate that was set last. Also just after the task was freed. 0 for NULL. */
DOCA_EXPERIMENTAL
doca_be32_t doca_rdma_task_write_imm_get_immediate_data(const struct doca_rdma_task_write_imm *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_rdma_connection(struct doca_rdma_task_write_imm *task,
						  struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_write_imm_get_rdma_connection(const struct doca_rdma_task_write_imm *task);

/* ---- atomics ---- */

/** A task that stores a value in the peer's memory if another is there. */
struct doca_rdma_task_atomic_cmp_swp;

/**
 * Told when a compare and swap ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted
 * once more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_atomic_cmp_swp_completion_cb_t)(struct doca_rdma_task_atomic_cmp_swp *task,
							      union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Can compare and swap tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many compare and swap tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(struct doca_rdma *rdma,
						    doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
						    doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb,
						    uint32_t num_tasks);

/**
 * Allocates a compare and swap of 8 bytes in host byte order, atomic for every process that reaches them.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by
 * @param dst_buf one buffer in a memory map made of the peer's export, whose data begins at an address that 8 divides; the 8
 * bytes there are operated on
 * @param result_buf a local buffer: the value before is written to the beginning of its data, which becomes 8 bytes if it was
 * less
 * @param cmp_data stored only if this is there
 * @param swap_data what is stored
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
							 struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
							 uint64_t swap_data, union doca_data user_data,
							 struct doca_rdma_task_atomic_cmp_swp **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task);

/** Sets another destination. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *dst_buf);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

/** Sets another result buffer. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *result_buf);

/** The result buffer that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

/** Sets another value to compare with. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t cmp_data);

/** The value to compare with that was set last. Also just after the task was freed. 0 for NULL. */
DOCA_EXPERIMENTAL
uint64_t doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task);

/** Sets another value to store. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t swap_data);

/** The value to store that was set last. Also just after the task was freed. 0 for NULL. */
DOCA_EXPERIMENTAL
uint64_t doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
						       struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(const struct doca_rdma_task_atomic_cmp_swp *task);

/** A task that adds to a value in the peer's memory. */
struct doca_rdma_task_atomic_fetch_add;

/**
 * Told when a fetch and add ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once
 * more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_atomic_fetch_add_completion_cb_t)(struct doca_rdma_task_atomic_fetch_add *task,
								union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Can fetch and add tasks run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many fetch and add tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_atomic_fetch_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_fetch_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocates a fetch and add of 8 bytes in host byte order, atomic for every process that reaches them.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by
 * @param dst_buf one buffer in a memory map made of the peer's export, whose data begins at an address that 8 divides; the 8
 * bytes there are operated on
 * @param result_buf a local buffer: the value before is written to the beginning of its data, which becomes 8 bytes if it was
 * less
 * @param add_data what is added
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
							   struct doca_buf *dst_buf, struct doca_buf *result_buf,
							   uint64_t add_data, union doca_data user_data,
							   struct doca_rdma_task_atomic_fetch_add **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_atomic_fetch_add_as_task(struct doca_rdma_task_atomic_fetch_add *task);

/** Sets another destination. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_dst_buf(struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *dst_buf);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_fetch_add_get_dst_buf(const struct doca_rdma_task_atomic_fetch_add *task);

/** Sets another result buffer. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_result_buf(struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *result_buf);

/** The result buffer that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_fetch_add_get_result_buf(const struct doca_rdma_task_atomic_fetch_add *task);

/** Sets another value to add. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_add_data(struct doca_rdma_task_atomic_fetch_add *task, uint64_t add_data);

/** The value to add that was set last. Also just after the task was freed. 0 for NULL. */
DOCA_EXPERIMENTAL
uint64_t doca_rdma_task_atomic_fetch_add_get_add_data(const struct doca_rdma_task_atomic_fetch_add *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_rdma_connection(struct doca_rdma_task_atomic_fetch_add *task,
							 struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *
doca_rdma_task_atomic_fetch_add_get_rdma_connection(const struct doca_rdma_task_atomic_fetch_add *task);

/* ---- remote sync events ---- */

/*
 * Tasks on an event of the peer's node, made with the instance's device by doca_sync_event_remote_net_create_from_export(). They
 * keep their place among the connection's other tasks: who sees the value set sees what was written before it. They need nothing
 * of the peer's program, and wake what waits for the event there, be it asleep. The rights on the event come with its export;
 * the peer's instance must permit RDMA read for get, RDMA write for notify set, RDMA atomic for notify add.
 *
 * A submit answers DOCA_ERROR_INVALID_VALUE also for a missing event, and one that was imported with another device. Once the
 * event's owner has stopped or destroyed it, or died, tasks on it end with DOCA_ERROR_CONNECTION_ABORTED, and take the connection
 * with them as any failure does. (RDMA guide, the remote sync event tasks)
 */

/** A task that reads the value of a remote sync event. */
struct doca_rdma_task_remote_net_sync_event_get;

/**
 * Told when a get ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once
 * more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_remote_net_sync_event_get_completion_cb_t)(struct doca_rdma_task_remote_net_sync_event_get *task,
									 union doca_data task_user_data,
									 union doca_data ctx_user_data);

/**
 * Can get tasks of remote sync events run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many get tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocates a read of a remote sync event. On success 8 bytes in host byte order, one whole value that the event had while the
 * task was under way, are appended to the data of the destination.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by, to the event's owner
 * @param event the event, which must not be destroyed while the task is in flight
 * @param dst_buf a local buffer, or a list of them, with room for 8 bytes behind its data, whose memory map has
 * DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(struct doca_rdma *rdma,
								    struct doca_rdma_connection *rdma_connection,
								    const struct doca_sync_event_remote_net *event,
								    struct doca_buf *dst_buf, union doca_data user_data,
								    struct doca_rdma_task_remote_net_sync_event_get **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(struct doca_rdma_task_remote_net_sync_event_get *task);

/** Sets another event. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *task,
							     const struct doca_sync_event_remote_net *event);

/** The event that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(const struct doca_rdma_task_remote_net_sync_event_get *task);

/** Sets another destination. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(struct doca_rdma_task_remote_net_sync_event_get *task,
							  struct doca_buf *dst_buf);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *
doca_rdma_task_remote_net_sync_event_get_get_dst_buf(const struct doca_rdma_task_remote_net_sync_event_get *task);

/** Bytes that were read: 8. Valid in the success callback. 0 for NULL. */
DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(const struct doca_rdma_task_remote_net_sync_event_get *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(struct doca_rdma_task_remote_net_sync_event_get *task,
								  struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(const struct doca_rdma_task_remote_net_sync_event_get *task);

/** A task that sets a remote sync event. */
struct doca_rdma_task_remote_net_sync_event_notify_set;

/**
 * Told when a notify set ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once
 * more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t)(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Can notify set tasks of remote sync events run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many notify set tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocates a task that sets a remote sync event to the value in a buffer. The value is taken by the submit; the buffer stays as
 * it is until the task has ended.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by, to the event's owner
 * @param event the event, which must not be destroyed while the task is in flight
 * @param src_buf a local buffer, or a list of them, with 8 bytes of data in all: the value in host byte order
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	const struct doca_buf *src_buf, union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_set_as_task(struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/** Sets another event. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
								    struct doca_sync_event_remote_net *event);

/** The event that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/** Sets another source. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
								 const struct doca_buf *src_buf);

/** The source that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_buf *
doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/** A task that adds to a remote sync event. */
struct doca_rdma_task_remote_net_sync_event_notify_add;

/**
 * Told when a notify add ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted once
 * more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t)(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Can notify add tasks of remote sync events run on the device? They can on every device.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when they can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Sets how many notify add tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param rdma an instance whose context is IDLE
 * @param successful_task_completion_cb told of success
 * @param error_task_completion_cb told of everything else
 * @param num_tasks tasks that can be allocated at a time, 1 to 65536
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocates an addition to a remote sync event, atomic with every other update of it.
 *
 * @param rdma an instance whose context is RUNNING
 * @param rdma_connection the connection it goes by, to the event's owner
 * @param event the event, which must not be destroyed while the task is in flight
 * @param result_buf a local buffer: the value before is written to the beginning of its data, which becomes 8 bytes if it was
 * less
 * @param add_data what is added
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE rdma, rdma_connection or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	struct doca_buf *result_buf, uint64_t add_data, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_add_as_task(struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/** Sets another event. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								    struct doca_sync_event_remote_net *event);

/** The event that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/** Sets another result buffer. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								    struct doca_buf *result_buf);

/** The result buffer that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/** Sets another value to add. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								  uint64_t add_data);

/** The value to add that was set last. Also just after the task was freed. 0 for NULL. */
DOCA_EXPERIMENTAL
uint64_t
doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/** Sets another connection. The task is not in flight. Nothing happens to NULL. */
DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_rdma_connection *rdma_connection);

/** The connection that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/* ---- data path on a DPA ---- */

/**
 * Gives the handle by which kernels post operations and receives (doca_gpunetio_dev_rdma.cuh). Such an instance has no tasks: their
 * allocation is DOCA_ERROR_NOT_SUPPORTED. It needs a progress engine for connections by address only.
 *
 * @param rdma an instance whose context runs, and whose data path was set on a GPU before its start
 * @param[out] gpu_rdma the handle, an address for kernels; what is behind it stays until the instance is destroyed or started again
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context does not run, or its data path is not on a GPU.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma);

/**
 * An instance's handle for the code of a DPA, of an instance whose data path is there (doca_ctx_set_datapath_on_dpa()).
 *
 * @param rdma the instance, started
 * @param[out] dpa_rdma the handle
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the data path is not on a DPA; here it never is (doca_dpa_cap_is_supported()).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma);

/**
 * Lets a completion of a DPA report what the instance's operations did. Before start.
 *
 * @param rdma the instance
 * @param dpa_comp the completion
 * @return DOCA_SUCCESS on success
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the instance is started.
 * @retval DOCA_ERROR_NOT_SUPPORTED no device here has a DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma, struct doca_dpa_completion *dpa_comp);

#ifdef __cplusplus
}
#endif

#endif
