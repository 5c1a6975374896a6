/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA's tasks: the same few calls for each type, and the getters and setters of its fields. A task in flight is not changed.
 * Slot 0 of a task's objects is its first buf, slot 1 its second.
 */
#include <doca_dev.h>
#include <doca_sync_event.h>

#include "rdma_calls.h"

/* ---- sync events of another node: one for the whole run, which tasks may name at any time ---- */

static struct doca_sync_event_remote_net *remote_event(void)
{
	static struct doca_sync_event_remote_net *remote;
	static struct doca_sync_event *event;
	struct doca_devinfo **list;
	struct doca_dev *dev;
	const uint8_t *data;
	uint32_t num;
	size_t len;

	if (event != NULL)
		return remote;
	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS || doca_dev_open(list[0], &dev) != DOCA_SUCCESS ||
	    doca_devinfo_destroy_list(list) != DOCA_SUCCESS || doca_sync_event_create(&event) != DOCA_SUCCESS ||
	    doca_sync_event_add_publisher_location_remote_net(event) != DOCA_SUCCESS ||
	    doca_sync_event_add_subscriber_location_cpu(event, dev) != DOCA_SUCCESS ||
	    doca_sync_event_start(event) != DOCA_SUCCESS ||
	    doca_sync_event_export_to_remote_net(event, &data, &len) != DOCA_SUCCESS ||
	    doca_sync_event_remote_net_create_from_export(dev, data, len, &remote) != DOCA_SUCCESS)
		remote = NULL;
	return remote;
}

/* ---- the fields of each type ---- */

#define TYPED(type) struct doca_rdma_task_##type

#define EACH(type, kind)                                                                                                         \
	static void type##_ended(TYPED(type) * task, union doca_data data, union doca_data ctx_data)                             \
	{                                                                                                                        \
		task_ended(doca_rdma_task_##type##_as_task(task));                                                               \
	}                                                                                                                        \
	static void type##_conf(void)                                                                                            \
	{                                                                                                                        \
		struct doca_rdma *rdma = pick(RDMA);                                                                             \
		uint32_t num = chance(8) ? UINT32_MAX : random_below(5);                                                         \
		doca_rdma_task_##type##_completion_cb_t good = or_null(type##_ended), bad = or_null(type##_ended);               \
		refuse_if((rdma != NULL && !ctx_is_idle(doca_rdma_as_ctx(rdma))) || num == UINT32_MAX);                          \
		CALL(doca_rdma_task_##type##_set_conf, rdma, good, bad, num);                                                    \
	}                                                                                                                        \
	static void type##_cap(void)                                                                                             \
	{                                                                                                                        \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		expect_if(true);                                                                                                 \
		CALL(doca_rdma_cap_task_##type##_is_supported, info);                                                            \
	}                                                                                                                        \
	static void type##_as_task(void)                                                                                         \
	{                                                                                                                        \
		(void)CALL_VALUE(doca_rdma_task_##type##_as_task, (TYPED(type) *)pick(kind));                                    \
	}                                                                                                                        \
	/* Picks a task that may be changed, or NULL. */                                                                         \
	static bool type##_to_set(TYPED(type) * *task)                                                                           \
	{                                                                                                                        \
		*task = pick(kind);                                                                                              \
		return *task == NULL || !task_is_busy(doca_rdma_task_##type##_as_task(*task));                                   \
	}                                                                                                                        \
	static void type##_made(TYPED(type) * task, void *first, void *second)                                                   \
	{                                                                                                                        \
		struct doca_task *base = doca_rdma_task_##type##_as_task(task);                                                  \
		task_add(base, kind, task);                                                                                      \
		task_uses(base, 0, first);                                                                                       \
		task_uses(base, 1, second);                                                                                      \
	}

/* Allocates with these arguments between the connection and the user data. */
#define ALLOC(type, ...)                                                                                                         \
	static void type##_alloc(void)                                                                                           \
	{                                                                                                                        \
		TYPED(type) * task;                                                                                              \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_rdma *rdma = pick(RDMA);                                                                             \
		struct doca_rdma_connection *connection = connection_of(rdma);                                                   \
		void *first = pick_or_none(BUF), *second = pick_or_none(BUF);                                                    \
		TYPED(type) **place = or_null(&task);                                                                            \
		if (CALL(doca_rdma_task_##type##_allocate_init, rdma, connection, __VA_ARGS__, (union doca_data){.u64 = 3},      \
			 place) == DOCA_SUCCESS)                                                                                 \
			type##_made(task, first, second);                                                                        \
	}

#define SET_BUF(type, member, slot)                                                                                              \
	static void type##_set_##member(void)                                                                                    \
	{                                                                                                                        \
		TYPED(type) * task;                                                                                              \
		void *buf = pick_or_none(BUF);                                                                                   \
		if (!type##_to_set(&task))                                                                                       \
			return;                                                                                                  \
		if (task != NULL)                                                                                                \
			task_uses(doca_rdma_task_##type##_as_task(task), slot, buf);                                             \
		CALL_VALUE(doca_rdma_task_##type##_set_##member, task, buf);                                                     \
	}

#define SET(type, member, value)                                                                                                 \
	static void type##_set_##member(void)                                                                                    \
	{                                                                                                                        \
		TYPED(type) * task;                                                                                              \
		if (type##_to_set(&task))                                                                                        \
			CALL_VALUE(doca_rdma_task_##type##_set_##member, task, value);                                           \
	}

#define SET_CONNECTION(type)                                                                                                     \
	static void type##_set_rdma_connection(void)                                                                             \
	{                                                                                                                        \
		TYPED(type) * task;                                                                                              \
		if (!type##_to_set(&task))                                                                                       \
			return;                                                                                                  \
		struct doca_ctx *ctx = task != NULL ? doca_task_get_ctx(doca_rdma_task_##type##_as_task(task)) : NULL;           \
		struct doca_rdma_connection *connection = connection_of(rdma_of(ctx));                                           \
		CALL_VALUE(doca_rdma_task_##type##_set_rdma_connection, task, connection);                                       \
	}

#define GET(type, member, kind)                                                                                                  \
	static void type##_get_##member(void)                                                                                    \
	{                                                                                                                        \
		(void)CALL_VALUE(doca_rdma_task_##type##_get_##member, (TYPED(type) *)pick(kind));                               \
	}

EACH(receive, RDMA_RECEIVE)
static void receive_alloc(void)
{
	struct doca_rdma_task_receive *task;

	if (!has_room(TASK))
		return;
	struct doca_rdma *rdma = pick(RDMA);
	void *buf = pick_or_none(BUF);
	struct doca_rdma_task_receive **place = or_null(&task);

	if (CALL(doca_rdma_task_receive_allocate_init, rdma, buf, (union doca_data){.u64 = 3}, place) == DOCA_SUCCESS)
		receive_made(task, buf, NULL);
}
SET_BUF(receive, dst_buf, 0)
GET(receive, dst_buf, RDMA_RECEIVE)
GET(receive, result_opcode, RDMA_RECEIVE)
GET(receive, result_len, RDMA_RECEIVE)
GET(receive, result_immediate_data, RDMA_RECEIVE)
GET(receive, result_rdma_connection, RDMA_RECEIVE)

EACH(send, RDMA_SEND)
static void send_alloc(void)
{
	struct doca_rdma_task_send *task;

	if (!has_room(TASK))
		return;
	struct doca_rdma *rdma = pick(RDMA);
	struct doca_rdma_connection *connection = connection_of(rdma);
	void *buf = pick_or_none(BUF);
	struct doca_rdma_task_send **place = or_null(&task);

	if (CALL(doca_rdma_task_send_allocate_init, rdma, connection, buf, (union doca_data){.u64 = 3}, place) == DOCA_SUCCESS)
		send_made(task, buf, NULL);
}
SET_BUF(send, src_buf, 0)
GET(send, src_buf, RDMA_SEND)
SET_CONNECTION(send)
GET(send, rdma_connection, RDMA_SEND)

EACH(send_imm, RDMA_SEND_IMM)
static void send_imm_alloc(void)
{
	struct doca_rdma_task_send_imm *task;

	if (!has_room(TASK))
		return;
	struct doca_rdma *rdma = pick(RDMA);
	struct doca_rdma_connection *connection = connection_of(rdma);
	void *buf = pick_or_none(BUF);
	struct doca_rdma_task_send_imm **place = or_null(&task);

	if (CALL(doca_rdma_task_send_imm_allocate_init, rdma, connection, buf, 5, (union doca_data){.u64 = 3}, place) ==
	    DOCA_SUCCESS)
		send_imm_made(task, buf, NULL);
}
SET_BUF(send_imm, src_buf, 0)
GET(send_imm, src_buf, RDMA_SEND_IMM)
SET(send_imm, immediate_data, random_below(UINT32_MAX))
GET(send_imm, immediate_data, RDMA_SEND_IMM)
SET_CONNECTION(send_imm)
GET(send_imm, rdma_connection, RDMA_SEND_IMM)

EACH(read, RDMA_READ)
ALLOC(read, first, second)
SET_BUF(read, src_buf, 0)
SET_BUF(read, dst_buf, 1)
GET(read, src_buf, RDMA_READ)
GET(read, dst_buf, RDMA_READ)
SET_CONNECTION(read)
GET(read, rdma_connection, RDMA_READ)
GET(read, result_len, RDMA_READ)

EACH(write, RDMA_WRITE)
ALLOC(write, first, second)
SET_BUF(write, src_buf, 0)
SET_BUF(write, dst_buf, 1)
GET(write, src_buf, RDMA_WRITE)
GET(write, dst_buf, RDMA_WRITE)
SET_CONNECTION(write)
GET(write, rdma_connection, RDMA_WRITE)

EACH(write_imm, RDMA_WRITE_IMM)
ALLOC(write_imm, first, second, 6)
SET_BUF(write_imm, src_buf, 0)
SET_BUF(write_imm, dst_buf, 1)
GET(write_imm, src_buf, RDMA_WRITE_IMM)
GET(write_imm, dst_buf, RDMA_WRITE_IMM)
SET(write_imm, immediate_data, random_below(UINT32_MAX))
GET(write_imm, immediate_data, RDMA_WRITE_IMM)
SET_CONNECTION(write_imm)
GET(write_imm, rdma_connection, RDMA_WRITE_IMM)

EACH(atomic_cmp_swp, RDMA_CMP_SWP)
ALLOC(atomic_cmp_swp, first, second, random_below(3), random_below(3))
SET_BUF(atomic_cmp_swp, dst_buf, 0)
SET_BUF(atomic_cmp_swp, result_buf, 1)
GET(atomic_cmp_swp, dst_buf, RDMA_CMP_SWP)
GET(atomic_cmp_swp, result_buf, RDMA_CMP_SWP)
SET(atomic_cmp_swp, cmp_data, random_below(9))
GET(atomic_cmp_swp, cmp_data, RDMA_CMP_SWP)
SET(atomic_cmp_swp, swap_data, random_below(9))
GET(atomic_cmp_swp, swap_data, RDMA_CMP_SWP)
SET_CONNECTION(atomic_cmp_swp)
GET(atomic_cmp_swp, rdma_connection, RDMA_CMP_SWP)

EACH(atomic_fetch_add, RDMA_FETCH_ADD)
ALLOC(atomic_fetch_add, first, second, random_below(3))
SET_BUF(atomic_fetch_add, dst_buf, 0)
SET_BUF(atomic_fetch_add, result_buf, 1)
GET(atomic_fetch_add, dst_buf, RDMA_FETCH_ADD)
GET(atomic_fetch_add, result_buf, RDMA_FETCH_ADD)
SET(atomic_fetch_add, add_data, random_below(9))
GET(atomic_fetch_add, add_data, RDMA_FETCH_ADD)
SET_CONNECTION(atomic_fetch_add)
GET(atomic_fetch_add, rdma_connection, RDMA_FETCH_ADD)

#define EVENT_OR_NULL() (chance(16) ? NULL : remote_event())

/* The first argument is the event, which is no buf, so only slot 1 is used. */
#define EVENT_ALLOC(type, ...)                                                                                                   \
	static void type##_alloc(void)                                                                                           \
	{                                                                                                                        \
		TYPED(type) * task;                                                                                              \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_rdma *rdma = pick(RDMA);                                                                             \
		struct doca_rdma_connection *connection = connection_of(rdma);                                                   \
		void *second = pick_or_none(BUF);                                                                                \
		struct doca_sync_event_remote_net *event = EVENT_OR_NULL();                                                      \
		TYPED(type) **place = or_null(&task);                                                                            \
		if (CALL(doca_rdma_task_##type##_allocate_init, rdma, connection, event, __VA_ARGS__,                            \
			 (union doca_data){.u64 = 3}, place) == DOCA_SUCCESS)                                                    \
			type##_made(task, NULL, second);                                                                         \
	}
EACH(remote_net_sync_event_get, RDMA_EVENT_GET)
EVENT_ALLOC(remote_net_sync_event_get, second)
SET(remote_net_sync_event_get, sync_event, EVENT_OR_NULL())
GET(remote_net_sync_event_get, sync_event, RDMA_EVENT_GET)
SET_BUF(remote_net_sync_event_get, dst_buf, 1)
GET(remote_net_sync_event_get, dst_buf, RDMA_EVENT_GET)
GET(remote_net_sync_event_get, result_len, RDMA_EVENT_GET)
SET_CONNECTION(remote_net_sync_event_get)
GET(remote_net_sync_event_get, rdma_connection, RDMA_EVENT_GET)

EACH(remote_net_sync_event_notify_set, RDMA_EVENT_SET)
EVENT_ALLOC(remote_net_sync_event_notify_set, second)
SET(remote_net_sync_event_notify_set, sync_event, EVENT_OR_NULL())
GET(remote_net_sync_event_notify_set, sync_event, RDMA_EVENT_SET)
SET_BUF(remote_net_sync_event_notify_set, src_buf, 1)
GET(remote_net_sync_event_notify_set, src_buf, RDMA_EVENT_SET)
SET_CONNECTION(remote_net_sync_event_notify_set)
GET(remote_net_sync_event_notify_set, rdma_connection, RDMA_EVENT_SET)

EACH(remote_net_sync_event_notify_add, RDMA_EVENT_ADD)
EVENT_ALLOC(remote_net_sync_event_notify_add, second, random_below(5))
SET(remote_net_sync_event_notify_add, sync_event, EVENT_OR_NULL())
GET(remote_net_sync_event_notify_add, sync_event, RDMA_EVENT_ADD)
SET_BUF(remote_net_sync_event_notify_add, result_buf, 1)
GET(remote_net_sync_event_notify_add, result_buf, RDMA_EVENT_ADD)
SET(remote_net_sync_event_notify_add, add_data, random_below(9))
GET(remote_net_sync_event_notify_add, add_data, RDMA_EVENT_ADD)
SET_CONNECTION(remote_net_sync_event_notify_add)
GET(remote_net_sync_event_notify_add, rdma_connection, RDMA_EVENT_ADD)

void rdma_tasks_conf(struct doca_rdma *rdma)
{
#define CONF(type) CALL(doca_rdma_task_##type##_set_conf, rdma, type##_ended, type##_ended, 4)
	(void)remote_event(); /* at the beginning of a run, because its descriptors stay open */
	CONF(receive);
	CONF(send);
	CONF(send_imm);
	CONF(read);
	CONF(write);
	CONF(write_imm);
	CONF(atomic_cmp_swp);
	CONF(atomic_fetch_add);
	CONF(remote_net_sync_event_get);
	CONF(remote_net_sync_event_notify_set);
	CONF(remote_net_sync_event_notify_add);
}

#define OF(type, what, ...)                                                                                                      \
	{                                                                                                                        \
		"doca_rdma_task_" #type "_" #what, type##_##what, ##__VA_ARGS__                                                  \
	}
#define CALLS_OF(type)                                                                                                           \
	{"doca_rdma_task_" #type "_set_conf", type##_conf}, {"doca_rdma_cap_task_" #type "_is_supported", type##_cap},           \
		{"doca_rdma_task_" #type "_allocate_init", type##_alloc, 3}, OF(type, as_task)
#define BOTH(type, member) OF(type, set_##member), OF(type, get_##member)

static const struct call calls[] = {
	CALLS_OF(receive),
	BOTH(receive, dst_buf),
	OF(receive, get_result_opcode),
	OF(receive, get_result_len),
	OF(receive, get_result_immediate_data),
	OF(receive, get_result_rdma_connection),
	CALLS_OF(send),
	BOTH(send, src_buf),
	BOTH(send, rdma_connection),
	CALLS_OF(send_imm),
	BOTH(send_imm, src_buf),
	BOTH(send_imm, immediate_data),
	BOTH(send_imm, rdma_connection),
	CALLS_OF(read),
	BOTH(read, src_buf),
	BOTH(read, dst_buf),
	BOTH(read, rdma_connection),
	OF(read, get_result_len),
	CALLS_OF(write),
	BOTH(write, src_buf),
	BOTH(write, dst_buf),
	BOTH(write, rdma_connection),
	CALLS_OF(write_imm),
	BOTH(write_imm, src_buf),
	BOTH(write_imm, dst_buf),
	BOTH(write_imm, immediate_data),
	BOTH(write_imm, rdma_connection),
	CALLS_OF(atomic_cmp_swp),
	BOTH(atomic_cmp_swp, dst_buf),
	BOTH(atomic_cmp_swp, result_buf),
	BOTH(atomic_cmp_swp, cmp_data),
	BOTH(atomic_cmp_swp, swap_data),
	BOTH(atomic_cmp_swp, rdma_connection),
	CALLS_OF(atomic_fetch_add),
	BOTH(atomic_fetch_add, dst_buf),
	BOTH(atomic_fetch_add, result_buf),
	BOTH(atomic_fetch_add, add_data),
	BOTH(atomic_fetch_add, rdma_connection),
	CALLS_OF(remote_net_sync_event_get),
	BOTH(remote_net_sync_event_get, sync_event),
	BOTH(remote_net_sync_event_get, dst_buf),
	BOTH(remote_net_sync_event_get, rdma_connection),
	OF(remote_net_sync_event_get, get_result_len),
	CALLS_OF(remote_net_sync_event_notify_set),
	BOTH(remote_net_sync_event_notify_set, sync_event),
	BOTH(remote_net_sync_event_notify_set, src_buf),
	BOTH(remote_net_sync_event_notify_set, rdma_connection),
	CALLS_OF(remote_net_sync_event_notify_add),
	BOTH(remote_net_sync_event_notify_add, sync_event),
	BOTH(remote_net_sync_event_notify_add, result_buf),
	BOTH(remote_net_sync_event_notify_add, add_data),
	BOTH(remote_net_sync_event_notify_add, rdma_connection),
};
const struct group rdma_task_group = GROUP(calls, NULL);
