/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_rdma.h
 * RDMA: messages to a peer, and reads, writes and atomics of its memory, without involving its program.
 *
 *     doca_rdma_create(dev, &rdma);
 *     doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE);
 *     doca_rdma_task_write_set_conf(rdma, written, failed, 16);
 *     doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma));
 *     doca_ctx_start(doca_rdma_as_ctx(rdma));                     // DOCA_SUCCESS: it is RUNNING
 *     doca_rdma_export(rdma, &details, &size, &connection);       // exchange details with the peer
 *     doca_rdma_connect(rdma, peers_details, peers_size, connection);
 *     doca_rdma_task_write_allocate_init(rdma, connection, src, dst, user_data, &task);
 *     doca_task_submit(doca_rdma_task_write_as_task(task));       // then doca_pe_progress() until a callback
 *
 * Two instances, in two processes or in one, each export a connection, and each connects with what the other exported, in either
 * order. One instance can have several connections. Remote buffers lie in a memory map made from the peer's
 * doca_mmap_export_rdma().
 *
 * Or by address: one instance calls doca_rdma_start_listen_to_port(), others doca_rdma_connect_to_addr() with an address of its
 * device. Callbacks report requests, connections and their ends (doca_rdma_set_connection_state_callbacks()). The end of such a
 * connection leaves the context running.
 *
 * Tasks of one connection take effect and complete in the order of their submission. Reads, writes and atomics do not involve the
 * peer's program. Sends and writes with immediate wait for a receive of the peer (doca_rdma_set_rnr_retry_count()), and the tasks
 * behind them wait too. No task allocates memory, but the first receive into a memory map registers it.
 *
 * Submit rejects a wrong task with DOCA_ERROR_INVALID_VALUE: no connected connection, a missing buffer, one outside its memory
 * map or too small, a list that is too long, imported memory as a local buffer or local memory as a remote one, or an atomic
 * that is not aligned to 8. doca_task_submit() lists its other codes. A local buffer may be memory that another process exported
 * over PCI. The error callback reports what depends on the peer:
 *
 * - DOCA_ERROR_NOT_PERMITTED: the peer's instance, or its memory map, does not permit the operation
 * - DOCA_ERROR_IO_FAILED: the message exceeds the peer's receive, or no receive was posted in all retries
 * - DOCA_ERROR_CONNECTION_ABORTED: the peer stopped its instance, exited or died, or ended the export of its memory
 * - DOCA_ERROR_BAD_STATE: flushed, because the context was stopped or a task before it failed
 *
 * As on hardware, a failed task ends its connection and flushes the tasks behind it. Once a task has failed, no working
 * connection is left and no port is listened to, the context goes to STOPPING. If a peer that was connected by descriptors is
 * gone, the next task reports it. Posted receives belong to all connections, and stay.
 *
 * Every *_set_conf accepts 1 to 65536 tasks, and every *_is_supported of a task returns DOCA_SUCCESS. Results of a task are valid
 * in its success callback; its arguments are readable until the next allocation, also after doca_task_free().
 *
 * An instance belongs to the thread of its progress engine. (RDMA guide; task functions: doca_pe.h)
 *
 * @retval DOCA_ERROR_BAD_STATE doca_rdma_set_*, *_set_conf, *_receive_set_dst_buf_list_len: the context is not IDLE
 * @retval DOCA_ERROR_INVALID_VALUE doca_rdma_set_*, *_set_conf, *_receive_set_dst_buf_list_len: the value is out of range
 * @retval DOCA_ERROR_BAD_STATE *_allocate_init: the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY *_allocate_init: all configured tasks are allocated
 */
#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

#include <stdbool.h>
#include <stdint.h>

#include <rdma/rdma_cma.h>

#include <doca_compat.h>
#include <doca_ctx.h>
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

/** An instance's handle for code on a DPA. */
typedef uint64_t doca_dpa_dev_rdma_t;

/** The transport of an instance's connections. */
enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_TYPE_RC = 0, /**< reliable connections */
	DOCA_RDMA_TRANSPORT_TYPE_DC = 1, /**< dynamically connected: one connection for many peers */
};

/** The types of a device's address. */
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

/** An address and a port: of a listening peer, or of a caller. */
struct doca_rdma_addr;

/**
 * The device cannot be closed before the instance is destroyed. The memory maps of local and imported buffers must have it.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma);

/**
 * Destroys an instance and its connections.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);

/** Lives as long as the instance. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/**
 * Makes a connection, and the details by which one peer connects to it. The program sends the details to the peer. They belong
 * to the connection, and are readable until it has ended, or the context is started again or destroyed. Stopping the context
 * makes them invalid. In DOCA 2.5 also while STARTING.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING
 * @retval DOCA_ERROR_FULL doca_rdma_set_max_num_connections() connections are in use
 * @retval DOCA_ERROR_CONNECTION_ABORTED the system has no random numbers
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details, size_t *local_rdma_conn_details_size,
			      struct doca_rdma_connection **rdma_connection);

/**
 * Connects an exported connection to a peer's. Waits for the peer's process, not for its program; a second if that process is
 * stopped. Tasks may be submitted right after it, also before the peer connects. If the peer is gone, they fail. In DOCA 2.5
 * also while STARTING.
 * @param remote_rdma_conn_details of the peer's doca_rdma_export(); may be freed after the call
 * @param rdma_connection the connection whose own details the peer gets
 * @retval DOCA_ERROR_INVALID_VALUE the connection is another instance's, or the details are damaged, of another version or
 *   transport, or the connection's own
 * @retval DOCA_ERROR_BAD_STATE the context is not started, or the connection is of an earlier run, by address, or connected
 *   already
 * @retval DOCA_ERROR_CONNECTION_ABORTED the connection cannot be started, or the peer's process is stopped: try again later
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details, size_t remote_rdma_conn_details_size,
			       struct doca_rdma_connection *rdma_connection);

/** The library never reads or frees it. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data);

/** 0 if none was set. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
						union doca_data *connection_user_data);

/**
 * 0 for the first connection of a run, then 1, and so on. From the configured number on, numbers of ended connections are
 * reused.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection, uint32_t *connection_id);

/**
 * Ends a connection, however it was made. Its tasks fail with DOCA_ERROR_BAD_STATE unless they took effect; what was sent before
 * reaches the peer. For a connection by address, the disconnection callback then runs on both sides. The connection's slot may be
 * used again, and the context keeps running. Does nothing if the connection has ended, so the disconnection callback may call it.
 * A connection that was accepted but not established gets the failure callback.
 * @retval DOCA_ERROR_INVALID_VALUE a connection of an earlier run, or a request that is not answered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection);

/**
 * @name Connections by address
 * connection_user_data is that of doca_rdma_connect_to_addr() or doca_rdma_connection_set_user_data(), or 0.
 * @{
 */

/**
 * Called when a peer connects to a port that the instance listens to. The program answers here or later by
 * doca_rdma_connection_accept() or doca_rdma_connection_reject(). Until then the connection takes one of the instance's slots.
 */
typedef void (*doca_rdma_connection_request_cb_t)(struct doca_rdma_connection *rdma_connection, union doca_data ctx_user_data);

/**
 * Called on both sides when a connection is established. No message of it is received before. Tasks may be submitted from here
 * on.
 */
typedef void (*doca_rdma_connection_established_cb_t)(struct doca_rdma_connection *rdma_connection,
						      union doca_data connection_user_data, union doca_data ctx_user_data);

/** Called instead if a connection cannot be established; the log says why. The connection is gone when this returns. */
typedef void (*doca_rdma_connection_failure_cb_t)(struct doca_rdma_connection *rdma_connection,
						  union doca_data connection_user_data, union doca_data ctx_user_data);

/**
 * Called once, on both sides, when an established connection has ended: a side disconnected, a task failed, or the peer stopped
 * its context, exited or died (noticed within a second). All its tasks have ended before. When this returns, the connection's
 * slot may be used again. Stopping the context ends connections without this callback.
 */
typedef void (*doca_rdma_connection_disconnection_cb_t)(struct doca_rdma_connection *rdma_connection,
							union doca_data connection_user_data, union doca_data ctx_user_data);

/**
 * Required for doca_rdma_start_listen_to_port() and doca_rdma_connect_to_addr(). doca_pe_progress() calls them.
 * @param doca_rdma_connect_request_cb NULL for an instance that does not listen
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_connection_state_callbacks(struct doca_rdma *rdma,
						      doca_rdma_connection_request_cb_t doca_rdma_connect_request_cb,
						      doca_rdma_connection_established_cb_t doca_rdma_connect_established_cb,
						      doca_rdma_connection_failure_cb_t doca_rdma_connect_failure_cb,
						      doca_rdma_connection_disconnection_cb_t doca_rdma_disconnect_cb);

/**
 * Checks the form only. doca_rdma_connect_to_addr() checks whether a device has the address.
 * @param address "192.168.100.1"; "fe80::ac0:ebff:fe12:3456", where a scope such as "%eth0" is ignored; or a GID, as
 *   "fe80:0000:0000:0000:0ac0:ebff:fe12:3456" or with zeros left out; copied
 * @param port of the peer, 1 to 65535
 * @retval DOCA_ERROR_INVALID_VALUE an unknown type, a text of another form, or port 0
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address, uint16_t port,
				   struct doca_rdma_addr **addr);

/**
 * Connections made by the address have a copy.
 * @retval DOCA_ERROR_BAD_STATE it is the connection's, from doca_rdma_connection_get_addr()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr);

/**
 * @param address lives as long as addr
 * @param port 0 for a caller's address
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr, enum doca_rdma_addr_type *addr_type, const char **address,
				       uint16_t *port);

/**
 * Listens to a port on all addresses of the instance's device, until the context stops. An instance may listen to 16 ports.
 * @retval DOCA_ERROR_INVALID_VALUE port 0, or the instance listens to it already
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING, no request callback is set, or too many ports
 * @retval DOCA_ERROR_CONNECTION_ABORTED another instance listens to that port of the device, or the system fails
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/**
 * Connections stay. Requests that are not answered yet are rejected, and get the failure callback.
 * @retval DOCA_ERROR_INVALID_VALUE the instance does not listen to the port
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/**
 * Returns immediately. The established or the failure callback follows within doca_rdma_set_connection_request_timeout().
 * @param addr of a device in the topology; copied
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING, no callbacks are set, or all connections are in use
 * @retval DOCA_ERROR_CONNECTION_ABORTED no device has the address, or the connection cannot be started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr, union doca_data connection_user_data);

/**
 * Accepts a peer. The established callback follows. On CONNECTION_ABORTED and NO_MEMORY the connection is gone.
 * @param private_data copied and sent to the peer; NULL for none
 * @param private_data_len up to 196
 * @retval DOCA_ERROR_INVALID_VALUE the connection has no request that waits, or the private data is NULL or too long
 * @retval DOCA_ERROR_CONNECTION_ABORTED the peer is gone
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection, void *private_data,
					 uint8_t private_data_len);

/**
 * Rejects a peer, which gets its failure callback. The connection here is gone, without a callback.
 * @retval DOCA_ERROR_INVALID_VALUE the connection has no request that waits
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection);

/**
 * The peer's address, which belongs to the connection. For the listening side it is the caller's, in the form that the caller
 * used (IPv6 if its device has no IPv4 address), with port 0.
 * @retval DOCA_ERROR_INVALID_VALUE the connection was not made by address
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection, struct doca_rdma_addr **addr);

/** @} */

/**
 * @name Connections of a program's own rdma_cm
 * For requests that the program's own listener has received. doca_rdma_start_listen_to_port() does the same on every device.
 * @retval DOCA_ERROR_NOT_SUPPORTED the device is not a real RDMA device
 * @{
 */

/**
 * The library owns cm_id on success.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
						 struct doca_rdma_connection **rdma_connection);

/**
 * Accepts a prepared connection.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data, uint8_t private_data_len,
				     struct doca_rdma_connection *rdma_connection);

/** To be called once rdma_cm reports that the connection is established. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection);

/** @} */

/**
 * @name Capabilities
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_send_buf_list_len);

/** 2 GiB, also for reads and writes. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size);

/** Two entries with the link-local address, and two with the IPv4 address if there is one. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo, uint32_t *gid_table_size);

/**
 * @param num_entries at least 1
 * @retval DOCA_ERROR_INVALID_VALUE the entries are not all in the table
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
				   struct doca_rdma_gid *gid_array);

/** @retval DOCA_ERROR_NOT_SUPPORTED neither RC nor DC */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
						       enum doca_rdma_transport_type transport_type);

/** @} */

/**
 * @name Properties
 * The getters return the value in effect. A software device stores the MTU, the service level and the send queue size, but does
 * not use them.
 * @{
 */

/** @param send_queue_size 1 to doca_rdma_cap_get_max_send_queue_size(), rounded up to a power of two; 128 by default */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size);

/**
 * How many receives kernels can post. Call doca_ctx_set_datapath_on_gpu() first.
 * @param recv_queue_size 1 to doca_rdma_cap_get_max_recv_queue_size(), rounded up to a power of two; 128 by default
 * @retval DOCA_ERROR_NOT_SUPPORTED the data path is on the CPU: use doca_rdma_task_receive_set_conf()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size);

/** @retval DOCA_ERROR_NOT_SUPPORTED the data path is on the CPU */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size);

/**
 * Bounds the lists of local buffers in all tasks but receives.
 * @param max_send_buf_list_len 1 (the default) to doca_rdma_cap_get_max_send_buf_list_len()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma, uint32_t max_send_buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma, uint32_t *max_send_buf_list_len);

/**
 * RC by default; the same on both sides. With RC one peer connects with the details of an export. With DC any number can, and
 * all their messages arrive on that connection.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type);

/** @param timeout in milliseconds, from 1; 10000 by default */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma, uint16_t timeout);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma, uint16_t *timeout);

/** @param mtu 256 to 4096 bytes; 1024 by default */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu);

/**
 * What peers may do with the memory that the instance exports. The memory map must permit it too. The details of
 * doca_rdma_export() include it.
 * @param permissions DOCA_ACCESS_FLAG_LOCAL_READ_WRITE and RDMA flags; 0 by default
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions);

/**
 * The ports are Ethernet, where the global routing header is always on.
 * @retval DOCA_ERROR_NOT_SUPPORTED grh_enabled is 0
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled);

/** @param gid_index 0 (the default) to doca_rdma_cap_get_gid_table_size() - 1 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index);

/** @param sl 0 (the default) to 15 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);

/** @param max_num_connections 1 (the default) to 1024 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma, uint16_t *max_num_connections);

/**
 * How often a send, or write with immediate, is retried while the peer has no receive posted, 10 ms apart. Then it fails.
 * @param rnr_retry_count 0 to 7; 7 (the default) retries for ever
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma, uint8_t *rnr_retry_count);

/** @} */

/** A task that receives one message from any peer. */
struct doca_rdma_task_receive;

/**
 * @name Receive tasks
 * Receives are shared by all connections of an instance.
 * @{
 */

typedef void (*doca_rdma_task_receive_completion_cb_t)(struct doca_rdma_task_receive *task, union doca_data task_user_data,
						       union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo);

/** @retval DOCA_ERROR_INVALID_VALUE an unknown transport type */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
								 enum doca_rdma_transport_type transport_type,
								 uint32_t *max_buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_set_conf(struct doca_rdma *rdma,
					     doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
					     doca_rdma_task_receive_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/** @param buf_list_len 1 (the default) to the capability */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma, uint32_t buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma, uint32_t *buf_list_len);

/**
 * The message is appended to the data sections of the list. Messages of all connections take receives in the order of
 * submission.
 * @param dst_buf a buffer or list in one memory map; NULL for messages without bytes
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf, union doca_data user_data,
						  struct doca_rdma_task_receive **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task);

/** What was received. */
enum doca_rdma_opcode {
	DOCA_RDMA_OPCODE_RECV_SEND = 0,		  /**< a send */
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM = 1,  /**< a send with immediate */
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM = 2, /**< the immediate of a write; no bytes were put into the buffer */
};

DOCA_EXPERIMENTAL
enum doca_rdma_opcode doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task);

DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task);

/** As the peer passed it: no byte is swapped. 0 if there was none. */
DOCA_EXPERIMENTAL
doca_be32_t doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_receive_get_result_rdma_connection(const struct doca_rdma_task_receive *task);

/** @} */

/** A task that sends a message into a receive of the peer. */
struct doca_rdma_task_send;

/**
 * @name Send tasks
 * A send succeeds when the message is in the buffer of the receive that the peer posted first. The immediate comes with the
 * receive.
 * @{
 */

typedef void (*doca_rdma_task_send_completion_cb_t)(struct doca_rdma_task_send *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_set_conf(struct doca_rdma *rdma,
					  doca_rdma_task_send_completion_cb_t successful_task_completion_cb,
					  doca_rdma_task_send_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/** @param src_buf a buffer or list; NULL for a message without bytes */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf, union doca_data user_data,
					       struct doca_rdma_task_send **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task, const struct doca_buf *src_buf);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task, struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task);

/** A task that sends a message with an immediate of 32 bits. */
struct doca_rdma_task_send_imm;

typedef void (*doca_rdma_task_send_imm_completion_cb_t)(struct doca_rdma_task_send_imm *task, union doca_data task_user_data,
							union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_imm_set_conf(struct doca_rdma *rdma,
					      doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
					      doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb,
					      uint32_t num_tasks);

/**
 * @param src_buf a buffer or list; NULL for a message without bytes
 * @param immediate_data passed on as it is
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						   const struct doca_buf *src_buf, doca_be32_t immediate_data,
						   union doca_data user_data, struct doca_rdma_task_send_imm **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task, const struct doca_buf *src_buf);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task, doca_be32_t immediate_data);

DOCA_EXPERIMENTAL
doca_be32_t doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
						 struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_send_imm_get_rdma_connection(const struct doca_rdma_task_send_imm *task);

/** @} */

/** A task that reads the peer's memory. */
struct doca_rdma_task_read;

/**
 * @name Read and write tasks
 * The source's data is appended to the destination's data section. The remote buffer is one buffer in a memory map made from the
 * peer's export; the local one may be a list. A source that is NULL or empty transfers nothing.
 * @{
 */

typedef void (*doca_rdma_task_read_completion_cb_t)(struct doca_rdma_task_read *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_read_set_conf(struct doca_rdma *rdma,
					  doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
					  doca_rdma_task_read_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf, struct doca_buf *dst_buf,
					       union doca_data user_data, struct doca_rdma_task_read **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task, const struct doca_buf *src_buf);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task, struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task);

DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task);

/** A task that writes to the peer's memory. */
struct doca_rdma_task_write;

typedef void (*doca_rdma_task_write_completion_cb_t)(struct doca_rdma_task_write *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_set_conf(struct doca_rdma *rdma,
					   doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
					   doca_rdma_task_write_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						union doca_data user_data, struct doca_rdma_task_write **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task, const struct doca_buf *src_buf);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task, struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task);

/** A task that writes to the peer's memory, and completes one of its receives with an immediate. */
struct doca_rdma_task_write_imm;

typedef void (*doca_rdma_task_write_imm_completion_cb_t)(struct doca_rdma_task_write_imm *task, union doca_data task_user_data,
							 union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_imm_set_conf(struct doca_rdma *rdma,
					       doca_rdma_task_write_imm_completion_cb_t successful_task_completion_cb,
					       doca_rdma_task_write_imm_completion_cb_t error_task_completion_cb,
					       uint32_t num_tasks);

/**
 * @param dst_buf may be NULL if nothing is written
 * @param immediate_data passed on as it is
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						    const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						    doca_be32_t immediate_data, union doca_data user_data,
						    struct doca_rdma_task_write_imm **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_write_imm_as_task(struct doca_rdma_task_write_imm *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_src_buf(struct doca_rdma_task_write_imm *task, const struct doca_buf *src_buf);

DOCA_EXPERIMENTAL
const struct doca_buf *doca_rdma_task_write_imm_get_src_buf(const struct doca_rdma_task_write_imm *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_dst_buf(struct doca_rdma_task_write_imm *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_write_imm_get_dst_buf(const struct doca_rdma_task_write_imm *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_immediate_data(struct doca_rdma_task_write_imm *task, doca_be32_t immediate_data);

DOCA_EXPERIMENTAL
doca_be32_t doca_rdma_task_write_imm_get_immediate_data(const struct doca_rdma_task_write_imm *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_write_imm_set_rdma_connection(struct doca_rdma_task_write_imm *task,
						  struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_write_imm_get_rdma_connection(const struct doca_rdma_task_write_imm *task);

/** @} */

/** A task that stores a value in the peer's memory if it equals another. */
struct doca_rdma_task_atomic_cmp_swp;

/**
 * @name Atomic tasks
 * On 8 bytes in host byte order, atomic for every process. dst_buf is a buffer in a memory map made from the peer's export, with
 * data aligned to 8. The value before is written to the beginning of result_buf's data, which grows to 8 bytes.
 * @{
 */

typedef void (*doca_rdma_task_atomic_cmp_swp_completion_cb_t)(struct doca_rdma_task_atomic_cmp_swp *task,
							      union doca_data task_user_data, union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(struct doca_rdma *rdma,
						    doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
						    doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb,
						    uint32_t num_tasks);

/** @param cmp_data swap_data is stored only if the value is this */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
							 struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
							 uint64_t swap_data, union doca_data user_data,
							 struct doca_rdma_task_atomic_cmp_swp **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *result_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t cmp_data);

DOCA_EXPERIMENTAL
uint64_t doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t swap_data);

DOCA_EXPERIMENTAL
uint64_t doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
						       struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(const struct doca_rdma_task_atomic_cmp_swp *task);

/** A task that adds to a value in the peer's memory. */
struct doca_rdma_task_atomic_fetch_add;

typedef void (*doca_rdma_task_atomic_fetch_add_completion_cb_t)(struct doca_rdma_task_atomic_fetch_add *task,
								union doca_data task_user_data, union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_atomic_fetch_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_fetch_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
							   struct doca_buf *dst_buf, struct doca_buf *result_buf,
							   uint64_t add_data, union doca_data user_data,
							   struct doca_rdma_task_atomic_fetch_add **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_atomic_fetch_add_as_task(struct doca_rdma_task_atomic_fetch_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_dst_buf(struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_fetch_add_get_dst_buf(const struct doca_rdma_task_atomic_fetch_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_result_buf(struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *result_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_atomic_fetch_add_get_result_buf(const struct doca_rdma_task_atomic_fetch_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_add_data(struct doca_rdma_task_atomic_fetch_add *task, uint64_t add_data);

DOCA_EXPERIMENTAL
uint64_t doca_rdma_task_atomic_fetch_add_get_add_data(const struct doca_rdma_task_atomic_fetch_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_atomic_fetch_add_set_rdma_connection(struct doca_rdma_task_atomic_fetch_add *task,
							 struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *
doca_rdma_task_atomic_fetch_add_get_rdma_connection(const struct doca_rdma_task_atomic_fetch_add *task);

/** @} */

/** A task that reads the value of a remote sync event. */
struct doca_rdma_task_remote_net_sync_event_get;

/**
 * @name Remote sync event tasks
 * On an event of the peer's node, from doca_sync_event_remote_net_create_from_export() with the instance's device. It must not
 * be destroyed while the task is in flight. The tasks keep their order: a peer that sees the value sees what was written before
 * it. They wake waiters there, and do not involve the peer's program. Its instance must permit RDMA read for get, RDMA write
 * for notify set, and RDMA atomic for notify add.
 *
 * Submit returns DOCA_ERROR_INVALID_VALUE without an event, or if it was imported with another device. If the event's owner has
 * stopped it or died, the task fails with DOCA_ERROR_CONNECTION_ABORTED, and ends the connection. (RDMA guide, the remote sync
 * event tasks)
 * @{
 */

typedef void (*doca_rdma_task_remote_net_sync_event_get_completion_cb_t)(struct doca_rdma_task_remote_net_sync_event_get *task,
									 union doca_data task_user_data,
									 union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Appends the value, 8 bytes in host byte order, to the data section of dst_buf.
 * @param dst_buf a buffer or list with room for 8 bytes and DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(struct doca_rdma *rdma,
								    struct doca_rdma_connection *rdma_connection,
								    const struct doca_sync_event_remote_net *event,
								    struct doca_buf *dst_buf, union doca_data user_data,
								    struct doca_rdma_task_remote_net_sync_event_get **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(struct doca_rdma_task_remote_net_sync_event_get *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *task,
							     const struct doca_sync_event_remote_net *event);

DOCA_EXPERIMENTAL
const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(const struct doca_rdma_task_remote_net_sync_event_get *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(struct doca_rdma_task_remote_net_sync_event_get *task,
							  struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
struct doca_buf *
doca_rdma_task_remote_net_sync_event_get_get_dst_buf(const struct doca_rdma_task_remote_net_sync_event_get *task);

DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(const struct doca_rdma_task_remote_net_sync_event_get *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(struct doca_rdma_task_remote_net_sync_event_get *task,
								  struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(const struct doca_rdma_task_remote_net_sync_event_get *task);

/** A task that sets a remote sync event. */
struct doca_rdma_task_remote_net_sync_event_notify_set;

typedef void (*doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t)(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Submit reads the value. The buffer must not change until the task has ended.
 * @param src_buf a buffer or list with 8 bytes: the value in host byte order
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	const struct doca_buf *src_buf, union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task);

DOCA_EXPERIMENTAL
struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_set_as_task(struct doca_rdma_task_remote_net_sync_event_notify_set *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
								    struct doca_sync_event_remote_net *event);

DOCA_EXPERIMENTAL
struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
								 const struct doca_buf *src_buf);

DOCA_EXPERIMENTAL
const struct doca_buf *
doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/** A task that adds to a remote sync event. */
struct doca_rdma_task_remote_net_sync_event_notify_add;

typedef void (*doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t)(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Atomic with every other update of the event.
 * @param result_buf the value before is written to the beginning of its data, which grows to 8 bytes
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	struct doca_buf *result_buf, uint64_t add_data, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task);

DOCA_EXPERIMENTAL
struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_add_as_task(struct doca_rdma_task_remote_net_sync_event_notify_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								    struct doca_sync_event_remote_net *event);

DOCA_EXPERIMENTAL
struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								    struct doca_buf *result_buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
								  uint64_t add_data);

DOCA_EXPERIMENTAL
uint64_t
doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

DOCA_EXPERIMENTAL
void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_rdma_connection *rdma_connection);

DOCA_EXPERIMENTAL
const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/** @} */

/**
 * The handle by which kernels post operations (doca_gpunetio_dev_rdma.cuh), an address for them. Valid until the instance is
 * destroyed or started again. Such an instance has no tasks, and needs a progress engine for connections by address only.
 * @retval DOCA_ERROR_BAD_STATE the context is not started, or its data path is not on a GPU
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma);

/** @retval DOCA_ERROR_BAD_STATE always: no data path is on a DPA */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma);

/**
 * @retval DOCA_ERROR_BAD_STATE the instance is started
 * @retval DOCA_ERROR_NOT_SUPPORTED no device has a DPA
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma, struct doca_dpa_completion *dpa_comp);

#ifdef __cplusplus
}
#endif

#endif
