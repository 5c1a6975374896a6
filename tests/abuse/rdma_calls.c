/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA instances: life cycle, properties, capabilities. */
#include <doca_dev.h>
#include <doca_mmap.h>
#include <string.h>

#include "buf_calls.h"
#include "rdma_calls.h"

#define INSTANCES_MAX 2
#define RIGHTS (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

struct doca_rdma *rdma_of(const struct doca_ctx *ctx)
{
	for (uint32_t i = 0; i < object_count(RDMA); i++) {
		if (doca_rdma_as_ctx(object_at(RDMA, i)->pointer) == ctx)
			return object_at(RDMA, i)->pointer;
	}
	return NULL;
}

/* ---- life cycle ---- */

static void made(struct doca_rdma *rdma)
{
	object_add(RDMA, rdma);
	ctx_add(doca_rdma_as_ctx(rdma));
}

static void create(void)
{
	struct doca_rdma *rdma;

	if (is_ending() || object_count(RDMA) >= INSTANCES_MAX || !object_room(CTX))
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_rdma **place = or_null(&rdma);

	expect_if(true);
	if (CALL(doca_rdma_create, dev, place) == DOCA_SUCCESS)
		made(rdma);
}

static void destroy(void)
{
	struct doca_rdma *rdma = pick(RDMA);
	struct doca_ctx *ctx = doca_rdma_as_ctx(rdma);

	refuse_if(rdma != NULL && !ctx_is_idle(ctx));
	if (CALL(doca_rdma_destroy, rdma) != DOCA_SUCCESS)
		return;
	object_drop(CTX, ctx);
	object_drop_of(RDMA_CONNECTION, object_find(RDMA, rdma)->id);
	object_drop(RDMA, rdma);
}

static void as_ctx(void)
{
	(void)CALL_VALUE(doca_rdma_as_ctx, (struct doca_rdma *)pick(RDMA));
}

/* ---- properties ---- */

static struct doca_rdma *to_set(void)
{
	struct doca_rdma *rdma = pick(RDMA);

	refuse_if(rdma != NULL && !ctx_is_idle(doca_rdma_as_ctx(rdma)));
	return rdma;
}

/* A setter. The getter shows which values it rejects while idle, and the result must be documented. */
#define PROPERTY(name, type, value, is_wrong)                                                                                    \
	static void set_##name(void)                                                                                             \
	{                                                                                                                        \
		struct doca_rdma *rdma = to_set();                                                                               \
		uint32_t number = (value);                                                                                       \
		refuse_if(is_wrong);                                                                                             \
		CALL(doca_rdma_set_##name, rdma, (type)number);                                                                  \
	}                                                                                                                        \
	static void get_##name(void)                                                                                             \
	{                                                                                                                        \
		type got;                                                                                                        \
		struct doca_rdma *rdma = pick(RDMA);                                                                             \
		type *place = or_null(&got);                                                                                     \
		CALL(doca_rdma_get_##name, rdma, place);                                                                         \
	}
PROPERTY(send_queue_size, uint32_t, chance(6) ? UINT32_MAX : random_below(40), number == UINT32_MAX || number == 0)
PROPERTY(recv_queue_size, uint32_t, random_below(40), number == 0)
PROPERTY(max_send_buf_list_len, uint32_t, chance(6) ? UINT32_MAX : random_below(4), number == UINT32_MAX || number == 0)
PROPERTY(transport_type, enum doca_rdma_transport_type, random_below(3), number > DOCA_RDMA_TRANSPORT_TYPE_DC)
PROPERTY(connection_request_timeout, uint16_t, random_below(UINT16_MAX + 1), false)
PROPERTY(mtu, enum doca_mtu_size, random_below(8), false)
PROPERTY(permissions, uint32_t, chance(6) ? random_below(1 << 12) : chance(2) ? RIGHTS : random_below(2) * RIGHTS, false)
PROPERTY(grh_enabled, uint8_t, random_below(2), false)
PROPERTY(gid_index, uint32_t, random_below(6), number > 255)
PROPERTY(sl, uint32_t, random_below(20), number > 15)
PROPERTY(max_num_connections, uint16_t, chance(6) ? UINT16_MAX : random_below(6), number == UINT16_MAX || number == 0)
PROPERTY(rnr_retry_count, uint8_t, random_below(10), number > 7)

static void set_receive_len(void)
{
	struct doca_rdma *rdma = to_set();
	uint32_t len = chance(6) ? UINT32_MAX : random_below(4);

	refuse_if(len == 0 || len == UINT32_MAX);
	CALL(doca_rdma_task_receive_set_dst_buf_list_len, rdma, len);
}

static void get_receive_len(void)
{
	uint32_t len;
	struct doca_rdma *rdma = pick(RDMA);
	uint32_t *place = or_null(&len);

	expect_if(true);
	CALL(doca_rdma_task_receive_get_dst_buf_list_len, rdma, place);
}

static void gpu_handle(void)
{
	struct doca_gpu_dev_rdma *handle;
	struct doca_rdma *rdma = pick(RDMA);
	struct doca_gpu_dev_rdma **place = or_null(&handle);

	CALL(doca_rdma_get_gpu_handle, rdma, place);
}

static void dpa_handle(void)
{
	doca_dpa_dev_rdma_t handle;
	struct doca_rdma *rdma = pick(RDMA);
	doca_dpa_dev_rdma_t *place = or_null(&handle);

	refuse_if(true);
	CALL(doca_rdma_get_dpa_handle, rdma, place);
}

static void dpa_attach(void)
{
	struct doca_rdma *rdma = pick(RDMA);
	struct doca_dpa_completion *completion = or_null(memory);

	refuse_if(true);
	CALL(doca_rdma_dpa_completion_attach, rdma, completion);
}

/* ---- capabilities ---- */

#define CAP(name)                                                                                                                \
	static void cap_##name(void)                                                                                             \
	{                                                                                                                        \
		uint32_t value;                                                                                                  \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		uint32_t *place = or_null(&value);                                                                               \
		expect_if(true);                                                                                                 \
		CALL(doca_rdma_cap_get_##name, info, place);                                                                     \
	}
CAP(max_recv_queue_size)
CAP(max_send_queue_size)
CAP(max_send_buf_list_len)
CAP(max_message_size)
CAP(gid_table_size)

static void cap_gid(void)
{
	struct doca_rdma_gid gids[8];
	struct doca_devinfo *info = pick(DEVINFO);
	uint32_t start = random_below(4), num = chance(6) ? UINT32_MAX : random_below(6);
	struct doca_rdma_gid *place = or_null(gids);

	refuse_if(num > 8);
	CALL(doca_rdma_cap_get_gid, info, start, num, place);
}

static void cap_transport(void)
{
	struct doca_devinfo *info = pick(DEVINFO);
	uint32_t type = random_below(3);

	refuse_if(type > DOCA_RDMA_TRANSPORT_TYPE_DC);
	CALL(doca_rdma_cap_transport_type_is_supported, info, (enum doca_rdma_transport_type)type);
}

static void cap_receive_len(void)
{
	uint32_t len;
	struct doca_devinfo *info = pick(DEVINFO);
	uint32_t type = random_below(3);
	uint32_t *place = or_null(&len);

	refuse_if(type > DOCA_RDMA_TRANSPORT_TYPE_DC);
	CALL(doca_rdma_cap_task_receive_get_max_dst_buf_list_len, info, (enum doca_rdma_transport_type)type, place);
}

/* ---- beginnings: two instances, each with the other's memory and bufs of it ---- */

static void prepare_memory(struct doca_dev *const devs[2])
{
	struct doca_mmap *mmap, *imported;
	const void *descriptor;
	size_t len;

	if (CALL(doca_mmap_create, &mmap) != DOCA_SUCCESS)
		return;
	object_add(MMAP, mmap);
	CALL(doca_mmap_add_dev, mmap, devs[0]);
	CALL(doca_mmap_add_dev, mmap, devs[1]);
	CALL(doca_mmap_set_memrange, mmap, memory, MEMORY_SIZE);
	CALL(doca_mmap_set_permissions, mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | RIGHTS);
	if (CALL(doca_mmap_start, mmap) != DOCA_SUCCESS ||
	    CALL(doca_mmap_export_rdma, mmap, devs[1], &descriptor, &len) != DOCA_SUCCESS)
		return;
	for (int i = 0; i < 2; i++) {
		if (object_room(MMAP) &&
		    CALL(doca_mmap_create_from_export, NULL, descriptor, len, devs[i], &imported) == DOCA_SUCCESS)
			object_add(MMAP, imported);
	}
}

static void prepare(void)
{
	struct doca_dev *devs[2] = {dev_add("03:00.0"), dev_add("d8:00.0")};
	struct doca_rdma *rdma;

	if (devs[0] == NULL || devs[1] == NULL)
		return;
	prepare_memory(devs);
	for (uint32_t i = 0; i < INSTANCES_MAX; i++) {
		if (CALL(doca_rdma_create, devs[i], &rdma) != DOCA_SUCCESS)
			return;
		made(rdma);
		CALL(doca_rdma_set_permissions, rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | RIGHTS);
		CALL(doca_rdma_set_max_num_connections, rdma, 3);
		CALL(doca_rdma_set_rnr_retry_count, rdma, 0);
		rdma_tasks_conf(rdma);
		rdma_callbacks_set(rdma, i);
		ctx_run(doca_rdma_as_ctx(rdma));
	}
}

#define CALLS_OF(name)                                                                                                           \
	{"doca_rdma_set_" #name, set_##name},                                                                                    \
	{                                                                                                                        \
		"doca_rdma_get_" #name, get_##name                                                                               \
	}
#define CALL_OF_CAP(name)                                                                                                        \
	{                                                                                                                        \
		"doca_rdma_cap_get_" #name, cap_##name                                                                           \
	}

static const struct call calls[] = {
	{"doca_rdma_create", create, 2},
	{"doca_rdma_destroy", destroy, 1, true},
	{"doca_rdma_as_ctx", as_ctx},
	CALLS_OF(send_queue_size),
	CALLS_OF(recv_queue_size),
	CALLS_OF(max_send_buf_list_len),
	CALLS_OF(transport_type),
	CALLS_OF(connection_request_timeout),
	CALLS_OF(mtu),
	CALLS_OF(permissions),
	CALLS_OF(grh_enabled),
	CALLS_OF(gid_index),
	CALLS_OF(sl),
	CALLS_OF(max_num_connections),
	CALLS_OF(rnr_retry_count),
	{"doca_rdma_task_receive_set_dst_buf_list_len", set_receive_len},
	{"doca_rdma_task_receive_get_dst_buf_list_len", get_receive_len},
	{"doca_rdma_get_gpu_handle", gpu_handle},
	{"doca_rdma_get_dpa_handle", dpa_handle},
	{"doca_rdma_dpa_completion_attach", dpa_attach},
	CALL_OF_CAP(max_recv_queue_size),
	CALL_OF_CAP(max_send_queue_size),
	CALL_OF_CAP(max_send_buf_list_len),
	CALL_OF_CAP(max_message_size),
	CALL_OF_CAP(gid_table_size),
	{"doca_rdma_cap_get_gid", cap_gid},
	{"doca_rdma_cap_transport_type_is_supported", cap_transport},
	{"doca_rdma_cap_task_receive_get_max_dst_buf_list_len", cap_receive_len},
};
const struct group rdma_group = GROUP(calls, prepare);
