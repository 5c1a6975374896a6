/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of a device. */
#include <string.h>

#include "base/log.h"
#include "base/profile.h"
#include "core/dev.h"
#include "rdma/addr.h"
#include "rdma/check.h"

static doca_error_t cap_answer(const struct doca_devinfo *devinfo, uint32_t *place, uint32_t value)
{
	if (devinfo == NULL || place == NULL)
		return rdma_check_given(NULL, devinfo == NULL ? "devinfo" : "the output argument");
	*place = value;
	return DOCA_SUCCESS;
}

static doca_error_t is_supported(const struct doca_devinfo *devinfo)
{
	return rdma_check_given(devinfo, "devinfo");
}

/* RoCE's table: the link-local address, then the mapped IPv4 address, each for both of its versions. */
uint32_t rdma_addr_device_gids(const struct sf_device *device, struct doca_rdma_gid gids[RDMA_GIDS_MAX])
{
	const uint8_t *mac = device->mac;
	uint8_t local[DOCA_GID_BYTE_LENGTH] = {0xfe,	   0x80,   0,	   0,	 0,    0,      0,      0,
					       mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
	const uint8_t mapped[DOCA_GID_BYTE_LENGTH] = {[10] = 0xff,     0xff,	       device->ipv4[0], device->ipv4[1],
						      device->ipv4[2], device->ipv4[3]};

	if (device->ipv6[0] != 0) /* a real device has its own; the topology would only generate one */
		memcpy(local, device->ipv6, sizeof(local));
	for (uint32_t i = 0; i < RDMA_GIDS_MAX; i++)
		memcpy(gids[i].raw, i < 2 ? local : mapped, DOCA_GID_BYTE_LENGTH);
	return device->has_ipv4 ? RDMA_GIDS_MAX : 2;
}

doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size)
{
	return cap_answer(devinfo, max_recv_queue_size, (uint32_t)sf_profile_limit(SF_PROFILE_RDMA_QUEUE_SIZE, RDMA_QUEUE_MAX));
}

doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size)
{
	return cap_answer(devinfo, max_send_queue_size, (uint32_t)sf_profile_limit(SF_PROFILE_RDMA_QUEUE_SIZE, RDMA_QUEUE_MAX));
}

doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_send_buf_list_len)
{
	return cap_answer(devinfo, max_send_buf_list_len, (uint32_t)sf_profile_limit(SF_PROFILE_RDMA_LIST_LEN, RDMA_LIST_MAX));
}

doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size)
{
	return cap_answer(devinfo, max_message_size, (uint32_t)sf_profile_limit(SF_PROFILE_RDMA_MSG_SIZE, RDMA_MESSAGE_MAX));
}

doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo, uint32_t *gid_table_size)
{
	struct doca_rdma_gid gids[RDMA_GIDS_MAX];

	return cap_answer(devinfo, gid_table_size, devinfo != NULL ? rdma_addr_device_gids(sf_devinfo_desc(devinfo), gids) : 0);
}

doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
				   struct doca_rdma_gid *gid_array)
{
	struct doca_rdma_gid gids[RDMA_GIDS_MAX];

	if (devinfo == NULL || gid_array == NULL)
		return rdma_check_given(NULL, devinfo == NULL ? "devinfo" : "gid_array");
	uint32_t num = rdma_addr_device_gids(sf_devinfo_desc(devinfo), gids);
	if (num_entries == 0 || start_index >= num || num_entries > num - start_index) {
		SF_LOG_ERR("rdma: %u GIDs from index %u requested, the device has %u", num_entries, start_index, num);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(gid_array, gids + start_index, num_entries * sizeof(*gid_array));
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
						       enum doca_rdma_transport_type transport_type)
{
	if (devinfo == NULL)
		return is_supported(NULL);
	return (unsigned int)transport_type <= DOCA_RDMA_TRANSPORT_TYPE_DC ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
								 enum doca_rdma_transport_type transport_type,
								 uint32_t *max_buf_list_len)
{
	if (devinfo != NULL && (unsigned int)transport_type > DOCA_RDMA_TRANSPORT_TYPE_DC) {
		SF_LOG_ERR("rdma: transport type %d is not RC or DC", (int)transport_type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return cap_answer(devinfo, max_buf_list_len, RDMA_RECV_LIST_MAX);
}

doca_error_t doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(const struct doca_devinfo *devinfo)
{
	return is_supported(devinfo);
}
