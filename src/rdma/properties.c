/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties that can be set before start, and read at any time. */
#include "rdma/properties.h"

#include "base/log.h"
#include "core/dev.h"
#include "rdma/check.h"
#include "rdma/rdma.h"

#define PERMISSIONS                                                                                                              \
	(uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |                \
		   DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static doca_error_t check_set(const struct doca_rdma *rdma, const char *setter)
{
	if (rdma == NULL)
		return rdma_check_given(NULL, "rdma");
	return sf_ctx_check_idle(&rdma->ctx, setter);
}

static doca_error_t check_get(const struct doca_rdma *rdma, const void *place)
{
	if (rdma == NULL || place == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "the output argument");
	return DOCA_SUCCESS;
}

/* Rounds up to a power of two, as hardware's queues do. */
static uint32_t round_up(uint32_t size)
{
	uint32_t rounded = 1;

	while (rounded < size)
		rounded *= 2;
	return rounded;
}

static uint32_t num_gids(const struct doca_rdma *rdma)
{
	uint32_t num = 0;

	(void)doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(rdma->dev), &num);
	return num;
}

doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (send_queue_size == 0 || send_queue_size > RDMA_QUEUE_MAX) {
		SF_LOG_ERR("rdma: send queue size is %u: give 1 to %d", send_queue_size, RDMA_QUEUE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->send_queue_size = round_up(send_queue_size);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size)
{
	doca_error_t result = check_get(rdma, send_queue_size);

	if (result == DOCA_SUCCESS)
		*send_queue_size = rdma->send_queue_size;
	return result;
}

doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma, uint32_t max_send_buf_list_len)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (max_send_buf_list_len == 0 || max_send_buf_list_len > RDMA_LIST_MAX) {
		SF_LOG_ERR("rdma: max_send_buf_list_len is %u: give 1 to %d", max_send_buf_list_len, RDMA_LIST_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->list_len = max_send_buf_list_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma, uint32_t *max_send_buf_list_len)
{
	doca_error_t result = check_get(rdma, max_send_buf_list_len);

	if (result == DOCA_SUCCESS)
		*max_send_buf_list_len = rdma->list_len;
	return result;
}

doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if ((unsigned int)mtu > DOCA_MTU_SIZE_4K_BYTES) {
		SF_LOG_ERR("rdma: MTU %d is not one from 256 to 4096 bytes", (int)mtu);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->mtu = mtu;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu)
{
	doca_error_t result = check_get(rdma, mtu);

	if (result == DOCA_SUCCESS)
		*mtu = rdma->mtu;
	return result;
}

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if ((permissions & ~PERMISSIONS) != 0) {
		SF_LOG_ERR("rdma: permissions 0x%x have other bits than LOCAL_READ_WRITE and RDMA's", permissions);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->permissions = permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
{
	doca_error_t result = check_get(rdma, permissions);

	if (result == DOCA_SUCCESS)
		*permissions = rdma->permissions;
	return result;
}

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (gid_index >= num_gids(rdma)) {
		SF_LOG_ERR("rdma: GID index is %u, the device has %u GIDs", gid_index, num_gids(rdma));
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->gid_index = gid_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
{
	doca_error_t result = check_get(rdma, gid_index);

	if (result == DOCA_SUCCESS)
		*gid_index = rdma->gid_index;
	return result;
}

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (sl > RDMA_SL_MAX) {
		SF_LOG_ERR("rdma: service level is %u: give 0 to %d", sl, RDMA_SL_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->sl = sl;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl)
{
	doca_error_t result = check_get(rdma, sl);

	if (result == DOCA_SUCCESS)
		*sl = rdma->sl;
	return result;
}

doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (max_num_connections == 0 || max_num_connections > RDMA_CONNECTIONS_MAX) {
		SF_LOG_ERR("rdma: max_num_connections is %u: give 1 to %d", max_num_connections, RDMA_CONNECTIONS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->max_num_connections = max_num_connections;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma, uint16_t *max_num_connections)
{
	doca_error_t result = check_get(rdma, max_num_connections);

	if (result == DOCA_SUCCESS)
		*max_num_connections = rdma->max_num_connections;
	return result;
}

doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (rnr_retry_count > RDMA_RNR_MAX) {
		SF_LOG_ERR("rdma: retry count is %u: give 0 to %d", rnr_retry_count, RDMA_RNR_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->rnr_retry_count = rnr_retry_count;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma, uint8_t *rnr_retry_count)
{
	doca_error_t result = check_get(rdma, rnr_retry_count);

	if (result == DOCA_SUCCESS)
		*rnr_retry_count = rdma->rnr_retry_count;
	return result;
}

const char *rdma_transport_name(uint32_t transport)
{
	return transport == DOCA_RDMA_TRANSPORT_TYPE_RC ? "RC" : transport == DOCA_RDMA_TRANSPORT_TYPE_DC ? "DC" : "unknown";
}

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if ((unsigned int)transport_type > DOCA_RDMA_TRANSPORT_TYPE_DC) {
		SF_LOG_ERR("rdma: transport type %d is not RC or DC", (int)transport_type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->transport = transport_type;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type)
{
	doca_error_t result = check_get(rdma, transport_type);

	if (result == DOCA_SUCCESS)
		*transport_type = rdma->transport;
	return result;
}

doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma, uint16_t timeout)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (timeout == 0) {
		SF_LOG_ERR("rdma: connection request timeout is 0: give at least 1 millisecond");
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->request_timeout_ms = timeout;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma, uint16_t *timeout)
{
	doca_error_t result = check_get(rdma, timeout);

	if (result == DOCA_SUCCESS)
		*timeout = rdma->request_timeout_ms;
	return result;
}

doca_error_t doca_rdma_set_connection_state_callbacks(struct doca_rdma *rdma,
						      doca_rdma_connection_request_cb_t doca_rdma_connect_request_cb,
						      doca_rdma_connection_established_cb_t doca_rdma_connect_established_cb,
						      doca_rdma_connection_failure_cb_t doca_rdma_connect_failure_cb,
						      doca_rdma_connection_disconnection_cb_t doca_rdma_disconnect_cb)
{
	if (doca_rdma_connect_established_cb == NULL || doca_rdma_connect_failure_cb == NULL || doca_rdma_disconnect_cb == NULL)
		return rdma_check_given(NULL, "the callback for established, failed or disconnected connections");
	doca_error_t result = check_set(rdma, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->request_cb = doca_rdma_connect_request_cb;
	rdma->established_cb = doca_rdma_connect_established_cb;
	rdma->failure_cb = doca_rdma_connect_failure_cb;
	rdma->disconnection_cb = doca_rdma_disconnect_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled)
{
	doca_error_t result = check_set(rdma, __func__);

	if (result != DOCA_SUCCESS || grh_enabled != 0)
		return result;
	SF_LOG_ERR("rdma: the device's port is Ethernet, where every packet has a GRH");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled)
{
	doca_error_t result = check_get(rdma, grh_enabled);

	if (result == DOCA_SUCCESS)
		*grh_enabled = 1;
	return result;
}
