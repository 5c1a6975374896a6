/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_cc_consumer.h
 * @brief Consumers: the receiving ends of bulk data on a connection, by their names in DOCA 2.5. See doca_comch_consumer.h for
 * their behaviour.
 */
#ifndef DOCA_2_5_CC_CONSUMER_H_
#define DOCA_2_5_CC_CONSUMER_H_

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

/** A consumer, which receives from the peer's producers. Opaque. */
struct doca_cc_consumer;

/** A task that receives a message into a buffer. Opaque. */
struct doca_cc_consumer_post_recv_task;

/** Today doca_comch_consumer_create(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_create(struct doca_cc_connection *cc_connection, struct doca_mmap *buf_mmap,
				     struct doca_cc_consumer **consumer) DOCA_2_5_SYMBOL(doca_comch_consumer_create);

/** Today doca_comch_consumer_get_id(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_get_id(const struct doca_cc_consumer *consumer, uint32_t *id)
	DOCA_2_5_SYMBOL(doca_comch_consumer_get_id);

/** Today doca_comch_consumer_destroy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_destroy(struct doca_cc_consumer *consumer) DOCA_2_5_SYMBOL(doca_comch_consumer_destroy);

/** Today doca_comch_consumer_as_ctx(). */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_consumer_as_ctx(struct doca_cc_consumer *consumer) DOCA_2_5_SYMBOL(doca_comch_consumer_as_ctx);

/** Today doca_comch_consumer_cap_is_supported(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_is_consumer_supported(const struct doca_devinfo *devinfo)
	DOCA_2_5_SYMBOL(doca_comch_consumer_cap_is_supported);

/** How many tasks can be configured, as a power of two. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo, size_t *max_log_num_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_cc_consumer_cap_get_max_log_num_tasks);

/** Bytes of the largest buffer. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, size_t *max_buf_size)
	DOCA_2_5_SYMBOL(doca_2_5_cc_consumer_cap_get_max_buf_size);

/** Runs when the task has succeeded or failed. */
typedef void (*doca_cc_consumer_post_recv_task_comp_handler)(struct doca_cc_consumer_post_recv_task *task,
							     union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Configures 2^log_num_tasks tasks, before start.
 * @retval DOCA_ERROR_INVALID_VALUE too many
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_post_recv_task_set_conf(struct doca_cc_consumer *consumer,
						      doca_cc_consumer_post_recv_task_comp_handler task_completion_cb,
						      doca_cc_consumer_post_recv_task_comp_handler task_error_cb,
						      size_t log_num_tasks)
	DOCA_2_5_SYMBOL(doca_2_5_cc_consumer_post_recv_task_set_conf);

/** Today doca_comch_consumer_task_post_recv_alloc_init(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_post_recv_task_alloc_init(struct doca_cc_consumer *consumer, struct doca_buf *buf,
							struct doca_cc_consumer_post_recv_task **task)
	DOCA_2_5_SYMBOL(doca_comch_consumer_task_post_recv_alloc_init);

/** Today doca_comch_consumer_task_post_recv_get_buf(). */
DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_consumer_post_recv_task_get_buf(struct doca_cc_consumer_post_recv_task *task)
	DOCA_2_5_SYMBOL(doca_comch_consumer_task_post_recv_get_buf);

/** Today doca_comch_consumer_task_post_recv_set_buf(). */
DOCA_EXPERIMENTAL
void doca_cc_consumer_post_recv_task_set_buf(struct doca_cc_consumer_post_recv_task *task, struct doca_buf *buf)
	DOCA_2_5_SYMBOL(doca_comch_consumer_task_post_recv_set_buf);

/** Today doca_comch_consumer_task_post_recv_as_task(). */
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_consumer_post_recv_task_as_task(struct doca_cc_consumer_post_recv_task *task)
	DOCA_2_5_SYMBOL(doca_comch_consumer_task_post_recv_as_task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_CC_CONSUMER_H_ */
