/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listener names of ports. A port of a software device is a name in the runtime folder, and the topology maps its addresses. A
 * real device has network addresses, and its ports are TCP ports.
 */
#include "rdma/cm_name.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "core/dev.h"
#include "rdma/addr.h"
#include "rdma/rdma.h"

#define FAR_NAME "rdma-cm"

bool rdma_cm_is_on_network(const struct doca_rdma *rdma)
{
	return (rdma->ep->ops->caps & SF_CAP_OTHER_MACHINE) != 0 &&
	       strncmp(sf_dev_desc(rdma->dev)->key, SF_KEY_REAL, strlen(SF_KEY_REAL)) == 0;
}

static void local_name(const struct sf_device *device, uint16_t port, char name[SF_NAME_MAX])
{
	snprintf(name, SF_NAME_MAX, FAR_NAME "/%s/%u", device->key, port);
}

uint32_t rdma_cm_listen_name(const struct doca_rdma *rdma, uint16_t port, char name[SF_NAME_MAX])
{
	if (!rdma_cm_is_on_network(rdma)) {
		local_name(sf_dev_desc(rdma->dev), port, name);
		return 0;
	}
	strcpy(name, FAR_NAME);
	return SF_LISTEN_AT(port);
}

/* A GID is an IPv6 address, or an IPv4 address in one. */
static void far_address(const struct doca_rdma_addr *addr, char address[SF_ADDRESS_MAX])
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	const bool is_ipv6 = addr->type != DOCA_RDMA_ADDR_TYPE_IPv4 && memcmp(addr->bytes, mapped, sizeof(mapped)) != 0;
	const uint8_t *bytes = addr->bytes;
	char host[INET6_ADDRSTRLEN];

	if (addr->type != DOCA_RDMA_ADDR_TYPE_IPv4 && !is_ipv6)
		bytes += sizeof(mapped);
	(void)inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes, host, sizeof(host));
	snprintf(address, SF_ADDRESS_MAX, is_ipv6 ? "[%s]:%u" : "%s:%u", host, addr->port);
}

doca_error_t rdma_cm_peer_name(const struct doca_rdma *rdma, const struct doca_rdma_addr *addr, char name[SF_NAME_MAX],
			       char address[SF_ADDRESS_MAX])
{
	const struct sf_device *device;

	address[0] = '\0';
	if (rdma_cm_is_on_network(rdma)) {
		strcpy(name, FAR_NAME);
		far_address(addr, address);
		return DOCA_SUCCESS;
	}
	device = rdma_addr_device(addr);
	if (device == NULL)
		return DOCA_ERROR_CONNECTION_ABORTED;
	local_name(device, addr->port, name);
	return DOCA_SUCCESS;
}
