/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_cc_producer.h
 * @brief Producers: the sending ends of bulk data on a connection, by their names in DOCA 2.5. See doca_comch_producer.h for
 * their behaviour.
 */
#ifndef DOCA_2_5_CC_PRODUCER_H_
#define DOCA_2_5_CC_PRODUCER_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_cc_connection;
struct doca_ctx;
struct doca_devinfo;
struct doca_mmap;
struct doca_task;

/** A producer, which sends to the peer's consumers. Opaque. */
struct doca_cc_producer;

/** A task that sends a buffer. Opaque. */
struct doca_cc_producer_send_task;

/** Today doca_comch_producer_create(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_create(struct doca_cc_connection *cc_connection, struct doca_cc_producer **producer)
	DOCA_2_5_SYMBOL(doca_comch_producer_create);

/** Today doca_comch_producer_destroy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_destroy(struct doca_cc_producer *producer) DOCA_2_5_SYMBOL(doca_comch_producer_destroy);

/** Today doca_comch_producer_as_ctx(). */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_producer_as_ctx(struct doca_cc_producer *producer) DOCA_2_5_SYMBOL(doca_comch_producer_as_ctx);

/** Today doca_comch_producer_cap_is_supported(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_is_producer_supported(const struct doca_devinfo *devinfo)
	DOCA_2_5_SYMBOL(doca_comch_producer_cap_is_supported);

/** How many tasks can be configured, as a power of two. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo, size_t *max_log_num_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_cc_producer_cap_get_max_log_num_tasks);

/** Bytes of the largest buffer. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, size_t *max_buf_size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_producer_cap_get_max_buf_size);

/** Runs when the task has succeeded or failed. */
typedef void (*doca_cc_producer_send_task_comp_handler)(struct doca_cc_producer_send_task *task, union doca_data task_user_data,
							union doca_data ctx_user_data);

/**
 * Configures 2^log_num_tasks tasks, before start.
 * @retval DOCA_ERROR_INVALID_VALUE too many
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_send_task_set_conf(struct doca_cc_producer *producer,
						 doca_cc_producer_send_task_comp_handler task_completion_cb,
						 doca_cc_producer_send_task_comp_handler task_error_cb, size_t log_num_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_cc_producer_send_task_set_conf);

/**
 * Allocates a task that sends a buffer's data to a consumer of the peer's.
 * @retval DOCA_ERROR_BAD_STATE not running
 * @retval DOCA_ERROR_NO_MEMORY all are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_send_task_alloc_init(struct doca_cc_producer *producer, struct doca_buf *buf, int consumer_id,
						   struct doca_cc_producer_send_task **task)
	DOCA_2_5_SYMBOL(doca_2_5_cc_producer_send_task_alloc_init);

/** Today doca_comch_producer_task_send_get_buf(). */
DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_producer_send_task_get_buf(struct doca_cc_producer_send_task *task)
	DOCA_2_5_SYMBOL(doca_comch_producer_task_send_get_buf);

/** Today doca_comch_producer_task_send_set_buf(). */
DOCA_EXPERIMENTAL
void doca_cc_producer_send_task_set_buf(struct doca_cc_producer_send_task *task, struct doca_buf *buf)
	DOCA_2_5_SYMBOL(doca_comch_producer_task_send_set_buf);

/** Today doca_comch_producer_task_send_get_consumer_id(). */
DOCA_EXPERIMENTAL
int doca_cc_producer_send_task_get_consumer_id(struct doca_cc_producer_send_task *task)
	DOCA_2_5_SYMBOL(doca_comch_producer_task_send_get_consumer_id);

/** Today doca_comch_producer_task_send_set_consumer_id(). */
DOCA_EXPERIMENTAL
void doca_cc_producer_send_task_set_consumer_id(struct doca_cc_producer_send_task *task, const int consumer_id)
	DOCA_2_5_SYMBOL(doca_comch_producer_task_send_set_consumer_id);

/** Today doca_comch_producer_task_send_as_task(). */
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_producer_send_task_as_task(struct doca_cc_producer_send_task *task)
	DOCA_2_5_SYMBOL(doca_comch_producer_task_send_as_task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_CC_PRODUCER_H_ */
