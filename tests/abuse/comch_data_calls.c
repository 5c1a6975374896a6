/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's data path: consumers and producers. The `of` of each is a connection. */
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "comch_calls.h"

#define EACH_MAX 2
#define PROGRESS_MAX 200

#define ASK(name, function, kind, object_type)                                                                                   \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		object_type *object = pick(kind);                                                                                \
		CALL(function, object);                                                                                          \
	}

/* A call that returns a value and no error code. */
#define GETTER(name, function, kind, object_type)                                                                                \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		(void)CALL_VALUE(function, (object_type *)pick(kind));                                                           \
	}

/* A value that a setter accepts up to a capability. */
static uint32_t any_number(uint32_t from)
{
	uint32_t number = chance(6) ? UINT32_MAX : random_below(5);

	refuse_if(number == UINT32_MAX || number < from);
	return number;
}

/* ---- shared by both ---- */

#define SIDE(side, kind, member)                                                                                                 \
	static void side##_made(struct doca_comch_##side *side, const struct doca_comch_connection *connection)                  \
	{                                                                                                                        \
		object_add(kind, side)->of = object_find(CONNECTION, connection)->id;                                            \
		connection_used(connection);                                                                                     \
		ctx_add(doca_comch_##side##_as_ctx(side));                                                                       \
	}                                                                                                                        \
	static void side##_destroy(void)                                                                                         \
	{                                                                                                                        \
		struct doca_comch_##side *side = pick(kind);                                                                     \
		struct doca_ctx *ctx = doca_comch_##side##_as_ctx(side);                                                         \
		refuse_if(side != NULL && !ctx_is_idle(ctx));                                                                    \
		if (CALL(doca_comch_##side##_destroy, side) != DOCA_SUCCESS)                                                     \
			return;                                                                                                  \
		object_drop(CTX, ctx);                                                                                           \
		connection_unused(object_find(kind, side)->of);                                                                  \
		object_drop(kind, side);                                                                                         \
	}                                                                                                                        \
	static struct doca_comch_##side *side##_to_set(void)                                                                     \
	{                                                                                                                        \
		struct doca_comch_##side *side = pick(kind);                                                                     \
		refuse_if(side != NULL && !ctx_is_idle(doca_comch_##side##_as_ctx(side)));                                       \
		return side;                                                                                                     \
	}                                                                                                                        \
	static void side##_set_dev_max(void)                                                                                     \
	{                                                                                                                        \
		struct doca_comch_##side *side = side##_to_set();                                                                \
		uint32_t num = any_number(1);                                                                                    \
		CALL(doca_comch_##side##_set_dev_max_num_##member, side, num);                                                   \
	}                                                                                                                        \
	GETTER(side##_as_ctx, doca_comch_##side##_as_ctx, kind, struct doca_comch_##side)                                        \
	ASK(side##_supported, doca_comch_##side##_cap_is_supported, DEVINFO, struct doca_devinfo)                                \
	CALL_GETTER(side##_get_id, doca_comch_##side##_get_id, kind, struct doca_comch_##side, uint32_t, true)                   \
	CALL_GETTER(side##_max_tasks, doca_comch_##side##_cap_get_max_num_tasks, DEVINFO, struct doca_devinfo, uint32_t, true)   \
	CALL_GETTER(side##_max_size, doca_comch_##side##_cap_get_max_buf_size, DEVINFO, struct doca_devinfo, uint32_t, true)     \
	CALL_GETTER(side##_max_list, doca_comch_##side##_cap_get_max_buf_list_len, DEVINFO, struct doca_devinfo, uint32_t, true) \
	CALL_GETTER(side##_max, doca_comch_##side##_cap_get_max_##side##s, DEVINFO, struct doca_devinfo, uint32_t, true)         \
	CALL_GETTER(side##_dpa, doca_comch_##side##_get_dpa_handle, kind, struct doca_comch_##side,                              \
		    doca_dpa_dev_comch_##side##_t, false)                                                                        \
	CALL_GETTER(side##_gpu, doca_comch_##side##_get_gpu_handle, kind, struct doca_comch_##side,                              \
		    struct doca_comch_gpu_##side *, false)
SIDE(consumer, CONSUMER, recv)
SIDE(producer, PRODUCER, send)

#define CALLS_OF(side, member)                                                                                                   \
	{"doca_comch_" #side "_create", side##_create, 4}, {"doca_comch_" #side "_destroy", side##_destroy, 1, true},            \
		{"doca_comch_" #side "_set_dev_max_num_" #member, side##_set_dev_max},                                           \
		{"doca_comch_" #side "_as_ctx", side##_as_ctx}, {"doca_comch_" #side "_cap_is_supported", side##_supported},     \
		{"doca_comch_" #side "_get_id", side##_get_id},                                                                  \
		{"doca_comch_" #side "_cap_get_max_num_tasks", side##_max_tasks},                                                \
		{"doca_comch_" #side "_cap_get_max_buf_size", side##_max_size},                                                  \
		{"doca_comch_" #side "_cap_get_max_buf_list_len", side##_max_list},                                              \
		{"doca_comch_" #side "_cap_get_max", side##_max}, {"doca_comch_" #side "_get_dpa_handle", side##_dpa},           \
	{                                                                                                                        \
		"doca_comch_" #side "_get_gpu_handle", side##_gpu                                                                \
	}

/* True for a task whose arguments may change, and for NULL. */
#define IS_SETTABLE(task, as_task) ((task) == NULL || !task_is_busy(as_task(task)))

/* ---- consumers ---- */

static void consumer_create(void)
{
	struct doca_comch_consumer *consumer;

	if (object_count(CONSUMER) >= EACH_MAX || !has_room(CTX) || is_ending())
		return;
	struct doca_comch_connection *connection = pick(CONNECTION);
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_comch_consumer **place = or_null(&consumer);

	if (CALL(doca_comch_consumer_create, connection, mmap, place) == DOCA_SUCCESS)
		consumer_made(consumer, connection);
}

CALL_GETTER(max_imm, doca_comch_consumer_cap_get_max_imm_data_len, DEVINFO, struct doca_devinfo, uint32_t, true)
CALL_GETTER(get_imm, doca_comch_consumer_get_imm_data_len, CONSUMER, struct doca_comch_consumer, uint32_t, true)

static void set_imm(void)
{
	struct doca_comch_consumer *consumer = consumer_to_set();
	uint32_t len = any_number(0);

	CALL(doca_comch_consumer_set_imm_data_len, consumer, len);
}

static void recv_done(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	task_ended(doca_comch_consumer_task_post_recv_as_task(task));
}

static void recv_conf(void)
{
	struct doca_comch_consumer *consumer = consumer_to_set();
	doca_comch_consumer_task_post_recv_completion_cb_t good = or_null(recv_done), bad = or_null(recv_done);
	uint32_t num = any_number(1);

	CALL(doca_comch_consumer_task_post_recv_set_conf, consumer, good, bad, num);
}

static void recv_alloc(void)
{
	struct doca_comch_consumer_task_post_recv *task;

	if (!has_room(TASK))
		return;
	struct doca_comch_consumer *consumer = pick(CONSUMER);
	struct doca_buf *buf = pick(BUF);
	struct doca_comch_consumer_task_post_recv **place = or_null(&task);

	refuse_if(consumer != NULL && ctx_state(doca_comch_consumer_as_ctx(consumer)) != DOCA_CTX_STATE_RUNNING);
	if (CALL(doca_comch_consumer_task_post_recv_alloc_init, consumer, buf, place) != DOCA_SUCCESS)
		return;
	task_add(doca_comch_consumer_task_post_recv_as_task(task), RECV_TASK, task);
	task_uses(doca_comch_consumer_task_post_recv_as_task(task), 0, buf);
}

static void recv_set_buf(void)
{
	struct doca_comch_consumer_task_post_recv *task = pick(RECV_TASK);
	struct doca_buf *buf = pick(BUF);

	if (!IS_SETTABLE(task, doca_comch_consumer_task_post_recv_as_task))
		return;
	CALL_VALUE(doca_comch_consumer_task_post_recv_set_buf, task, buf);
	if (task != NULL)
		task_uses(doca_comch_consumer_task_post_recv_as_task(task), 0, buf);
}

GETTER(recv_get_buf, doca_comch_consumer_task_post_recv_get_buf, RECV_TASK, struct doca_comch_consumer_task_post_recv)
GETTER(recv_producer, doca_comch_consumer_task_post_recv_get_producer_id, RECV_TASK, struct doca_comch_consumer_task_post_recv)
GETTER(recv_imm, doca_comch_consumer_task_post_recv_get_imm_data, RECV_TASK, struct doca_comch_consumer_task_post_recv)
GETTER(recv_imm_len, doca_comch_consumer_task_post_recv_get_imm_data_len, RECV_TASK, struct doca_comch_consumer_task_post_recv)
GETTER(recv_as_task, doca_comch_consumer_task_post_recv_as_task, RECV_TASK, struct doca_comch_consumer_task_post_recv)

/* ---- calls for a DPA ---- */

static void completion_create(void)
{
	struct doca_comch_consumer_completion *completion;

	if (!has_room(COMPLETION))
		return;
	struct doca_comch_consumer_completion **place = or_null(&completion);

	expect_if(true);
	if (CALL(doca_comch_consumer_completion_create, place) == DOCA_SUCCESS)
		object_add(COMPLETION, completion);
}

static void completion_destroy(void)
{
	struct doca_comch_consumer_completion *completion = pick(COMPLETION);

	if (CALL(doca_comch_consumer_completion_destroy, completion) == DOCA_SUCCESS)
		object_drop(COMPLETION, completion);
}

static void completion_thread(void)
{
	struct doca_comch_consumer_completion *completion = pick(COMPLETION);
	struct doca_dpa_thread *thread = or_null(memory);

	CALL(doca_comch_consumer_completion_set_dpa_thread, completion, thread);
}

ASK(completion_start, doca_comch_consumer_completion_start, COMPLETION, struct doca_comch_consumer_completion)
ASK(completion_stop, doca_comch_consumer_completion_stop, COMPLETION, struct doca_comch_consumer_completion)
CALL_GETTER(completion_dpa, doca_comch_consumer_completion_get_dpa_handle, COMPLETION, struct doca_comch_consumer_completion,
	    doca_dpa_dev_comch_consumer_completion_t, false)

#define COMPLETION_NUMBER(name, member, from)                                                                                    \
	CALL_GETTER(completion_get_##name, doca_comch_consumer_completion_get_##member, COMPLETION,                              \
		    struct doca_comch_consumer_completion, uint32_t, true)                                                       \
	static void completion_set_##name(void)                                                                                  \
	{                                                                                                                        \
		struct doca_comch_consumer_completion *completion = pick(COMPLETION);                                            \
		uint32_t number = any_number(from);                                                                              \
		CALL(doca_comch_consumer_completion_set_##member, completion, number);                                           \
	}
COMPLETION_NUMBER(consumers, max_num_consumers, 1)
COMPLETION_NUMBER(recv, max_num_recv, 1)
COMPLETION_NUMBER(imm, imm_data_len, 0)

static void set_completion(void)
{
	struct doca_comch_consumer *consumer = consumer_to_set();
	struct doca_comch_consumer_completion *completion = pick(COMPLETION);

	CALL(doca_comch_consumer_set_completion, consumer, completion, 1);
}

static void consumer_prepare(void)
{
	struct object *connection = object_any(CONNECTION), *buf = object_any(BUF);
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_comch_consumer *consumer;

	if (connection == NULL || object_count(MMAP) == 0 ||
	    CALL(doca_comch_consumer_create, connection->pointer, object_at(MMAP, 0)->pointer, &consumer) != DOCA_SUCCESS)
		return;
	consumer_made(consumer, connection->pointer);
	if (object_count(COMPLETION) == 0)
		completion_create();
	if (object_count(COMPLETION) > 0)
		CALL(doca_comch_consumer_set_completion, consumer, object_at(COMPLETION, 0)->pointer, 1);
	CALL(doca_comch_consumer_task_post_recv_set_conf, consumer, recv_done, recv_done, 4);
	ctx_run(doca_comch_consumer_as_ctx(consumer));
	for (int i = 0; i < PROGRESS_MAX && ctx_state(doca_comch_consumer_as_ctx(consumer)) == DOCA_CTX_STATE_STARTING; i++)
		comch_progress();
	if (object_find(CONSUMER, consumer) == NULL || buf == NULL || object_find(BUF, buf->pointer) == NULL || !has_room(TASK) ||
	    CALL(doca_comch_consumer_task_post_recv_alloc_init, consumer, buf->pointer, &task) != DOCA_SUCCESS)
		return;
	task_add(doca_comch_consumer_task_post_recv_as_task(task), RECV_TASK, task);
	task_uses(doca_comch_consumer_task_post_recv_as_task(task), 0, buf->pointer);
}

static const struct call consumer_calls[] = {
	CALLS_OF(consumer, recv),
	{"doca_comch_consumer_cap_get_max_imm_data_len", max_imm},
	{"doca_comch_consumer_get_imm_data_len", get_imm},
	{"doca_comch_consumer_set_imm_data_len", set_imm},
	{"doca_comch_consumer_task_post_recv_set_conf", recv_conf, 2},
	{"doca_comch_consumer_task_post_recv_alloc_init", recv_alloc, 6},
	{"doca_comch_consumer_task_post_recv_set_buf", recv_set_buf},
	{"doca_comch_consumer_task_post_recv_get_buf", recv_get_buf},
	{"doca_comch_consumer_task_post_recv_get_producer_id", recv_producer},
	{"doca_comch_consumer_task_post_recv_get_imm_data", recv_imm},
	{"doca_comch_consumer_task_post_recv_get_imm_data_len", recv_imm_len},
	{"doca_comch_consumer_task_post_recv_as_task", recv_as_task},
	{"doca_comch_consumer_completion_create", completion_create},
	{"doca_comch_consumer_completion_destroy", completion_destroy, 1, true},
	{"doca_comch_consumer_completion_set_dpa_thread", completion_thread},
	{"doca_comch_consumer_completion_start", completion_start},
	{"doca_comch_consumer_completion_stop", completion_stop},
	{"doca_comch_consumer_completion_get_dpa_handle", completion_dpa},
	{"doca_comch_consumer_completion_get_max_num_consumers", completion_get_consumers},
	{"doca_comch_consumer_completion_set_max_num_consumers", completion_set_consumers},
	{"doca_comch_consumer_completion_get_max_num_recv", completion_get_recv},
	{"doca_comch_consumer_completion_set_max_num_recv", completion_set_recv},
	{"doca_comch_consumer_completion_get_imm_data_len", completion_get_imm},
	{"doca_comch_consumer_completion_set_imm_data_len", completion_set_imm},
	{"doca_comch_consumer_set_completion", set_completion},
};
const struct group consumer_group = GROUP(consumer_calls, consumer_prepare);

/* ---- producers ---- */

static void producer_create(void)
{
	struct doca_comch_producer *producer;

	if (object_count(PRODUCER) >= EACH_MAX || !has_room(CTX) || is_ending())
		return;
	struct doca_comch_connection *connection = pick(CONNECTION);
	struct doca_comch_producer **place = or_null(&producer);

	if (CALL(doca_comch_producer_create, connection, place) == DOCA_SUCCESS)
		producer_made(producer, connection);
}

static void attach(void)
{
	struct doca_comch_producer *producer = pick(PRODUCER);
	struct doca_dpa_completion *completion = or_null(memory);

	CALL(doca_comch_producer_dpa_completion_attach, producer, completion);
}

static void data_done(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	task_ended(doca_comch_producer_task_send_as_task(task));
}

static void data_conf(void)
{
	struct doca_comch_producer *producer = producer_to_set();
	doca_comch_producer_task_send_completion_cb_t good = or_null(data_done), bad = or_null(data_done);
	uint32_t num = any_number(1);

	CALL(doca_comch_producer_task_send_set_conf, producer, good, bad, num);
}

static void data_alloc(void)
{
	struct doca_comch_producer_task_send *task;

	if (!has_room(TASK))
		return;
	struct doca_comch_producer *producer = pick(PRODUCER);
	struct doca_buf *buf = pick_or_none(BUF);
	uint32_t len = chance(6) ? UINT32_MAX : chance(2) ? 0 : random_below(33);
	uint8_t *imm = len > 0 ? or_null(memory) : NULL;
	struct doca_comch_producer_task_send **place = or_null(&task);

	refuse_if(len == UINT32_MAX || (buf == NULL && len == 0) ||
		  (producer != NULL && ctx_state(doca_comch_producer_as_ctx(producer)) != DOCA_CTX_STATE_RUNNING));
	if (CALL(doca_comch_producer_task_send_alloc_init, producer, buf, imm, len, any_consumer_id(), place) != DOCA_SUCCESS)
		return;
	task_add(doca_comch_producer_task_send_as_task(task), DATA_TASK, task);
	task_uses(doca_comch_producer_task_send_as_task(task), 0, buf);
}

static void data_set_buf(void)
{
	struct doca_comch_producer_task_send *task = pick(DATA_TASK);
	struct doca_buf *buf = pick_or_none(BUF);

	if (!IS_SETTABLE(task, doca_comch_producer_task_send_as_task))
		return;
	CALL_VALUE(doca_comch_producer_task_send_set_buf, task, buf);
	if (task != NULL)
		task_uses(doca_comch_producer_task_send_as_task(task), 0, buf);
}

static void data_set_consumer(void)
{
	struct doca_comch_producer_task_send *task = pick(DATA_TASK);

	if (IS_SETTABLE(task, doca_comch_producer_task_send_as_task))
		CALL_VALUE(doca_comch_producer_task_send_set_consumer_id, task, any_consumer_id());
}

static void data_set_imm(void)
{
	struct doca_comch_producer_task_send *task = pick(DATA_TASK);

	if (IS_SETTABLE(task, doca_comch_producer_task_send_as_task))
		CALL_VALUE(doca_comch_producer_task_send_set_imm_data, task, memory, random_below(40));
}

GETTER(data_get_buf, doca_comch_producer_task_send_get_buf, DATA_TASK, struct doca_comch_producer_task_send)
GETTER(data_get_consumer, doca_comch_producer_task_send_get_consumer_id, DATA_TASK, struct doca_comch_producer_task_send)
GETTER(data_imm, doca_comch_producer_task_send_get_imm_data, DATA_TASK, struct doca_comch_producer_task_send)
GETTER(data_imm_len, doca_comch_producer_task_send_get_imm_data_len, DATA_TASK, struct doca_comch_producer_task_send)
GETTER(data_as_task, doca_comch_producer_task_send_as_task, DATA_TASK, struct doca_comch_producer_task_send)

static void producer_prepare(void)
{
	struct object *connection = object_any(CONNECTION);
	struct doca_comch_producer *producer;

	if (connection == NULL || CALL(doca_comch_producer_create, connection->pointer, &producer) != DOCA_SUCCESS)
		return;
	producer_made(producer, connection->pointer);
	CALL(doca_comch_producer_task_send_set_conf, producer, data_done, data_done, 4);
	ctx_run(doca_comch_producer_as_ctx(producer));
}

static const struct call producer_calls[] = {
	CALLS_OF(producer, send),
	{"doca_comch_producer_dpa_completion_attach", attach},
	{"doca_comch_producer_task_send_set_conf", data_conf, 2},
	{"doca_comch_producer_task_send_alloc_init", data_alloc, 8},
	{"doca_comch_producer_task_send_set_buf", data_set_buf},
	{"doca_comch_producer_task_send_set_consumer_id", data_set_consumer},
	{"doca_comch_producer_task_send_set_imm_data", data_set_imm},
	{"doca_comch_producer_task_send_get_buf", data_get_buf},
	{"doca_comch_producer_task_send_get_consumer_id", data_get_consumer},
	{"doca_comch_producer_task_send_get_imm_data", data_imm},
	{"doca_comch_producer_task_send_get_imm_data_len", data_imm_len},
	{"doca_comch_producer_task_send_as_task", data_as_task},
};
const struct group producer_group = GROUP(producer_calls, producer_prepare);
