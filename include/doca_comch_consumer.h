/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comch_consumer.h
 * @brief The receiving end of Comch's data path.
 *
 * A consumer is made on an established connection, with the mmap that incoming data may be written to. It has an id on that
 * connection, which producers of the peer send to. The program posts buffers; each message takes one.
 *
 * @code
 *   doca_comch_consumer_create(connection, mmap, &consumer);   // mmap: started, with DOCA_ACCESS_FLAG_PCI_READ_WRITE
 *   doca_pe_connect_ctx(pe, doca_comch_consumer_as_ctx(consumer));
 *   doca_comch_consumer_task_post_recv_set_conf(consumer, received, failed, 64);
 *   doca_ctx_start(doca_comch_consumer_as_ctx(consumer));      // IN_PROGRESS
 *   ... progress both this engine and the connection's until RUNNING ...
 *   doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task);
 *   doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task));
 * @endcode
 *
 * Starting tells the peer of the consumer. It becomes RUNNING when the peer's library has taken that in, which needs the peer to
 * progress the engine of its server or client; at that moment the peer gets its new-consumer event. Stopping ends posted
 * receives by their error callback, and is the peer's expired-consumer event.
 *
 * Received bytes are appended to the buffer's data section; a posted list of buffers is filled in order. A message that is
 * larger than the buffer posted first fails at its sender, and the buffer stays posted. Receives complete in the order of
 * posting.
 *
 * A receive posted when the consumer stops ends with DOCA_ERROR_BAD_STATE; when the connection is lost, with
 * DOCA_ERROR_CONNECTION_ABORTED, and the consumer goes to STOPPING by itself.
 *
 * Threads: a consumer belongs to the thread of its progress engine, which need not be the connection's. Creating and
 * destroying consumers on one connection from several threads is allowed.
 *
 * With doca_ctx_set_datapath_on_gpu the data path is a GPU's: no tasks, and the handle of
 * doca_comch_consumer_get_gpu_handle for kernels. There is no DPA here: what is for one can be configured, and answers
 * DOCA_ERROR_NOT_SUPPORTED when it would have to run.
 */
#ifndef DOCA_COMCH_CONSUMER_H_
#define DOCA_COMCH_CONSUMER_H_

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
struct doca_comch_gpu_consumer;
struct doca_ctx;
struct doca_devinfo;
struct doca_dpa_thread;
struct doca_mmap;
struct doca_task;

/** A consumer: an object with a context (doca_comch_consumer_as_ctx). */
struct doca_comch_consumer;

/** Where a DPA thread would find the completions of consumers. It can be configured; without a DPA it does not start. */
struct doca_comch_consumer_completion;

/** Handle of a consumer completion on a DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;

/** Handle of a consumer on a DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_t;

/**
 * Creates a consumer on an established connection. Its id is the next one of this side of the connection, from 1. It
 * holds the mmap, which cannot be stopped meanwhile.
 *
 * @param comch_connection the connection
 * @param buf_mmap where incoming data may be written: started, with the connection's device and
 *   DOCA_ACCESS_FLAG_PCI_READ_WRITE
 * @param[out] consumer the consumer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the mmap lacks the device or is made from an export.
 * @retval DOCA_ERROR_BAD_STATE the connection has ended, or the mmap is not started.
 * @retval DOCA_ERROR_NOT_PERMITTED the mmap's permissions lack DOCA_ACCESS_FLAG_PCI_READ_WRITE.
 * @retval DOCA_ERROR_NO_MEMORY no memory, or doca_comch_consumer_cap_get_max_consumers() exist.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection, struct doca_mmap *buf_mmap, struct doca_comch_consumer **consumer);

/**
 * Destroys a consumer that is IDLE.
 *
 * @param consumer the consumer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer is NULL.
 * @retval DOCA_ERROR_INITIALIZATION it is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/**
 * Can consumers receive on this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot. Nothing is logged: programs ask one device after the other.
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * The consumer's id on its connection, never 0. Known from creation on, so that a program may tell it to its peer while
 * the consumer still starts.
 *
 * @param consumer the consumer
 * @param[out] id the id
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id);

/**
 * Receive tasks that one consumer can be configured with.
 *
 * @param devinfo any device
 * @param[out] max_num_tasks the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/**
 * Bytes of the longest message that a receive can take.
 *
 * @param devinfo any device
 * @param[out] max_buf_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

/**
 * Buffers of the longest list that one receive can be posted with.
 *
 * @param devinfo any device
 * @param[out] max_buf_list_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Consumers that can live on one side of a connection.
 *
 * @param devinfo any device
 * @param[out] max_consumers the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo, uint32_t *max_consumers);

/**
 * Bytes of the longest immediate data.
 *
 * @param devinfo any device
 * @param[out] max_imm_data_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo, uint32_t *max_imm_data_len);

/**
 * The longest immediate data that the consumer takes.
 *
 * @param consumer the consumer
 * @param[out] imm_data_len bytes
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer, uint32_t *imm_data_len);

/**
 * Sets the longest immediate data that the consumer takes. A longer one fails at its sender. Default: the capability.
 *
 * @param consumer the consumer, IDLE
 * @param imm_data_len bytes, 0 to doca_comch_consumer_cap_get_max_imm_data_len()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer is NULL, or the length is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer, uint32_t imm_data_len);

/** The consumer's context. It lives as long as the consumer. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/**
 * Creates a consumer completion.
 *
 * @param[out] consumer_comp the object
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer_comp is NULL.
 * @retval DOCA_ERROR_NO_MEMORY no memory.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **consumer_comp);

/**
 * Would set the DPA thread that completions wake.
 *
 * @param consumer_comp the object
 * @param dpa_thread the thread
 * @return never DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_dpa_thread(struct doca_comch_consumer_completion *consumer_comp, struct doca_dpa_thread *dpa_thread);

/**
 * Destroys a consumer completion.
 *
 * @param consumer_comp the object
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer_comp is NULL.
 * @retval DOCA_ERROR_IN_USE consumers still name it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp);

/**
 * Would start it on the DPA.
 *
 * @param consumer_comp the object
 * @return never DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer_comp is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp);

/**
 * Would stop it.
 *
 * @param consumer_comp the object
 * @return never DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer_comp is NULL.
 * @retval DOCA_ERROR_BAD_STATE it was never started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp);

/**
 * Would give its handle on the DPA.
 *
 * @param consumer_comp the object
 * @param[out] consumer_comp_handle the handle
 * @return never DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_dpa_handle(struct doca_comch_consumer_completion *consumer_comp, doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle);

/**
 * How many consumers may name it: sets it.
 *
 * @param consumer_comp the object
 * @param max_num_consumers 1 to doca_comch_consumer_cap_get_max_consumers(), 1 at first
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer_comp is NULL, or the value is out of range.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_consumers(struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_consumers);

/**
 * How many consumers may name it.
 *
 * @param consumer_comp the object
 * @param[out] max_num_consumers the value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_consumers(const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_consumers);

/**
 * How many receives its consumers may have posted: sets it.
 *
 * @param consumer_comp the object
 * @param max_num_recv 1 to doca_comch_consumer_cap_get_max_num_tasks(), 1 at first
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer_comp is NULL, or the value is out of range.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_recv(struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_recv);

/**
 * How many receives its consumers may have posted.
 *
 * @param consumer_comp the object
 * @param[out] max_num_recv the value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_recv(const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_recv);

/**
 * The longest immediate data, in bytes: sets it.
 *
 * @param consumer_comp the object
 * @param imm_data_len 0 to doca_comch_consumer_cap_get_max_imm_data_len(), which it is at first
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer_comp is NULL, or the value is out of range.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_imm_data_len(struct doca_comch_consumer_completion *consumer_comp, uint32_t imm_data_len);

/**
 * The longest immediate data, in bytes.
 *
 * @param consumer_comp the object
 * @param[out] imm_data_len the value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_imm_data_len(const struct doca_comch_consumer_completion *consumer_comp, uint32_t *imm_data_len);

/**
 * Sets how many receives a GPU or DPA may have posted on the consumer, where its data path is on one.
 *
 * @param consumer the consumer, IDLE
 * @param dev_num_recv 1 to doca_comch_consumer_cap_get_max_num_tasks()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE consumer is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer, uint32_t dev_num_recv);

/**
 * Names the consumer completion of a consumer. Setting again replaces.
 *
 * @param consumer the consumer, IDLE
 * @param consumer_comp the completion; it cannot be destroyed before the consumer
 * @param user_data would come with each completion
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 * @retval DOCA_ERROR_FULL the completion has its max_num_consumers.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer, struct doca_comch_consumer_completion *consumer_comp, uint32_t user_data);

/**
 * Would give the consumer's handle on the DPA.
 *
 * @param consumer the consumer
 * @param[out] dpa_consumer the handle
 * @return never DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED there is no DPA.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer, doca_dpa_dev_comch_consumer_t *dpa_consumer);

/** A task that receives one message. */
struct doca_comch_consumer_task_post_recv;

/**
 * The end of a receive. The task and its buffer are the program's again: it may free the task, keep it, or submit it
 * anew (doca_buf_reset_data_len first, to fill the buffer from its start).
 *
 * @param task the task
 * @param task_user_data as set by doca_task_set_user_data
 * @param ctx_user_data as set by doca_ctx_set_user_data
 */
typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Configures receive tasks. Calling again replaces.
 *
 * @param consumer the consumer, IDLE
 * @param task_completion_cb runs when a message has arrived
 * @param task_error_cb runs when none will: the consumer stopped, or its connection was lost
 * @param num_post_recv_tasks tasks to have, 1 to doca_comch_consumer_cap_get_max_num_tasks()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_set_conf(struct doca_comch_consumer *consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb, doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks);

/**
 * Takes a receive task.
 *
 * @param consumer the consumer, RUNNING
 * @param buf where to receive, in the consumer's mmap; a list's head for several pieces. Bytes are appended to its data
 *   section. The reference stays the program's.
 * @param[out] task the task, the program's until doca_task_free
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL. (A buffer of another mmap, or a list that is too long: submit
 *   says so.)
 * @retval DOCA_ERROR_NO_MEMORY every configured task is allocated, or none was configured.
 * @retval DOCA_ERROR_BAD_STATE the consumer is not RUNNING, or its data path is on a GPU.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer, struct doca_buf *buf, struct doca_comch_consumer_task_post_recv **task);

/** The task's buffer. Readable after doca_task_free too, until the next allocation. NULL for NULL. */
DOCA_STABLE
struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task);

/**
 * Gives the task another buffer, while it is not in flight.
 *
 * @param task the task
 * @param buf as for doca_comch_consumer_task_post_recv_alloc_init
 */
DOCA_STABLE
void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf);

/**
 * The producer whose message it was. Valid in the completion callback and after, until the task is submitted again. 0
 * for a receive that failed.
 */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_producer_id(const struct doca_comch_consumer_task_post_recv *task);

/** The message's immediate data, or NULL when it has none. Valid until the task is submitted again or freed. */
DOCA_STABLE
const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(const struct doca_comch_consumer_task_post_recv *task);

/** Bytes of the message's immediate data, 0 when it has none. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(const struct doca_comch_consumer_task_post_recv *task);

/** The task's base, for doca_pe.h. NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task);

/**
 * The handle by which GPU kernels use the consumer. It is valid until the consumer stops.
 *
 * @param consumer the consumer, started, with its data path on a GPU
 * @param[out] gpu_consumer the handle, an address for kernels
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE it is not started, or its data path is on the CPU.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_gpu_handle(struct doca_comch_consumer *consumer, struct doca_comch_gpu_consumer **gpu_consumer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_CONSUMER_H_ */
