/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comch_producer.h
 * @brief The sending end of Comch's data path.
 *
 * A producer is made on an established connection and sends to any consumer of the peer on that connection, by its id.
 *
 * @code
 *   doca_comch_producer_create(connection, &producer);
 *   doca_pe_connect_ctx(pe, doca_comch_producer_as_ctx(producer));
 *   doca_comch_producer_task_send_set_conf(producer, sent, failed, 64);
 *   doca_ctx_start(doca_comch_producer_as_ctx(producer));      // SUCCESS
 *   doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, consumer_id, &task);
 *   while ((result = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN)
 *           ;
 * @endcode
 *
 * A message is the data section of a buffer, or of all buffers of a list, one after the other, and up to 32 bytes of immediate
 * data. The buffer is the library's from an accepted submit to the callback.
 *
 * What submit returns: DOCA_ERROR_AGAIN while the consumer has no receive posted, or the way to it is still being made; it
 * clears by the peer's doing, without progress here. DOCA_ERROR_INVALID_VALUE for what is wrong with the task itself: a list
 * longer than the capability, more than the largest message, a buffer whose mmap lacks the device.
 *
 * What depends on the peer ends by the error callback instead. The status is DOCA_ERROR_NOT_FOUND for a consumer id that the
 * peer never advertised or that has expired, DOCA_ERROR_TOO_BIG for a message larger than the receive posted first or immediate
 * data longer than the consumer takes, DOCA_ERROR_CONNECTION_ABORTED (or another of its class) when the peer is gone, and
 * DOCA_ERROR_BAD_STATE when the producer was stopped first. The producer stays RUNNING, unless the connection itself is lost:
 * then it goes to STOPPING by itself.
 *
 * An id that the peer told in a control message is known here when that message has been received, since both travel in order.
 *
 * Threads: a producer belongs to the thread of its progress engine, which need not be the connection's. Messages of one
 * producer to one consumer arrive in the order of submission.
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
 * Creates a producer on an established connection. Its id is the next one of this side of the connection, from 1.
 *
 * @param comch_connection the connection
 * @param[out] producer the producer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the connection has ended.
 * @retval DOCA_ERROR_NO_MEMORY no memory, or doca_comch_producer_cap_get_max_producers() exist.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection, struct doca_comch_producer **producer);

/**
 * Destroys a producer that is IDLE.
 *
 * @param producer the producer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE producer is NULL.
 * @retval DOCA_ERROR_INITIALIZATION it is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/**
 * Can producers send from this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot. Nothing is logged: programs ask one device after the other.
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * The producer's id on its connection, never 0: what doca_comch_consumer_task_post_recv_get_producer_id tells at the
 * peer.
 *
 * @param producer the producer
 * @param[out] id the id
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id);

/**
 * Send tasks that one producer can be configured with.
 *
 * @param devinfo any device
 * @param[out] max_num_tasks the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/**
 * Bytes of the longest message, over all buffers of its list.
 *
 * @param devinfo any device
 * @param[out] max_buf_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

/**
 * Buffers of the longest list that one message can be gathered from.
 *
 * @param devinfo any device
 * @param[out] max_buf_list_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Producers that can live on one side of a connection.
 *
 * @param devinfo any device
 * @param[out] max_producers the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo, uint32_t *max_producers);

/** The producer's context. It lives as long as the producer. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/**
 * Sets how many sends a GPU or DPA may have in flight on the producer, where its data path is on one.
 *
 * @param producer the producer, IDLE
 * @param dev_num_send 1 to doca_comch_producer_cap_get_max_num_tasks()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE producer is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer, uint32_t dev_num_send);

/**
 * Would attach a DPA completion.
 *
 * @param producer the producer
 * @param dpa_comp the completion
 * @return never DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer, struct doca_dpa_completion *dpa_comp);

/**
 * Would give the producer's handle on the DPA.
 *
 * @param producer the producer
 * @param[out] dpa_producer the handle
 * @return never DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer, doca_dpa_dev_comch_producer_t *dpa_producer);

/** A task that sends one message to a consumer. */
struct doca_comch_producer_task_send;

/**
 * The end of a send. The task and its buffer are the program's again.
 *
 * @param task the task
 * @param task_user_data as set by doca_task_set_user_data
 * @param ctx_user_data as set by doca_ctx_set_user_data
 */
typedef void (*doca_comch_producer_task_send_completion_cb_t)(struct doca_comch_producer_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Configures send tasks. Calling again replaces.
 *
 * @param producer the producer, IDLE
 * @param task_completion_cb runs when the message is in the consumer's buffer
 * @param task_error_cb runs when it cannot be; the file's beginning lists the statuses
 * @param num_send_tasks tasks to have, 1 to doca_comch_producer_cap_get_max_num_tasks()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer, doca_comch_producer_task_send_completion_cb_t task_completion_cb, doca_comch_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Takes a send task. When the consumer is known, the way to it is prepared.
 *
 * @param producer the producer, RUNNING
 * @param buf what to send: its data section, for a list's head that of every buffer. In a started mmap that has the
 *   connection's device. NULL to send immediate data alone. The reference stays the program's.
 * @param imm_data immediate data, copied; NULL when imm_data_len is 0
 * @param imm_data_len bytes, 0 to 32; the consumer may take less
 * @param consumer_id to whom; it is checked when the task is submitted
 * @param[out] task the task, the program's until doca_task_free
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE producer or task is NULL, the immediate data is too long or NULL, or buf is NULL
 *   without immediate data.
 * @retval DOCA_ERROR_NO_MEMORY every configured task is allocated, or none was configured.
 * @retval DOCA_ERROR_BAD_STATE the producer is not RUNNING, or its data path is on a GPU.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer, const struct doca_buf *buf, uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id, struct doca_comch_producer_task_send **task);

/** The task's buffer. Readable after doca_task_free too, until the next allocation. NULL for NULL. */
DOCA_STABLE
const struct doca_buf *doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task);

/**
 * Gives the task another buffer, while it is not in flight.
 *
 * @param task the task
 * @param buf as for doca_comch_producer_task_send_alloc_init
 */
DOCA_STABLE
void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf);

/** The consumer that the task sends to. 0 for NULL. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task);

/**
 * Makes the task send to another consumer, while it is not in flight.
 *
 * @param task the task
 * @param consumer_id its id
 */
DOCA_STABLE
void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task, const uint32_t consumer_id);

/** The task's copy of the immediate data, or NULL when it has none. */
DOCA_STABLE
uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task);

/** Bytes of the task's immediate data. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task);

/**
 * Copies other immediate data into the task, while it is not in flight. Data longer than 32 bytes is not taken, and the
 * next submit returns DOCA_ERROR_INVALID_VALUE.
 *
 * @param task the task
 * @param imm_data the bytes
 * @param imm_data_len how many; 0 for none
 */
DOCA_STABLE
void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task, uint8_t *imm_data, uint32_t imm_data_len);

/** The task's base, for doca_pe.h. NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task);

/**
 * The handle by which GPU kernels use the producer. It is valid until the producer stops.
 *
 * @param producer the producer, started, with its data path on a GPU
 * @param[out] gpu_producer the handle, an address for kernels
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE it is not started, or its data path is on the CPU.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_gpu_handle(struct doca_comch_producer *producer, struct doca_comch_gpu_producer **gpu_producer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_PRODUCER_H_ */
