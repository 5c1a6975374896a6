/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/addr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "rdma/check.h"

static const char *const type_names[] = {"IPv4 address", "IPv6 address", "GID"};

/* A scope ("%eth0") names the interface of a link-local address; here there is one network. */
static bool addr_parse(struct doca_rdma_addr *addr)
{
	char text[RDMA_ADDR_TEXT_MAX];

	snprintf(text, sizeof(text), "%s", addr->text);
	if (addr->type == DOCA_RDMA_ADDR_TYPE_IPv6)
		text[strcspn(text, "%")] = '\0';
	return inet_pton(addr->type == DOCA_RDMA_ADDR_TYPE_IPv4 ? AF_INET : AF_INET6, text, addr->bytes) == 1;
}

void rdma_addr_format(struct doca_rdma_addr *addr)
{
	const uint8_t *b = addr->bytes;

	if (addr->type != DOCA_RDMA_ADDR_TYPE_GID) {
		(void)inet_ntop(addr->type == DOCA_RDMA_ADDR_TYPE_IPv4 ? AF_INET : AF_INET6, b, addr->text, sizeof(addr->text));
		return;
	}
	char *at = addr->text;
	for (int i = 0; i < RDMA_ADDR_SIZE; i += 2)
		at += snprintf(at, 6, i == 0 ? "%02x%02x" : ":%02x%02x", b[i], b[i + 1]);
}

/* ---- devices ---- */

static bool has_gid(const struct sf_device *device, const uint8_t gid[RDMA_ADDR_SIZE])
{
	struct doca_rdma_gid gids[RDMA_GIDS_MAX];
	uint32_t num = rdma_addr_device_gids(device, gids);

	for (uint32_t i = 0; i < num; i++) {
		if (memcmp(gids[i].raw, gid, RDMA_ADDR_SIZE) == 0)
			return true;
	}
	return false;
}

static bool has_addr(const struct sf_device *device, const struct doca_rdma_addr *addr)
{
	switch (addr->type) {
	case DOCA_RDMA_ADDR_TYPE_IPv4:
		return device->has_ipv4 && memcmp(device->ipv4, addr->bytes, sizeof(device->ipv4)) == 0;
	case DOCA_RDMA_ADDR_TYPE_IPv6:
		/* GIDs are IPv6 addresses too: link-local ones, and IPv4-mapped ones. */
		return memcmp(device->ipv6, addr->bytes, sizeof(device->ipv6)) == 0 || has_gid(device, addr->bytes);
	case DOCA_RDMA_ADDR_TYPE_GID:
		return has_gid(device, addr->bytes);
	}
	return false;
}

const struct sf_device *rdma_addr_device(const struct doca_rdma_addr *addr)
{
	const struct sf_topology *topology;

	if (sf_topology_get(&topology) != DOCA_SUCCESS)
		return NULL;
	for (uint32_t i = 0; i < topology->num_devices; i++) {
		if (has_addr(&topology->devices[i], addr))
			return &topology->devices[i];
	}
	SF_LOG_ERR("rdma: no device has the %s %s: `softfield devices --json` lists them", type_names[addr->type], addr->text);
	return NULL;
}

void rdma_addr_of_device(const struct sf_device *device, enum doca_rdma_addr_type type, uint32_t gid_index,
			 struct doca_rdma_addr *addr)
{
	struct doca_rdma_gid gids[RDMA_GIDS_MAX];

	memset(addr, 0, sizeof(*addr));
	addr->type = type == DOCA_RDMA_ADDR_TYPE_IPv4 && !device->has_ipv4 ? DOCA_RDMA_ADDR_TYPE_IPv6 : type;
	if (addr->type == DOCA_RDMA_ADDR_TYPE_IPv4) {
		memcpy(addr->bytes, device->ipv4, sizeof(device->ipv4));
	} else if (addr->type == DOCA_RDMA_ADDR_TYPE_IPv6) {
		memcpy(addr->bytes, device->ipv6, sizeof(device->ipv6));
	} else {
		uint32_t num = rdma_addr_device_gids(device, gids);

		memcpy(addr->bytes, gids[gid_index < num ? gid_index : 0].raw, RDMA_ADDR_SIZE);
	}
	rdma_addr_format(addr);
}

/* ---- public ---- */

doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address, uint16_t port,
				   struct doca_rdma_addr **addr)
{
	if (address == NULL || addr == NULL)
		return rdma_check_given(NULL, address == NULL ? "address" : "addr");
	if ((unsigned int)addr_type > DOCA_RDMA_ADDR_TYPE_GID) {
		SF_LOG_ERR("rdma: address type %d is not IPv4, IPv6 or GID", (int)addr_type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (port == 0) {
		SF_LOG_ERR("rdma: port is 0: give the port that the peer listens to");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_rdma_addr *created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for an RDMA address");
		return DOCA_ERROR_NO_MEMORY;
	}
	created->type = addr_type;
	created->port = port;
	int len = snprintf(created->text, sizeof(created->text), "%s", address);
	if (len >= (int)sizeof(created->text) || !addr_parse(created)) {
		SF_LOG_ERR("rdma: \"%s\" is not an %s", created->text, type_names[addr_type]);
		free(created);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*addr = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr)
{
	if (addr == NULL)
		return rdma_check_given(NULL, "addr");
	if (addr->embedded) {
		SF_LOG_ERR("rdma: the address %s belongs to a connection, which destroys it", addr->text);
		return DOCA_ERROR_BAD_STATE;
	}
	free(addr);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr, enum doca_rdma_addr_type *addr_type, const char **address,
				       uint16_t *port)
{
	if (addr == NULL || addr_type == NULL || address == NULL || port == NULL)
		return rdma_check_given(NULL, addr == NULL ? "addr" : "addr_type, address or port");
	*addr_type = addr->type;
	*address = addr->text;
	*port = addr->port;
	return DOCA_SUCCESS;
}
