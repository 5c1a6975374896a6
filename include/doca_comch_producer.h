/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comch_producer.h
 * The sending end of Comch's data path.
 *
 * A producer is made on an established connection. It sends to any consumer of the peer on that connection, by its id.
 *
 *     doca_comch_producer_create(connection, &producer);
 *     doca_pe_connect_ctx(pe, doca_comch_producer_as_ctx(producer));
 *     doca_comch_producer_task_send_set_conf(producer, sent, failed, 64);
 *     doca_ctx_start(doca_comch_producer_as_ctx(producer));      // SUCCESS
 *     doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, consumer_id, &task);
 *     while ((result = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN)
 *             ;
 *
 * A message is the data section of a buffer, or of all buffers of a list, and up to 32 bytes of immediate data. The buffer
 * belongs to the library from an accepted submit to the callback. Messages of one producer to one consumer arrive in order.
 *
 * Submit returns DOCA_ERROR_AGAIN while the consumer has no receive posted; the peer's progress clears it. It returns
 * DOCA_ERROR_INVALID_VALUE if the list or the message is too long, or a buffer's memory map lacks the device. The error callback
 * reports what depends on the peer:
 *
 * - DOCA_ERROR_NOT_FOUND: the peer never advertised the consumer's id, or it has expired. An id that came in a control message
 *   is known once that message is received.
 * - DOCA_ERROR_TOO_BIG: the message exceeds the receive posted first, or the immediate data exceeds what the consumer accepts
 * - DOCA_ERROR_CONNECTION_ABORTED, or another of its class: the peer is gone; the producer goes to STOPPING
 * - DOCA_ERROR_BAD_STATE: the producer was stopped first
 *
 * A producer belongs to the thread of its progress engine, which need not be the connection's. (DOCA Comch guide; task
 * functions: doca_pe.h)
 *
 * @retval DOCA_ERROR_BAD_STATE *_set_conf, *_set_dev_max_num_send: the context is not IDLE
 * @retval DOCA_ERROR_INVALID_VALUE *_set_conf, *_set_dev_max_num_send: the number is out of range
 * @retval DOCA_ERROR_NOT_SUPPORTED *_dpa_completion_attach, *_dpa_handle: always: there is no DPA
 */
#ifndef DOCA_COMCH_PRODUCER_H_
#define DOCA_COMCH_PRODUCER_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_comch_connection;
struct doca_comch_gpu_producer;
struct doca_ctx;
struct doca_devinfo;
struct doca_dpa_completion;
struct doca_task;

/** A producer: an object with a context (doca_comch_producer_as_ctx). */
struct doca_comch_producer;

/** Handle of a producer on a DPA. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/**
 * @name Producers and capabilities
 * @{
 */

/**
 * Creates a producer. Its id is the next one of this side of the connection, from 1.
 * @retval DOCA_ERROR_BAD_STATE the connection has ended
 * @retval DOCA_ERROR_NO_MEMORY out of memory, or doca_comch_producer_cap_get_max_producers() exist
 */
DOCA_STABLE
doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection, struct doca_comch_producer **producer);

/** @retval DOCA_ERROR_INITIALIZATION the context is not IDLE */
DOCA_STABLE
doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/** DOCA_SUCCESS for every device. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);

/** Never 0. The peer's doca_comch_consumer_task_post_recv_get_producer_id() returns it. */
DOCA_STABLE
doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id);

DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/** The longest message. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/** On one side of a connection. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo, uint32_t *max_producers);

DOCA_STABLE
struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/**
 * Sets how many sends kernels may have in flight.
 * @param dev_num_send 1 to doca_comch_producer_cap_get_max_num_tasks()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer, uint32_t dev_num_send);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
						       struct doca_dpa_completion *dpa_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
						doca_dpa_dev_comch_producer_t *dpa_producer);

/** @} */

/** A task that sends one message to a consumer. */
struct doca_comch_producer_task_send;

/**
 * @name Send tasks
 * A send succeeds when the message is in the consumer's buffer.
 * @{
 */

typedef void (*doca_comch_producer_task_send_completion_cb_t)(struct doca_comch_producer_task_send *task,
							      union doca_data task_user_data, union doca_data ctx_user_data);

/** @param num_send_tasks 1 to doca_comch_producer_cap_get_max_num_tasks() */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
						    doca_comch_producer_task_send_completion_cb_t task_completion_cb,
						    doca_comch_producer_task_send_completion_cb_t task_error_cb,
						    uint32_t num_send_tasks);

/**
 * @param buf in a started memory map with the connection's device; NULL to send immediate data alone
 * @param imm_data copied; NULL if imm_data_len is 0
 * @param imm_data_len up to 32; the consumer may accept less
 * @param consumer_id checked by submit
 * @retval DOCA_ERROR_INVALID_VALUE the immediate data is too long or NULL, or buf is NULL without immediate data
 * @retval DOCA_ERROR_NO_MEMORY all configured tasks are allocated
 * @retval DOCA_ERROR_BAD_STATE the producer is not RUNNING, or its data path is on a GPU
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer, const struct doca_buf *buf,
						      uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **task);

/** Also valid after doca_task_free(), until the next allocation. */
DOCA_STABLE
const struct doca_buf *doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task);

DOCA_STABLE
void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf);

DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task);

DOCA_STABLE
void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task, const uint32_t consumer_id);

DOCA_STABLE
uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task);

DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task);

/** Copies the data. If it exceeds 32 bytes, the next submit returns DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task, uint8_t *imm_data,
						uint32_t imm_data_len);

DOCA_STABLE
struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task);

/** @} */

/**
 * The handle for GPU kernels, an address for them. Valid until the producer stops.
 * @retval DOCA_ERROR_BAD_STATE it is not started, or its data path is on the CPU
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_gpu_handle(struct doca_comch_producer *producer,
						struct doca_comch_gpu_producer **gpu_producer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_PRODUCER_H_ */
