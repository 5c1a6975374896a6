/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom/net_devices.h"

#include <dirent.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "urom/comm/device_list.h"

#define NAME_MAX_BYTES 64

static void device_add(const char *name, char *out, size_t room)
{
	if (!device_list_add(out, room, name, strlen(name)))
		SF_LOG_WARN("urom: too many network devices: %s does not fit", name);
}

/* The interfaces of an RDMA device's function. */
static void add_interfaces(const char *device, const char *sys, char *out, size_t room)
{
	char path[512];

	if (snprintf(path, sizeof(path), "%s/class/infiniband/%s/device/net", sys, device) >= (int)sizeof(path))
		return;
	DIR *dir = opendir(path);
	if (dir == NULL)
		return;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] != '.')
			device_add(entry->d_name, out, room);
	}
	closedir(dir);
}

static void device_resolve(char *name, const char *sys, char *out, size_t room)
{
	char *colon = strchr(name, ':');

	if (colon == NULL || if_nametoindex(name) != 0) { /* an interface may have an alias, eth0:1 */
		device_add(name, out, room);
		return;
	}
	*colon = '\0';
	if (strchr(name, '/') == NULL && name[0] != '.' && name[0] != '\0')
		add_interfaces(name, sys, out, room);
}

void urom_net_devices_for_tcp(const char *list, const char *sys, char *out, size_t room)
{
	const char *rest = list, *at;

	out[0] = '\0';
	for (size_t len; (at = device_list_next(&rest, &len)) != NULL;) {
		char name[NAME_MAX_BYTES];

		if (len >= sizeof(name)) {
			SF_LOG_WARN("urom: %.32s... is not a network device", at);
		} else if (len != 0) {
			memcpy(name, at, len);
			name[len] = '\0';
			device_resolve(name, sys, out, room);
		}
	}
	if (out[0] != '\0')
		return;
	snprintf(out, room, "all");
	SF_LOG_INFO("urom: no network device %s of the service file supports TCP here: UCX chooses", list);
}
