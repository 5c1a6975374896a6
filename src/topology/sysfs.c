/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/sysfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VENDOR_NVIDIA 0x10de
#define CLASS_DISPLAY 0x03 /* the base class of a display or 3D controller */

typedef bool (*probe_fn)(const char *root, const char *name, struct sf_real_device *device);

static int skip_dots(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Calls probe for each name in a folder. */
static uint32_t folder_scan(const char *root, const char *folder, probe_fn probe, struct sf_real_device *out)
{
	char path[PATH_MAX];
	struct dirent **entries;
	uint32_t found = 0;

	snprintf(path, sizeof(path), "%s%s", root, folder);
	int count = scandir(path, &entries, skip_dots, alphasort);

	for (int i = 0; i < count; i++) {
		if (found < SF_REAL_DEVICES_MAX && probe(root, entries[i]->d_name, &out[found]))
			found++;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return found;
}

/* Reads the first line of a file, without its newline; empty if it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return;
	if (fgets(line, (int)size, file))
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static unsigned long read_hex(const char *root, const char *pci_addr, const char *file)
{
	char path[PATH_MAX], line[32];

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/%s", root, pci_addr, file);
	read_line(path, line, sizeof(line));
	return strtoul(line, NULL, 16);
}

/* Reads the model from the NVIDIA driver, if it is loaded. */
static bool read_model(const char *root, const char *pci_addr, char *name, size_t size)
{
	char path[PATH_MAX], line[128];

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus/%s/information", root, pci_addr);
	read_line(path, line, sizeof(line));
	if (strncmp(line, "Model:", 6))
		return false;
	snprintf(name, size, "%s", line + 6 + strspn(line + 6, " \t"));
	return true;
}

static bool probe_gpu(const char *root, const char *pci_addr, struct sf_real_device *gpu)
{
	if (sf_pci_addr_normalise(pci_addr, gpu->pci_addr) != DOCA_SUCCESS ||
	    read_hex(root, pci_addr, "vendor") != VENDOR_NVIDIA || read_hex(root, pci_addr, "class") >> 16 != CLASS_DISPLAY)
		return false;
	if (!read_model(root, pci_addr, gpu->name, sizeof(gpu->name)))
		snprintf(gpu->name, sizeof(gpu->name), "NVIDIA device %04lx", read_hex(root, pci_addr, "device"));
	return true;
}

static bool probe_rdma(const char *root, const char *name, struct sf_real_device *device)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(device->name, sizeof(device->name), "%s", name);
	device->pci_addr[0] = '\0';
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device", root, name);

	ssize_t len = readlink(path, target, sizeof(target) - 1);
	const char *slash = len > 0 ? memrchr(target, '/', (size_t)len) : NULL;

	if (slash) {
		target[len] = '\0';
		if (sf_pci_addr_normalise(slash + 1, device->pci_addr) != DOCA_SUCCESS)
			device->pci_addr[0] = '\0'; /* on another bus */
	}
	return true;
}

uint32_t sf_sysfs_gpus(const char *root, struct sf_real_device out[SF_REAL_DEVICES_MAX])
{
	return folder_scan(root, "/sys/bus/pci/devices", probe_gpu, out);
}

uint32_t sf_sysfs_rdma(const char *root, struct sf_real_device out[SF_REAL_DEVICES_MAX])
{
	return folder_scan(root, "/sys/class/infiniband", probe_rdma, out);
}
