/* SPDX-License-Identifier: BSD-3-Clause */
/* The network interfaces of an RDMA device, and their addresses. */
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "fabric/verbs/device.h"

#define IFACES_MAX 16 /* network interfaces of a device */

struct ifaces {
	char names[IFACES_MAX][IF_NAMESIZE];
	uint32_t num;
};

static void iface_add(struct ifaces *ifaces, const char *name)
{
	for (uint32_t i = 0; i < ifaces->num; i++) {
		if (strcmp(ifaces->names[i], name) == 0)
			return;
	}
	if (name[0] != '\0' && strlen(name) < IF_NAMESIZE && ifaces->num < IFACES_MAX)
		strcpy(ifaces->names[ifaces->num++], name);
}

static void iface_of_gid(const char *device, const char *index, char name[IF_NAMESIZE])
{
	char path[192];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%.63s/ports/%d/gid_attrs/ndevs/%.16s", device, VB_PORT, index);
	name[0] = '\0';
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(name, IF_NAMESIZE, file) == NULL)
		name[0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

/* The interfaces of its GIDs, and those on the same card (IP over InfiniBand). */
static void ifaces_of(const char *device, struct ifaces *ifaces)
{
	static const char *const folders[] = {"/sys/class/infiniband/%.63s/ports/1/gid_attrs/ndevs",
					      "/sys/class/infiniband/%.63s/device/net"};

	ifaces->num = 0;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char path[160], name[IF_NAMESIZE];
		struct dirent *entry;
		DIR *dir;

		(void)snprintf(path, sizeof(path), folders[i], device); // NOLINT: both are ours
		dir = opendir(path);
		while (dir != NULL && (entry = readdir(dir)) != NULL) {
			if (entry->d_name[0] == '.')
				continue;
			if (i == 0)
				iface_of_gid(device, entry->d_name, name);
			else
				(void)snprintf(name, sizeof(name), "%.15s", entry->d_name);
			iface_add(ifaces, name);
		}
		if (dir != NULL)
			closedir(dir);
	}
}

uint32_t sf_verbs_device_scope(const char *device, int gid_index)
{
	char index[16], name[IF_NAMESIZE];

	(void)snprintf(index, sizeof(index), "%d", gid_index);
	iface_of_gid(device, index, name);
	return name[0] != '\0' ? if_nametoindex(name) : 0;
}

/* 0: IPv4; 1: IPv6; 2: of this connection only; 3: none */
static int address_rank(const struct sockaddr *addr)
{
	if (addr == NULL)
		return 3;
	if (addr->sa_family == AF_INET)
		return 0;
	if (addr->sa_family != AF_INET6)
		return 3;
	return IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr) ? 2 : 1;
}

static bool is_of(const struct ifaces *ifaces, const char *name)
{
	for (uint32_t i = 0; i < ifaces->num; i++) {
		if (strcmp(ifaces->names[i], name) == 0)
			return true;
	}
	return false;
}

void sf_verbs_device_addresses(const char *device, struct sf_addresses *addresses)
{
	struct ifaddrs *list;
	struct ifaces ifaces;

	addresses->num = 0;
	ifaces_of(device, &ifaces);
	if (getifaddrs(&list) != 0)
		return;
	for (int wanted = 0; wanted < 3; wanted++) {
		for (struct ifaddrs *one = list; one != NULL && addresses->num < SF_ADDRESSES_MAX; one = one->ifa_next) {
			struct sf_address *addr = &addresses->at[addresses->num];

			if (address_rank(one->ifa_addr) != wanted || !is_of(&ifaces, one->ifa_name))
				continue;
			*addr = (struct sf_address){.is_ipv6 = wanted != 0};
			if (addr->is_ipv6)
				memcpy(addr->bytes, &((struct sockaddr_in6 *)(void *)one->ifa_addr)->sin6_addr, 16);
			else
				memcpy(addr->bytes, &((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr, 4);
			addresses->num++;
		}
	}
	freeifaddrs(list);
}
