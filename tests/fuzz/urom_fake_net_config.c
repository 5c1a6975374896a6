/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of UCX that need no network: configurations, events and addresses. */
#include <string.h>

#include "urom_fake_net.h"

ucs_status_t ucp_config_read(const char *env_prefix, const char *filename, ucp_config_t **config)
{
	*config = NULL;
	return UCS_OK;
}

ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name, const char *value)
{
	return UCS_OK;
}
void ucp_config_release(ucp_config_t *config) {}

ucs_status_t ucp_worker_arm(ucp_worker_h worker)
{
	return UCS_ERR_BUSY;
}
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd)
{
	return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ucp_worker_address_query(ucp_address_t *address, ucp_worker_address_attr_t *attr)
{
	const uint8_t *bytes = (const uint8_t *)address;

	if (bytes[sizeof(attr->worker_uid)] != FAKE_NET_ADDRESS_MARK)
		return UCS_ERR_INVALID_ADDR;
	memcpy(&attr->worker_uid, bytes, sizeof(attr->worker_uid));
	return UCS_OK;
}
