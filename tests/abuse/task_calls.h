/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that tasks of several libraries share. prefix is a task's type, such as doca_ec_task_create; kind is that of its
 * objects. */
#ifndef ABUSE_TASK_CALLS_H
#define ABUSE_TASK_CALLS_H

#include <doca_buf.h>

#include "abuse.h"

#define CONTEXTS_MAX 2 /* of each library */

/* Defines ended_*, the callback of its tasks, and as_task_*. */
#define TASK_TYPE(prefix, kind)                                                                                                  \
	static void ended_##prefix(struct prefix *task, union doca_data task_data, union doca_data ctx_data)                     \
	{                                                                                                                        \
		task_ended(prefix##_as_task(task));                                                                              \
	}                                                                                                                        \
	static void as_task_##prefix(void)                                                                                       \
	{                                                                                                                        \
		(void)CALL_VALUE(prefix##_as_task, (struct prefix *)pick(kind));                                                 \
	}

/* Defines set_conf_*. library is the context's type, such as doca_ec. */
#define TASK_SET_CONF(prefix, library, library_kind)                                                                             \
	static void set_conf_##prefix(void)                                                                                      \
	{                                                                                                                        \
		struct library *object = pick(library_kind);                                                                     \
		prefix##_completion_cb_t completed = or_null(ended_##prefix), failed = or_null(ended_##prefix);                  \
		uint32_t num = chance(6) ? UINT32_MAX : random_below(5);                                                         \
		refuse_if(num == 0 || num == UINT32_MAX || (object != NULL && !ctx_is_idle(library##_as_ctx(object))));          \
		expect_if(true);                                                                                                 \
		CALL(prefix##_set_conf, object, completed, failed, num);                                                         \
	}

/* Defines a call that sets and gets a buf in that slot of the task's objects. A task in a graph's instance keeps its buf. */
#define TASK_BUF(name, prefix, kind, set, get, slot)                                                                             \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct prefix *task = pick(kind);                                                                                \
		struct doca_buf *buf = pick(BUF);                                                                                \
		if (task != NULL && task_is_busy(prefix##_as_task(task)) && !task_is_inflight(prefix##_as_task(task)))           \
			return;                                                                                                  \
		CALL_VALUE(set, task, buf);                                                                                      \
		const void *kept = CALL_VALUE(get, task);                                                                        \
		if (task != NULL)                                                                                                \
			task_uses(prefix##_as_task(task), slot, (void *)(uintptr_t)kept);                                        \
	}

/* Defines create_*, destroy_* and as_ctx_*, for a library whose context can be destroyed when it is idle and is_free returns
 * true. */
#define LIBRARY(library, kind, is_free)                                                                                          \
	static void create_##library(void)                                                                                       \
	{                                                                                                                        \
		struct library *object;                                                                                          \
		if (object_count(kind) >= CONTEXTS_MAX || !has_room(CTX))                                                        \
			return;                                                                                                  \
		struct doca_dev *dev = pick(DEV);                                                                                \
		struct library **place = or_null(&object);                                                                       \
		expect_if(true);                                                                                                 \
		if (CALL(library##_create, dev, place) != DOCA_SUCCESS)                                                          \
			return;                                                                                                  \
		object_add(kind, object);                                                                                        \
		ctx_add(library##_as_ctx(object));                                                                               \
	}                                                                                                                        \
	static void destroy_##library(void)                                                                                      \
	{                                                                                                                        \
		struct library *object = pick(kind);                                                                             \
		struct doca_ctx *ctx = library##_as_ctx(object);                                                                 \
		refuse_if(object != NULL && (!ctx_is_idle(ctx) || !is_free(object)));                                            \
		if (CALL(library##_destroy, object) != DOCA_SUCCESS)                                                             \
			return;                                                                                                  \
		object_drop(CTX, ctx);                                                                                           \
		object_drop(kind, object);                                                                                       \
	}                                                                                                                        \
	static void as_ctx_##library(void)                                                                                       \
	{                                                                                                                        \
		(void)CALL_VALUE(library##_as_ctx, (struct library *)pick(kind));                                                \
	}

/* Defines name(), which queries a capability that every device has. */
#define CALL_SUPPORTED(name, function)                                                                                           \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		expect_if(true);                                                                                                 \
		CALL(function, info);                                                                                            \
	}

#define CALL_LIMIT(name, function, type) CALL_GETTER(name, function, DEVINFO, struct doca_devinfo, type, true)

/* A task may be allocated only while the context runs; otherwise the call must fail. */
static inline void refuse_alloc_unless_running(struct doca_ctx *ctx)
{
	refuse_if(ctx != NULL && ctx_state(ctx) != DOCA_CTX_STATE_RUNNING);
}

/* Returns a buf for or_null; call it before any other argument is picked. If no task uses the buf, a destination is often
 * emptied, and a source is often cut to a multiple of some bytes: by chance alone, few bufs would be suitable. */
static inline struct doca_buf *buf_to_write(void)
{
	struct object *buf = object_any(BUF);

	if (buf != NULL && buf->users == 0 && !chance(4))
		CALL(doca_buf_reset_data_len, (struct doca_buf *)buf->pointer);
	return buf != NULL ? buf->pointer : NULL;
}

static inline struct doca_buf *buf_to_read(size_t multiple)
{
	struct object *buf = object_any(BUF);
	size_t len;

	if (buf != NULL && buf->users == 0 && !chance(4) &&
	    CALL(doca_buf_get_data_len, (struct doca_buf *)buf->pointer, &len) == DOCA_SUCCESS)
		CALL(doca_buf_set_data_len, (struct doca_buf *)buf->pointer, len - len % multiple);
	return buf != NULL ? buf->pointer : NULL;
}

/* A task was allocated with these bufs. */
static inline void task_made(struct doca_task *task, enum kind kind, void *typed, const struct doca_buf *src,
			     struct doca_buf *dst)
{
	task_add(task, kind, typed);
	task_uses(task, 0, (void *)(uintptr_t)src);
	task_uses(task, 1, dst);
}

#endif
