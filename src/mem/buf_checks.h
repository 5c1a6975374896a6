/* SPDX-License-Identifier: BSD-3-Clause */
/* The validation layer's checks of bufs. Called only while the layer is on. */
#ifndef SF_MEM_BUF_CHECKS_H
#define SF_MEM_BUF_CHECKS_H

#include "core/ctx.h"
#include "mem/buf.h"

/* Checks a buf whose data section was set. */
void sf_buf_check_data(const struct doca_buf *buf, const char *call);

/* 1 while the validation layer is on, else 0: references up to that number get a check when one is released. A copy, because the
 * data path reads it faster than the layer's flag. */
extern __attribute__((visibility("hidden"))) uint16_t sf_buf_refs_checked;

/* Checks the bufs of a list whose last reference is released. */
void sf_buf_check_release(const struct doca_buf *buf);

/* For sf_task_class.inspect: checks a list of a task; and a list that the task sends, which should have data. NULL means no
 * list. */
SF_API void sf_buf_check_message(const struct doca_task *task, const struct doca_buf *buf);
SF_API void sf_buf_check_list(const struct doca_task *task, const struct doca_buf *buf);

#endif
