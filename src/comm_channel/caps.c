/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm_channel/ep.h"

doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len)
{
	doca_error_t result = comm_channel_ep_check(__func__, max_service_name_len, max_service_name_len);

	if (result == DOCA_SUCCESS)
		*max_service_name_len = NAME_MAX_LEN;
	return result;
}

static doca_error_t cap_answer(const struct doca_devinfo *devinfo, uint32_t *place, uint32_t value, const char *function)
{
	doca_error_t result = comm_channel_ep_check(function, devinfo, place);

	if (result == DOCA_SUCCESS)
		*place = value;
	return result;
}

doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo, uint32_t *max_message_size)
{
	return cap_answer(devinfo, max_message_size, MSG_SIZE_DEFAULT, __func__);
}

doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo, uint32_t *max_send_queue_size)
{
	return cap_answer(devinfo, max_send_queue_size, SEND_QUEUE_MAX, __func__);
}

doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size)
{
	return cap_answer(devinfo, max_recv_queue_size, RECV_QUEUE_MAX, __func__);
}

doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo, uint32_t *max_num_connections)
{
	doca_error_t result = comm_channel_ep_check(__func__, devinfo, max_num_connections);

	if (result == DOCA_SUCCESS && doca_comch_cap_server_is_supported(devinfo) != DOCA_SUCCESS)
		result = DOCA_ERROR_NOT_SUPPORTED; /* silent: a program asks one device after the other */
	return result == DOCA_SUCCESS ? doca_comch_cap_get_max_clients(devinfo, max_num_connections) : result;
}
