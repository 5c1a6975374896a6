/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/real.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIDS_MAX 64 /* GIDs of a port that are read */
#define VHCA_ID_FIRST 0x8000

/* Reads the first line of a file of the device, without its newline; empty if there is none. */
static void read_attr(const char *root, const char *folder, const char *name, const char *file, char *line, size_t size)
{
	char path[PATH_MAX];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/sys/class/%s/%s/%s", root, folder, name, file);
	line[0] = '\0';
	stream = fopen(path, "re");
	if (!stream)
		return;
	if (fgets(line, (int)size, stream))
		line[strcspn(line, "\n")] = '\0';
	fclose(stream);
}

/* Returns whether this process may open the device's /dev/infiniband/uverbsN. */
static bool may_open(const char *root, const char *name)
{
	char path[PATH_MAX], ibdev[64];
	struct dirent *entry;
	bool may = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs", root);
	dir = opendir(path);
	while (dir && !may && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "uverbs", 6) != 0)
			continue;
		read_attr(root, "infiniband_verbs", entry->d_name, "ibdev", ibdev, sizeof(ibdev));
		snprintf(path, sizeof(path), "%s/dev/infiniband/%.64s", root, entry->d_name);
		may = !strcmp(ibdev, name) && access(path, R_OK | W_OK) == 0;
	}
	if (dir)
		closedir(dir);
	return may;
}

static bool is_usable(const char *root, const char *name)
{
	char state[32];

#ifdef SF_NO_IBVERBS
	return false; /* this build has no provider for it */
#endif
	read_attr(root, "infiniband", name, "ports/1/state", state, sizeof(state));
	return strstr(state, "ACTIVE") != NULL && may_open(root, name);
}

static bool parse_gid(const char *text, uint8_t gid[16])
{
	unsigned int group[8];

	if (sscanf(text, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &group[0], &group[1], &group[2], &group[3], &group[4], &group[5],
		   &group[6], &group[7]) != 8)
		return false;
	for (int i = 0; i < 8; i++) {
		gid[2 * i] = (uint8_t)(group[i] >> 8);
		gid[2 * i + 1] = (uint8_t)group[i];
	}
	return true;
}

/* The port's addresses are its GIDs: an IPv4 one is mapped into IPv6. */
static void read_addresses(const char *root, struct sf_device *device)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, none[16];
	char file[64], line[64];
	uint8_t gid[16];

	for (int i = 0; i < GIDS_MAX; i++) {
		snprintf(file, sizeof(file), "ports/1/gids/%d", i);
		read_attr(root, "infiniband", device->ibdev, file, line, sizeof(line));
		if (!parse_gid(line, gid))
			return;
		if (!memcmp(gid, mapped, sizeof(mapped)) && !device->has_ipv4) {
			memcpy(device->ipv4, gid + 12, 4);
			device->has_ipv4 = true;
		} else if (memcmp(gid, mapped, sizeof(mapped)) != 0 && !memcmp(device->ipv6, none, sizeof(none))) {
			memcpy(device->ipv6, gid, sizeof(gid));
		}
	}
}

static void read_interface(const char *root, struct sf_device *device)
{
	char path[PATH_MAX], target[PATH_MAX], line[64];

	read_attr(root, "infiniband", device->ibdev, "ports/1/gid_attrs/ndevs/0", device->iface, sizeof(device->iface));
	if (!device->iface[0])
		return;
	read_attr(root, "net", device->iface, "address", line, sizeof(line));
	(void)sscanf(line, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &device->mac[0], &device->mac[1], &device->mac[2], &device->mac[3],
		     &device->mac[4], &device->mac[5]);
	if (device->pci_addr[0])
		return;
	/* A device on top of a network interface (as of rdma_rxe) has the interface's PCI address. */
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", root, device->iface);
	if (!realpath(path, target))
		return;
	for (char *slash; !device->pci_addr[0] && (slash = strrchr(target, '/')) != NULL; *slash = '\0') {
		if (sf_pci_addr_normalise(slash + 1, device->pci_addr) != DOCA_SUCCESS)
			device->pci_addr[0] = '\0'; /* such as virtio0, whose parent has one */
	}
}

static uint64_t read_rate(const char *root, const char *name)
{
	char line[64];

	read_attr(root, "infiniband", name, "ports/1/rate", line, sizeof(line));
	return (uint64_t)(strtod(line, NULL) * 1e9);
}

static void device_describe(const char *root, const struct sf_real_device *real, const struct sf_node *node, uint32_t number,
			    struct sf_device *device)
{
	memset(device, 0, sizeof(*device));
	device->node = node;
	device->kind = SF_FUNCTION_PF;
	device->vhca_id = (uint16_t)(VHCA_ID_FIRST + number);
	device->rate_bps = read_rate(root, real->name);
	memcpy(device->pci_addr, real->pci_addr, sizeof(device->pci_addr));
	memcpy(device->ibdev, real->name, sizeof(device->ibdev));
	snprintf(device->key, sizeof(device->key), SF_KEY_REAL "%s", real->name);
	read_interface(root, device);
	read_addresses(root, device);
	snprintf(device->vuid, sizeof(device->vuid), "SFLDREAL%02x%02x%02x%02x%02x%02xS0D%" PRIu32 "F0", device->mac[0],
		 device->mac[1], device->mac[2], device->mac[3], device->mac[4], device->mac[5], number);
}

static const struct sf_node *node_of(const struct sf_topology *topology)
{
	if (topology->self)
		return topology->self;
	for (uint32_t i = 0; i < topology->num_nodes; i++) {
		if (!topology->nodes[i].address)
			return &topology->nodes[i];
	}
	return NULL;
}

/* Fixes the devices' pointers to each other after a move. */
static void addresses_shift(struct sf_topology *topology, struct sf_device *devices, uint32_t by)
{
	for (uint32_t i = 0; i < topology->num_devices; i++) {
		devices[by + i] = topology->devices[i];
		if (devices[by + i].uplink)
			devices[by + i].uplink = devices + by + (topology->devices[i].uplink - topology->devices);
		if (devices[by + i].parent)
			devices[by + i].parent = devices + by + (topology->devices[i].parent - topology->devices);
	}
}

doca_error_t sf_topology_add_real(struct sf_topology *topology, const char *root)
{
	struct sf_real_device *real = calloc(SF_REAL_DEVICES_MAX, sizeof(*real));
	const struct sf_node *node = node_of(topology);
	struct sf_device *devices;
	uint32_t num, usable = 0;

	if (!real)
		return DOCA_ERROR_NO_MEMORY;
	num = node ? sf_sysfs_rdma(root, real) : 0;
	for (uint32_t i = 0; i < num; i++) {
		if (is_usable(root, real[i].name))
			real[usable++] = real[i];
	}
	if (!usable) {
		free(real);
		return DOCA_SUCCESS;
	}
	devices = calloc(usable + topology->num_devices, sizeof(*devices));
	if (devices) {
		for (uint32_t i = 0; i < usable; i++)
			device_describe(root, &real[i], node, i, &devices[i]);
		addresses_shift(topology, devices, usable);
		free(topology->devices);
		topology->devices = devices;
		topology->num_devices += usable;
	}
	free(real);
	return devices ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}
