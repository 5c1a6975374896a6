/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_rdma.h
 * @brief RDMA as in DOCA 2.5: an instance has one connection, which no call names, and is RUNNING once it is connected.
 *
 * @code
 *   doca_rdma_create(dev, &rdma);
 *   doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
 *   doca_rdma_task_write_set_conf(rdma, written, failed, 16);
 *   doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma));
 *   doca_ctx_start(doca_rdma_as_ctx(rdma));                     // DOCA_ERROR_IN_PROGRESS: it is STARTING
 *   doca_rdma_export(rdma, &details, &size);                    // exchange them with the peer
 *   doca_rdma_connect(rdma, peers_details, peers_size);
 *   ... doca_pe_progress(pe) until the context is RUNNING ...
 *   doca_rdma_task_write_allocate_init(rdma, src, dst, user_data, &task);
 *   doca_task_submit(doca_rdma_task_write_as_task(task));       // then doca_pe_progress until a callback
 * @endcode
 *
 * Export and connect may also be called from the state callback, in STARTING. RUNNING needs the connect of this side only: tasks
 * that are submitted before the peer has connected wait. All else is as in today's doca_rdma.h. (RDMA guide)
 */
#ifndef DOCA_2_5_RDMA_H_
#define DOCA_2_5_RDMA_H_

/* Today's functions of these names differ. */
#define doca_rdma_create doca_rdma_create_of_today
#define doca_rdma_export doca_rdma_export_of_today
#define doca_rdma_connect doca_rdma_connect_of_today
#define doca_rdma_cap_get_gid_table_size doca_rdma_cap_get_gid_table_size_of_today
#define doca_rdma_cap_get_gid doca_rdma_cap_get_gid_of_today
#define doca_rdma_set_grh_enabled doca_rdma_set_grh_enabled_of_today
#define doca_rdma_get_grh_enabled doca_rdma_get_grh_enabled_of_today
#define doca_rdma_get_dpa_handle doca_rdma_get_dpa_handle_of_today
#define doca_rdma_task_send_allocate_init doca_rdma_task_send_allocate_init_of_today
#define doca_rdma_task_send_imm_allocate_init doca_rdma_task_send_imm_allocate_init_of_today
#define doca_rdma_task_read_allocate_init doca_rdma_task_read_allocate_init_of_today
#define doca_rdma_task_write_allocate_init doca_rdma_task_write_allocate_init_of_today
#define doca_rdma_task_write_imm_allocate_init doca_rdma_task_write_imm_allocate_init_of_today
#define doca_rdma_task_atomic_cmp_swp_allocate_init doca_rdma_task_atomic_cmp_swp_allocate_init_of_today
#define doca_rdma_task_atomic_fetch_add_allocate_init doca_rdma_task_atomic_fetch_add_allocate_init_of_today
#define doca_rdma_task_remote_net_sync_event_get_allocate_init doca_rdma_task_remote_net_sync_event_get_allocate_init_of_today
#define doca_rdma_task_remote_net_sync_event_notify_set_allocate_init                                                            \
	doca_rdma_task_remote_net_sync_event_notify_set_allocate_init_of_today
#define doca_rdma_task_remote_net_sync_event_notify_add_allocate_init                                                            \
	doca_rdma_task_remote_net_sync_event_notify_add_allocate_init_of_today
#include "../doca_rdma.h"
#undef doca_rdma_create
#undef doca_rdma_export
#undef doca_rdma_connect
#undef doca_rdma_cap_get_gid_table_size
#undef doca_rdma_cap_get_gid
#undef doca_rdma_set_grh_enabled
#undef doca_rdma_get_grh_enabled
#undef doca_rdma_get_dpa_handle
#undef doca_rdma_task_send_allocate_init
#undef doca_rdma_task_send_imm_allocate_init
#undef doca_rdma_task_read_allocate_init
#undef doca_rdma_task_write_allocate_init
#undef doca_rdma_task_write_imm_allocate_init
#undef doca_rdma_task_atomic_cmp_swp_allocate_init
#undef doca_rdma_task_atomic_fetch_add_allocate_init
#undef doca_rdma_task_remote_net_sync_event_get_allocate_init
#undef doca_rdma_task_remote_net_sync_event_notify_set_allocate_init
#undef doca_rdma_task_remote_net_sync_event_notify_add_allocate_init
#include <stdbool.h>
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_sync_event.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An instance for code on a DPA. Opaque. */
struct doca_dpa_dev_rdma;

/**
 * Creates an instance.
 * @param dev the device, which stays open as long
 * @param rdma the new instance; destroyed by doca_rdma_destroy()
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma) DOCA_2_5_SYMBOL(doca_2_5_rdma_create);

/**
 * The details that the peer needs to connect; pass them to the peer. The same bytes until the context stops.
 * @param rdma the instance, STARTING or RUNNING
 * @param local_rdma_conn_details set to their address; they belong to the instance until it stops
 * @retval DOCA_ERROR_BAD_STATE not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size) DOCA_2_5_SYMBOL(doca_2_5_rdma_export);

/**
 * Connects to the peer. The next progress makes the context RUNNING.
 * @param rdma the instance, STARTING; or RUNNING, which has no effect
 * @retval DOCA_ERROR_INVALID_VALUE not the details that an instance exported
 * @retval DOCA_ERROR_BAD_STATE not started, or connected already
 * @retval DOCA_ERROR_CONNECTION_ABORTED no connection to the peer can be established
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details, size_t remote_rdma_conn_details_size)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_connect);

/** As today, but the device info is not const. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid_table_size(struct doca_devinfo *devinfo, uint32_t *gid_table_size)
	DOCA_2_5_SYMBOL(doca_rdma_cap_get_gid_table_size);

/** As today, but the device info is not const. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid(struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
				   struct doca_rdma_gid *gid_array) DOCA_2_5_SYMBOL(doca_rdma_cap_get_gid);

/** As today; a bool is one byte, as today's uint8_t. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled) DOCA_2_5_SYMBOL(doca_rdma_set_grh_enabled);

/** As today; a bool is one byte, as today's uint8_t. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, bool *grh_enabled)
	DOCA_2_5_SYMBOL(doca_rdma_get_grh_enabled);

/** As today: always DOCA_ERROR_BAD_STATE, because no data path is on a DPA. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, struct doca_dpa_dev_rdma **dpa_rdma)
	DOCA_2_5_SYMBOL(doca_rdma_get_dpa_handle);

/** Today doca_rdma_task_receive_get_result_len(). */
DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_receive_get_result_length(const struct doca_rdma_task_receive *task)
	DOCA_2_5_SYMBOL(doca_rdma_task_receive_get_result_len);

/** Today doca_rdma_task_read_get_result_len(). */
DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_read_get_result_length(const struct doca_rdma_task_read *task)
	DOCA_2_5_SYMBOL(doca_rdma_task_read_get_result_len);

/** Today doca_rdma_task_remote_net_sync_event_get_get_result_len(). */
DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_length(const struct doca_rdma_task_remote_net_sync_event_get *task)
	DOCA_2_5_SYMBOL(doca_rdma_task_remote_net_sync_event_get_get_result_len);

/*
 * Allocate a task of the instance's connection, as today's functions of these names, which have an argument for the connection.
 * All return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE if an instance or output is NULL; DOCA_ERROR_BAD_STATE if not RUNNING; or
 * DOCA_ERROR_NO_MEMORY if all configured tasks are in use. Submit checks the buffers.
 */

/** A message to the peer, which has a receive posted. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf, union doca_data user_data,
					       struct doca_rdma_task_send **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_send_allocate_init);

/** A message with four bytes of immediate data. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						   doca_be32_t immediate_data, union doca_data user_data,
						   struct doca_rdma_task_send_imm **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_send_imm_allocate_init);

/** Reads the peer's memory. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
					       union doca_data user_data, struct doca_rdma_task_read **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_read_allocate_init);

/** Writes the peer's memory. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						union doca_data user_data, struct doca_rdma_task_write **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_write_allocate_init);

/** Writes the peer's memory, and completes a receive there with four bytes of immediate data. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						    struct doca_buf *dst_buf, doca_be32_t immediate_data,
						    union doca_data user_data, struct doca_rdma_task_write_imm **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_write_imm_allocate_init);

/** Compares 8 bytes of the peer's memory, and swaps them if equal. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
							 struct doca_buf *result_buf, uint64_t cmp_data, uint64_t swap_data,
							 union doca_data user_data, struct doca_rdma_task_atomic_cmp_swp **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_atomic_cmp_swp_allocate_init);

/** Adds to 8 bytes of the peer's memory. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
							   struct doca_buf *result_buf, uint64_t add_data,
							   union doca_data user_data,
							   struct doca_rdma_task_atomic_fetch_add **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_atomic_fetch_add_allocate_init);

/** The value of the peer's sync event. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(struct doca_rdma *rdma,
								    const struct doca_sync_event_remote_net *event,
								    struct doca_buf *dst_buf, union doca_data user_data,
								    struct doca_rdma_task_remote_net_sync_event_get **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_remote_net_sync_event_get_allocate_init);

/** Sets the peer's sync event to what a buffer holds. */
DOCA_EXPERIMENTAL
doca_error_t
doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(struct doca_rdma *rdma, struct doca_sync_event_remote_net *event,
							      const struct doca_buf *src_buf, union doca_data user_data,
							      struct doca_rdma_task_remote_net_sync_event_notify_set **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_remote_net_sync_event_notify_set_allocate_init);

/** Adds to the peer's sync event. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, struct doca_buf *result_buf, uint64_t add_data,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_add **task)
	DOCA_2_5_SYMBOL(doca_2_5_rdma_task_remote_net_sync_event_notify_add_allocate_init);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_RDMA_H_ */
