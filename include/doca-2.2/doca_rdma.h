/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_rdma.h
 * Messages, and reads and writes of a peer's memory, over one connection, as jobs of a work queue (doca_ctx.h).
 *
 *     doca_ctx_start(doca_rdma_as_ctx(rdma));
 *     doca_rdma_export(rdma, &details, &size);               // send them to the peer, and get the peer's
 *     doca_rdma_connect(rdma, peers_details, peers_size);
 *     struct doca_rdma_job_send job = {
 *             .base = {.type = DOCA_RDMA_JOB_SEND, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_rdma_as_ctx(rdma)},
 *             .src_buff = src};
 *     doca_workq_submit(workq, &job.base);
 *     event.result.ptr = &result;                            // a struct doca_rdma_result
 *     doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
 *
 * An instance is in one work queue at a time. The receive queue limits the receives in flight, the send queue the jobs of each
 * other type; one more returns DOCA_ERROR_NO_MEMORY. A failed job ends the connection.
 *
 * Every setter returns DOCA_ERROR_BAD_STATE once the context is started. The setters are called before doca_ctx_start(), which
 * fails if the device does not accept a value. The getters return what is set.
 */
#ifndef DOCA_2_2_RDMA_H_
#define DOCA_2_2_RDMA_H_

#include <stdbool.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;

/** An RDMA instance. Opaque. */
struct doca_rdma;

/** The state of an instance. */
enum doca_rdma_state {
	DOCA_RDMA_STATE_RESET = 0, /**< not started */
	DOCA_RDMA_STATE_INIT,	   /**< started, not connected */
	DOCA_RDMA_STATE_CONNECTED, /**< connected */
	DOCA_RDMA_STATE_ERROR,	   /**< the connection has ended: stop the context, and start it again */
};

/** The transport of a connection. */
enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_RC, /**< a reliable connection */
	DOCA_RDMA_TRANSPORT_DC, /**< dynamically connected: not supported in this release */
};

/** An entry of a device's table of GIDs. */
struct doca_rdma_gid {
	uint8_t raw[DOCA_GID_BYTE_LENGTH]; /**< as it is on the wire */
};

/** What a receive was used for. */
enum doca_rdma_opcode_t {
	DOCA_RDMA_OPCODE_RECV_SEND = 0,	      /**< a send */
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,  /**< a send with immediate data */
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM, /**< the immediate data of a write */
};

/** The result of a job. Point the event's result.ptr at one before it is retrieved; NULL if it is not needed. */
struct doca_rdma_result {
	doca_error_t result;		       /**< of the job */
	enum doca_rdma_opcode_t opcode;	       /**< of a receive */
	uint32_t length;		       /**< of a receive: bytes received; else 0 */
	struct doca_rdma_addr *rdma_peer_addr; /**< NULL */
	doca_be32_t immediate_data;	       /**< of a receive, if opcode says that there is any; no byte is swapped */
};

/**
 * Creates one, without a device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_create(struct doca_rdma **rdma) DOCA_2_2_SYMBOL(doca_2_2_rdma_create);

/**
 * Destroys one.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma) DOCA_2_2_SYMBOL(doca_2_2_rdma_destroy);

/** Its context, for doca_ctx.h; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma) DOCA_2_2_SYMBOL(doca_2_2_as_ctx);

/**
 * Does the device support jobs of this type? Else DOCA_ERROR_NOT_SUPPORTED, as today's capability call has it.
 * @retval DOCA_ERROR_INVALID_VALUE no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_job_get_supported);

/**
 * The details by which the peer connects. They are the library's, until the context stops.
 * @retval DOCA_ERROR_BAD_STATE not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size) DOCA_2_2_SYMBOL(doca_2_2_rdma_export);

/**
 * Connects to the peer that exported these details. Waits for the peer's process, not for its program. Jobs may be submitted
 * right after it, also before the peer connects.
 * @param remote_rdma_conn_details may be freed after the call
 * @retval DOCA_ERROR_BAD_STATE not started, or connected already
 * @retval DOCA_ERROR_CONNECTION_ABORTED the details are damaged, or the peer's process is stopped
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details, size_t remote_rdma_conn_details_size)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_connect);

/** Receives that an instance may have posted. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size)
	DOCA_2_2_SYMBOL(doca_rdma_cap_get_max_recv_queue_size);

/** Other jobs that it may have in flight. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_send_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size)
	DOCA_2_2_SYMBOL(doca_rdma_cap_get_max_send_queue_size);

/** Bytes of a message. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size)
	DOCA_2_2_SYMBOL(doca_rdma_cap_get_max_message_size);

/**
 * Local bufs that the list of a job may have.
 * @retval DOCA_ERROR_INVALID_VALUE no such type of job
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_buf_chain_len(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type,
					     enum doca_rdma_transport_type transport_type, uint32_t *max_buf_chain_len)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_max_buf_chain_len);

/** Entries of the device's table of GIDs. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid_table_size(struct doca_devinfo *devinfo, uint32_t *gid_table_size)
	DOCA_2_2_SYMBOL(doca_rdma_cap_get_gid_table_size);

/**
 * Entries of it.
 * @param gid_array room for num_entries, which are put there from start_index on
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid(struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
			       struct doca_rdma_gid *gid_array) DOCA_2_2_SYMBOL(doca_rdma_cap_get_gid);

/**
 * Does the device have this transport?
 * @retval DOCA_ERROR_NOT_SUPPORTED it does not: only RC is supported
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
						    enum doca_rdma_transport_type transport_type)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_transport_type_supported);

/** @param send_queue_size 1 or more, rounded up to a power of two; 128 by default */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_set_send_queue_size);

/** @param recv_queue_size 1 or more, rounded up to a power of two; 128 by default */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_set_recv_queue_size);

/** @retval DOCA_ERROR_NOT_SUPPORTED not RC, the default */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_set_transport_type);

/** @param mtu 256 to 4096 bytes; 1024 by default. A software device keeps it, and ignores it */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu) DOCA_2_2_SYMBOL(doca_2_2_rdma_set_mtu);

/**
 * What the peer may do with memory that is exported for RDMA. The memory map must permit it too.
 * @param permissions DOCA_ACCESS_LOCAL_READ_WRITE and DOCA_ACCESS_RDMA_*; 0 by default
 * @retval DOCA_ERROR_BAD_STATE also before doca_ctx_dev_add()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_set_permissions);

/** @retval DOCA_ERROR_NOT_SUPPORTED false: the ports are Ethernet, where the global routing header is always on */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled) DOCA_2_2_SYMBOL(doca_2_2_rdma_set_grh_enabled);

/** @param gid_index 0, the default, to doca_rdma_get_gid_table_size() - 1 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index) DOCA_2_2_SYMBOL(doca_2_2_rdma_set_gid_index);

/** @param recv_buf_chain_len bufs that the list of a receive may have: 1, the default, or more */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma, uint32_t recv_buf_chain_len)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_set_recv_buf_chain_len);

/** @param sl the service level, 0 (the default) to 15. A software device keeps it, and ignores it */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl) DOCA_2_2_SYMBOL(doca_2_2_rdma_set_sl);

/**
 * @name Getters
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_recv_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_transport_type);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu) DOCA_2_2_SYMBOL(doca_2_2_rdma_get_mtu);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_permissions);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, bool *grh_enabled)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_grh_enabled);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_gid_index);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_recv_buf_chain_len(const struct doca_rdma *rdma, uint32_t *recv_buf_chain_len)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_recv_buf_chain_len);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl) DOCA_2_2_SYMBOL(doca_2_2_rdma_get_sl);

/** @} */

/** The instance's state. doca_workq_progress_retrieve() detects the end of the connection. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma, enum doca_rdma_state *state)
	DOCA_2_2_SYMBOL(doca_2_2_rdma_get_state);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_RDMA_H_ */
