/* SPDX-License-Identifier: BSD-3-Clause */
/* What the validation layer looks at in bufs. Called only while it is on. */
#ifndef SF_MEM_BUF_CHECKS_H
#define SF_MEM_BUF_CHECKS_H

#include "core/ctx.h"
#include "mem/buf.h"

/* The data section was set. */
void sf_buf_check_data(const struct doca_buf *buf, const char *call);

/* 1 while the validation layer is on, else 0: references up to that number get a check when one is released. A copy, because the
 * data path reads it faster than the layer's flag. */
extern __attribute__((visibility("hidden"))) uint16_t sf_buf_refs_checked;

/* The last reference is released. */
void sf_buf_check_release(const struct doca_buf *buf);

/* For sf_task_class.inspect: a list that a task has, and one that it sends, in which there should be data. NULL is none. */
SF_API void sf_buf_check_message(const struct doca_task *task, const struct doca_buf *buf);
SF_API void sf_buf_check_list(const struct doca_task *task, const struct doca_buf *buf);

#endif
