/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA of 2.5: an instance has one connection, so tasks do not name it. */
#include <doca_rdma.h>

#include "legacy25/legacy25.h"
#include "rdma/one_connection.h"

LEGACY_API doca_error_t doca_2_5_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
	doca_error_t result = doca_rdma_create(dev, rdma);

	if (result == DOCA_SUCCESS)
		sf_rdma_one_connection(*rdma);
	return result;
}

LEGACY_API doca_error_t doca_2_5_rdma_export(struct doca_rdma *rdma, const void **details, size_t *size)
{
	return sf_rdma_one_export(rdma, details, size);
}

LEGACY_API doca_error_t doca_2_5_rdma_connect(struct doca_rdma *rdma, const void *details, size_t size)
{
	return sf_rdma_one_connect(rdma, details, size);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_send_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
							      union doca_data user_data, struct doca_rdma_task_send **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_send_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_send_allocate_init(rdma, connection, src_buf, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
								  doca_be32_t immediate_data, union doca_data user_data,
								  struct doca_rdma_task_send_imm **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_send_imm_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_send_imm_allocate_init(rdma, connection, src_buf, immediate_data, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_read_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
							      struct doca_buf *dst_buf, union doca_data user_data,
							      struct doca_rdma_task_read **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_read_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_read_allocate_init(rdma, connection, src_buf, dst_buf, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_write_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
							       struct doca_buf *dst_buf, union doca_data user_data,
							       struct doca_rdma_task_write **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_write_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_write_allocate_init(rdma, connection, src_buf, dst_buf, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
								   struct doca_buf *dst_buf, doca_be32_t immediate_data,
								   union doca_data user_data,
								   struct doca_rdma_task_write_imm **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_write_imm_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_write_imm_allocate_init(rdma, connection, src_buf, dst_buf, immediate_data, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
									struct doca_buf *result_buf, uint64_t cmp_data,
									uint64_t swap_data, union doca_data user_data,
									struct doca_rdma_task_atomic_cmp_swp **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_atomic_cmp_swp_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_atomic_cmp_swp_allocate_init(rdma, connection, dst_buf, result_buf, cmp_data, swap_data, user_data,
							   task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
									  struct doca_buf *result_buf, uint64_t add_data,
									  union doca_data user_data,
									  struct doca_rdma_task_atomic_fetch_add **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_atomic_fetch_add_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_atomic_fetch_add_allocate_init(rdma, connection, dst_buf, result_buf, add_data, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_remote_net_sync_event_get_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_remote_net_sync_event_get_allocate_init(rdma, connection, event, dst_buf, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, const struct doca_buf *src_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_remote_net_sync_event_notify_set_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(rdma, connection, event, src_buf, user_data, task);
}

LEGACY_API doca_error_t doca_2_5_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, struct doca_buf *result_buf, uint64_t add_data,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	struct doca_rdma_connection *connection;
	doca_error_t result = sf_rdma_one_get(rdma, "doca_rdma_task_remote_net_sync_event_notify_add_allocate_init", &connection);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(rdma, connection, event, result_buf, add_data,
									     user_data, task);
}
