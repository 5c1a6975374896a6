/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of RDMA instances of the 2.2 API, and capabilities of devices. */
#include "legacy/rdma.h"

#define SL_MAX 15
#define RDMA_FLAGS                                                                                                               \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |                          \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* ---- capabilities ---- */

typedef doca_error_t (*is_supported_fn)(const struct doca_devinfo *devinfo);

static const is_supported_fn supported[LEGACY_RDMA_TYPES] = {
	doca_rdma_cap_task_receive_is_supported,	doca_rdma_cap_task_send_is_supported,
	doca_rdma_cap_task_send_imm_is_supported,	doca_rdma_cap_task_read_is_supported,
	doca_rdma_cap_task_write_is_supported,		doca_rdma_cap_task_write_imm_is_supported,
	doca_rdma_cap_task_atomic_cmp_swp_is_supported, doca_rdma_cap_task_atomic_fetch_add_is_supported,
};

static doca_error_t check_job_type(int job_type, const char *function)
{
	if (job_type >= DOCA_RDMA_JOB_RECV && job_type <= DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: 0x%x is not an RDMA job", function, (unsigned int)job_type);
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY_API doca_error_t doca_2_2_rdma_job_get_supported(const struct doca_devinfo *devinfo, int job_type)
{
	doca_error_t result = legacy_check("doca_rdma_job_get_supported", devinfo, devinfo);

	if (result == DOCA_SUCCESS)
		result = check_job_type(job_type, "doca_rdma_job_get_supported");
	return result == DOCA_SUCCESS ? supported[job_type - DOCA_RDMA_JOB_RECV](devinfo) : result;
}

LEGACY_API doca_error_t doca_2_2_rdma_get_max_buf_chain_len(const struct doca_devinfo *devinfo, int job_type,
							    enum doca_rdma_transport_type transport_type, uint32_t *max)
{
	doca_error_t result = legacy_check("doca_rdma_get_max_buf_chain_len", devinfo, max);

	if (result == DOCA_SUCCESS)
		result = check_job_type(job_type, "doca_rdma_get_max_buf_chain_len");
	if (result != DOCA_SUCCESS)
		return result;
	if (job_type == DOCA_RDMA_JOB_RECV)
		return doca_rdma_cap_task_receive_get_max_dst_buf_list_len(devinfo, transport_type, max);
	return doca_rdma_cap_get_max_send_buf_list_len(devinfo, max);
}

/* DC was added after 2.2. */
LEGACY_API doca_error_t doca_2_2_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
								   enum doca_rdma_transport_type transport_type)
{
	doca_error_t result = legacy_check("doca_rdma_get_transport_type_supported", devinfo, devinfo);

	if (result != DOCA_SUCCESS)
		return result;
	return transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

/* ---- properties ---- */

static doca_error_t check_set(const struct legacy_rdma *rdma, bool needs_dev, const char *function)
{
	doca_error_t result = legacy_check(function, rdma, rdma);

	if (result == DOCA_SUCCESS)
		result = legacy_ctx_check_stopped(&rdma->ctx, function);
	if (result == DOCA_SUCCESS && needs_dev && rdma->ctx.dev == NULL) {
		SF_LOG_ERR("%s: the RDMA context has no device: call doca_ctx_dev_add first", function);
		result = DOCA_ERROR_BAD_STATE;
	}
	return result;
}

static doca_error_t refuse_value(const char *function, uint32_t value, const char *allowed)
{
	SF_LOG_ERR("%s: %u is out of range: %s", function, value, allowed);
	return DOCA_ERROR_INVALID_VALUE;
}

static uint32_t pow2_above(uint32_t value)
{
	uint32_t pow2 = 1;

	while (pow2 < value && pow2 < UINT32_C(1) << 31)
		pow2 *= 2;
	return pow2;
}

static doca_error_t queue_size_set(const struct legacy_rdma *rdma, uint32_t size, const char *function, uint32_t *to)
{
	doca_error_t result = check_set(rdma, false, function);

	if (result == DOCA_SUCCESS && size == 0)
		result = refuse_value(function, size, "use 1 or more");
	if (result == DOCA_SUCCESS)
		*to = pow2_above(size);
	return result;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_send_queue_size(struct legacy_rdma *rdma, uint32_t size)
{
	uint32_t value;
	doca_error_t result = queue_size_set(rdma, size, "doca_rdma_set_send_queue_size", &value);

	if (result == DOCA_SUCCESS)
		rdma->send_queue_size = value;
	return result;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_recv_queue_size(struct legacy_rdma *rdma, uint32_t size)
{
	uint32_t value;
	doca_error_t result = queue_size_set(rdma, size, "doca_rdma_set_recv_queue_size", &value);

	if (result == DOCA_SUCCESS)
		rdma->recv_queue_size = value;
	return result;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_transport_type(struct legacy_rdma *rdma, enum doca_rdma_transport_type transport_type)
{
	doca_error_t result = check_set(rdma, false, "doca_rdma_set_transport_type");

	if (result != DOCA_SUCCESS || transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC)
		return result;
	SF_LOG_ERR("doca_rdma_set_transport_type: DOCA 2.2 has only the transport type RC");
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_mtu(struct legacy_rdma *rdma, enum doca_mtu_size mtu)
{
	doca_error_t result = check_set(rdma, false, "doca_rdma_set_mtu");

	if (result == DOCA_SUCCESS && (mtu < DOCA_MTU_SIZE_256_BYTES || mtu > DOCA_MTU_SIZE_4K_BYTES))
		result = refuse_value("doca_rdma_set_mtu", (uint32_t)mtu, "use 256 to 4096 bytes (enum doca_mtu_size)");
	if (result == DOCA_SUCCESS)
		rdma->mtu = mtu;
	return result;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_permissions(struct legacy_rdma *rdma, uint32_t permissions)
{
	doca_error_t result = check_set(rdma, true, "doca_rdma_set_permissions");

	if (result == DOCA_SUCCESS && (permissions & ~(uint32_t)RDMA_FLAGS) != 0)
		result = refuse_value("doca_rdma_set_permissions", permissions,
				      "use DOCA_ACCESS_LOCAL_READ_WRITE and the DOCA_ACCESS_RDMA_ flags");
	if (result == DOCA_SUCCESS)
		rdma->permissions = permissions;
	return result;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_grh_enabled(struct legacy_rdma *rdma, bool grh_enabled)
{
	doca_error_t result = check_set(rdma, false, "doca_rdma_set_grh_enabled");

	if (result != DOCA_SUCCESS || grh_enabled)
		return result;
	SF_LOG_ERR("doca_rdma_set_grh_enabled: the ports are Ethernet, where the global routing header is always on");
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_gid_index(struct legacy_rdma *rdma, uint32_t gid_index)
{
	doca_error_t result = check_set(rdma, false, "doca_rdma_set_gid_index");

	if (result == DOCA_SUCCESS)
		rdma->gid_index = gid_index;
	return result;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_recv_buf_chain_len(struct legacy_rdma *rdma, uint32_t len)
{
	doca_error_t result = check_set(rdma, false, "doca_rdma_set_recv_buf_chain_len");

	if (result == DOCA_SUCCESS && len == 0)
		result = refuse_value("doca_rdma_set_recv_buf_chain_len", len, "use 1 or more");
	if (result == DOCA_SUCCESS)
		rdma->recv_list_len = len;
	return result;
}

LEGACY_API doca_error_t doca_2_2_rdma_set_sl(struct legacy_rdma *rdma, uint32_t sl)
{
	doca_error_t result = check_set(rdma, false, "doca_rdma_set_sl");

	if (result == DOCA_SUCCESS && sl > SL_MAX)
		result = refuse_value("doca_rdma_set_sl", sl, "use 0 to 15");
	if (result == DOCA_SUCCESS)
		rdma->sl = sl;
	return result;
}

/* The getters differ only in name, type and expression. */
#define GETTER(name, type, expression)                                                                                           \
	LEGACY_API doca_error_t doca_2_2_rdma_get_##name(const struct legacy_rdma *rdma, type *value)                            \
	{                                                                                                                        \
		doca_error_t result = legacy_check("doca_rdma_get_" #name, rdma, value);                                         \
                                                                                                                                 \
		if (result == DOCA_SUCCESS)                                                                                      \
			*value = (expression);                                                                                   \
		return result;                                                                                                   \
	}

GETTER(send_queue_size, uint32_t, rdma->send_queue_size)
GETTER(recv_queue_size, uint32_t, rdma->recv_queue_size)
GETTER(transport_type, enum doca_rdma_transport_type, DOCA_RDMA_TRANSPORT_TYPE_RC)
GETTER(mtu, enum doca_mtu_size, rdma->mtu)
GETTER(permissions, uint32_t, rdma->permissions)
GETTER(grh_enabled, bool, true)
GETTER(gid_index, uint32_t, rdma->gid_index)
GETTER(recv_buf_chain_len, uint32_t, rdma->recv_list_len)
GETTER(sl, uint32_t, rdma->sl)
GETTER(state, enum legacy_rdma_state, rdma->state)
