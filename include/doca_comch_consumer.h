/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comch_consumer.h
 * The receiving end of Comch's data path.
 *
 * A consumer is made on an established connection, with the memory map that incoming data may be written to. Producers of the
 * peer send to its id. The program posts buffers; each message takes one.
 *
 *     doca_comch_consumer_create(connection, mmap, &consumer);   // mmap: started, with DOCA_ACCESS_FLAG_PCI_READ_WRITE
 *     doca_pe_connect_ctx(pe, doca_comch_consumer_as_ctx(consumer));
 *     doca_comch_consumer_task_post_recv_set_conf(consumer, received, failed, 64);
 *     doca_ctx_start(doca_comch_consumer_as_ctx(consumer));      // IN_PROGRESS
 *     ... progress both this engine and the connection's until RUNNING ...
 *     doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task);
 *     doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task));
 *
 * A start advertises the consumer to the peer. It is RUNNING once the peer's library knows it, for which the peer must progress
 * its server or client; the peer then gets its new-consumer event. A stop ends posted receives with DOCA_ERROR_BAD_STATE, and is
 * the peer's expired-consumer event. A lost connection ends them with DOCA_ERROR_CONNECTION_ABORTED, and the consumer goes to
 * STOPPING.
 *
 * Received bytes are appended to the buffer's data section; a list of buffers is filled in order. A message larger than the
 * buffer posted first fails at its sender, and the buffer stays posted. Receives complete in the order of posting.
 *
 * A consumer belongs to the thread of its progress engine, which need not be the connection's. Several threads may create and
 * destroy consumers on one connection. With doca_ctx_set_datapath_on_gpu() kernels receive, by the handle of
 * doca_comch_consumer_get_gpu_handle(), and there are no tasks. DPA objects can be configured, but not started. (DOCA Comch
 * guide; task functions: doca_pe.h)
 *
 * @retval DOCA_ERROR_BAD_STATE doca_comch_consumer_set_*, *_set_conf: the context is not IDLE
 * @retval DOCA_ERROR_NOT_SUPPORTED *_dpa_thread, *_completion_start, *_dpa_handle: always: there is no DPA
 * @retval DOCA_ERROR_INVALID_VALUE *_set_imm_data_len, *_set_max_num_*, *_set_dev_max_num_recv, *_set_conf: the number is out of
 *   range
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

/** What wakes a DPA thread for consumers. It can be configured; it does not start. */
struct doca_comch_consumer_completion;

/** Handle of a consumer completion on a DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;

/** Handle of a consumer on a DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_t;

/**
 * @name Consumers and capabilities
 * @{
 */

/**
 * Creates a consumer. Its id is the next one of this side of the connection, from 1. The memory map cannot be stopped before the
 * consumer is destroyed.
 * @param buf_mmap started, with the connection's device and DOCA_ACCESS_FLAG_PCI_READ_WRITE
 * @retval DOCA_ERROR_INVALID_VALUE the memory map lacks the device, or is made from an export
 * @retval DOCA_ERROR_BAD_STATE the connection has ended, or the memory map is not started
 * @retval DOCA_ERROR_NOT_PERMITTED the memory map lacks DOCA_ACCESS_FLAG_PCI_READ_WRITE
 * @retval DOCA_ERROR_NO_MEMORY out of memory, or doca_comch_consumer_cap_get_max_consumers() exist
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection, struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer);

/** @retval DOCA_ERROR_BAD_STATE the context is not IDLE */
DOCA_STABLE
doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/** DOCA_SUCCESS for every device. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);

/** Never 0. Valid from creation on, so the program may send it to its peer while the consumer starts. */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id);

DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/** The longest message. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/** On one side of a connection. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo, uint32_t *max_consumers);

DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo, uint32_t *max_imm_data_len);

DOCA_STABLE
doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer, uint32_t *imm_data_len);

/**
 * The longest immediate data that the consumer accepts; a longer one fails at its sender.
 * @param imm_data_len up to doca_comch_consumer_cap_get_max_imm_data_len(), the default
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer, uint32_t imm_data_len);

DOCA_STABLE
struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/** @} */

/**
 * @name Completions for a DPA
 * @{
 */

/** @retval DOCA_ERROR_NO_MEMORY out of memory */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **consumer_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_dpa_thread(struct doca_comch_consumer_completion *consumer_comp,
							   struct doca_dpa_thread *dpa_thread);

/** @retval DOCA_ERROR_BAD_STATE consumers name it */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp);

/** @retval DOCA_ERROR_BAD_STATE always: it is never started */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_dpa_handle(struct doca_comch_consumer_completion *consumer_comp,
							   doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle);

/** @param max_num_consumers 1 (the default) to doca_comch_consumer_cap_get_max_consumers() */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_consumers(struct doca_comch_consumer_completion *consumer_comp,
								  uint32_t max_num_consumers);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_consumers(const struct doca_comch_consumer_completion *consumer_comp,
								  uint32_t *max_num_consumers);

/** @param max_num_recv 1 (the default) to doca_comch_consumer_cap_get_max_num_tasks() */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_recv(struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t max_num_recv);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_recv(const struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t *max_num_recv);

/** @param imm_data_len up to doca_comch_consumer_cap_get_max_imm_data_len(), the default */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_imm_data_len(struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t imm_data_len);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_imm_data_len(const struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t *imm_data_len);

/**
 * Sets how many receives kernels may post.
 * @param dev_num_recv 1 to doca_comch_consumer_cap_get_max_num_tasks()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer, uint32_t dev_num_recv);

/**
 * Sets the completion, which cannot be destroyed before the consumer. The last call counts.
 * @retval DOCA_ERROR_FULL the completion has its max_num_consumers
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
						struct doca_comch_consumer_completion *consumer_comp, uint32_t user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
						doca_dpa_dev_comch_consumer_t *dpa_consumer);

/** @} */

/** A task that receives one message. */
struct doca_comch_consumer_task_post_recv;

/**
 * @name Receive tasks
 * A receive fails if the consumer stops or its connection is lost. Results are valid until the task is submitted again or freed;
 * they are 0 and NULL if it failed. To fill a buffer from its start again, call doca_buf_reset_data_len().
 * @{
 */

typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(struct doca_comch_consumer_task_post_recv *task,
								   union doca_data task_user_data, union doca_data ctx_user_data);

/** @param num_post_recv_tasks 1 to doca_comch_consumer_cap_get_max_num_tasks() */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_set_conf(struct doca_comch_consumer *consumer,
							 doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
							 doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb,
							 uint32_t num_post_recv_tasks);

/**
 * @param buf in the consumer's memory map; submit rejects others, and lists that are too long
 * @retval DOCA_ERROR_NO_MEMORY all configured tasks are allocated
 * @retval DOCA_ERROR_BAD_STATE the consumer is not RUNNING, or its data path is on a GPU
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer, struct doca_buf *buf,
							   struct doca_comch_consumer_task_post_recv **task);

/** Also valid after doca_task_free(), until the next allocation. */
DOCA_STABLE
struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task);

DOCA_STABLE
void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf);

DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_producer_id(const struct doca_comch_consumer_task_post_recv *task);

DOCA_STABLE
const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(const struct doca_comch_consumer_task_post_recv *task);

DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(const struct doca_comch_consumer_task_post_recv *task);

DOCA_STABLE
struct doca_task *doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task);

/** @} */

/**
 * The handle for GPU kernels, an address for them. Valid until the consumer stops.
 * @retval DOCA_ERROR_BAD_STATE it is not started, or its data path is on the CPU
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_gpu_handle(struct doca_comch_consumer *consumer,
						struct doca_comch_gpu_consumer **gpu_consumer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_CONSUMER_H_ */
