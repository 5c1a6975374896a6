/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of Comch. */
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "base/log.h"
#include "base/profile.h"
#include "comch/limits.h"
#include "core/dev.h"
#include "fabric/fabric.h"

static doca_error_t cap_answer(const struct doca_devinfo *devinfo, uint32_t value, uint32_t *out)
{
	if (devinfo == NULL || out == NULL) {
		SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "the output argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*out = value;
	return DOCA_SUCCESS;
}

/* Logs nothing if it is not: programs ask one device after the other. */
static doca_error_t is_on(const struct doca_devinfo *devinfo, enum sf_node_kind kind)
{
	if (devinfo == NULL) {
		SF_LOG_ERR("devinfo is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_devinfo_desc(devinfo)->node->kind == kind ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

/* Every device of the topology is a host's or a DPU's, and carries one side's data path. */
static doca_error_t has_data_path(const struct doca_devinfo *devinfo)
{
	if (devinfo == NULL) {
		SF_LOG_ERR("devinfo is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static uint32_t list_max(const struct doca_devinfo *devinfo, bool receive)
{
	const struct sf_fabric_ops *fabric = devinfo == NULL ? NULL : sf_fabric_of(sf_devinfo_desc(devinfo)->key);
	uint32_t max = fabric == NULL ? 1 : receive ? fabric->recv_iov_max : fabric->iov_max;

	return max < COMCH_LIST_MAX ? max : COMCH_LIST_MAX;
}

/* A server serves a representor of its device, and only a DPU's ports have any. */
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
	doca_error_t result = is_on(devinfo, SF_NODE_DPU);

	return result == DOCA_SUCCESS && !sf_device_is_port(sf_devinfo_desc(devinfo)) ? DOCA_ERROR_NOT_SUPPORTED : result;
}

doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
	return is_on(devinfo, SF_NODE_HOST);
}

doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len)
{
	return cap_answer(devinfo, COMCH_NAME_MAX, max_name_len);
}

doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
	return cap_answer(devinfo, (uint32_t)sf_profile_limit(SF_PROFILE_COMCH_MSG_SIZE, COMCH_MSG_SIZE_MAX), size);
}

doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
	return cap_answer(devinfo, COMCH_RECV_QUEUE_MAX, size);
}

doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients)
{
	return cap_answer(devinfo, (uint32_t)sf_profile_limit(SF_PROFILE_COMCH_CLIENTS, COMCH_CLIENTS_MAX), num_clients);
}

doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, uint32_t *max_send_tasks)
{
	return cap_answer(devinfo, COMCH_SEND_TASKS_MAX, max_send_tasks);
}

doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return has_data_path(devinfo);
}

doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks)
{
	return cap_answer(devinfo, COMCH_DATA_TASKS_MAX, max_num_tasks);
}

doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size)
{
	return cap_answer(devinfo, (uint32_t)sf_profile_limit(SF_PROFILE_COMCH_BUF_SIZE, COMCH_BUF_SIZE_MAX), max_buf_size);
}

doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
{
	return cap_answer(devinfo, list_max(devinfo, false), max_buf_list_len);
}

doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo, uint32_t *max_producers)
{
	return cap_answer(devinfo, COMCH_PRODUCERS_MAX, max_producers);
}

doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return has_data_path(devinfo);
}

doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks)
{
	return cap_answer(devinfo, COMCH_DATA_TASKS_MAX, max_num_tasks);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size)
{
	return cap_answer(devinfo, (uint32_t)sf_profile_limit(SF_PROFILE_COMCH_BUF_SIZE, COMCH_BUF_SIZE_MAX), max_buf_size);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
{
	return cap_answer(devinfo, list_max(devinfo, true), max_buf_list_len);
}

doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo, uint32_t *max_consumers)
{
	return cap_answer(devinfo, COMCH_CONSUMERS_MAX, max_consumers);
}

doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo, uint32_t *max_imm_data_len)
{
	return cap_answer(devinfo, COMCH_IMM_MAX, max_imm_data_len);
}
