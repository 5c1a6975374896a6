/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks of plugins. A plugin opens UCX by itself, in its worker; the environment set here fits the service: without a
 * secret file no transport that listens, else the network device of the service's address. Variables of UCX that the user
 * sets take precedence.
 */
#include "networks.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon.h"
#include "urom/comm/device_list.h"
#include "urom/net_devices.h"

#define PORTS "20000-28191" /* of UCX's TCP, for firewall rules: docs/urom_service.md */
#define PATH_OF_DEVICE 512

/* Adds the RDMA devices of a network interface: without them UCX would use only TCP. */
static void add_rdma_devices(const char *interface, size_t len, char *names, size_t room)
{
	char path[PATH_OF_DEVICE];
	DIR *dir = opendir("/sys/class/infiniband");
	struct stat st;

	for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%.64s/device/net/%.*s", entry->d_name, (int)len, interface);
		if (entry->d_name[0] == '.' || stat(path, &st) != 0)
			continue;
		snprintf(path, sizeof(path), "%.64s:1", entry->d_name);
		(void)device_list_add(names, room, path, strlen(path));
	}
	if (dir != NULL)
		closedir(dir);
}

static void choose_devices(const struct sockaddr *address)
{
	char interfaces[SF_COMM_DEVICES_MAX], names[2 * SF_COMM_DEVICES_MAX];
	const char *rest = sf_comm_devices_of(address, interfaces, sizeof(interfaces)), *name;
	size_t len;

	if (rest == NULL)
		return;
	snprintf(names, sizeof(names), "%s", interfaces);
	while ((name = device_list_next(&rest, &len)) != NULL)
		add_rdma_devices(name, len, names, sizeof(names));
	(void)setenv("UCX_NET_DEVICES", names, 0);
}

static void keep_devices(struct daemon *daemon)
{
	const char *named = secure_getenv("UCX_NET_DEVICES");

	if (named != NULL && named[0] != '\0' && strlen(named) < sizeof(daemon->devices))
		urom_net_devices_for_tcp(named, "/sys", daemon->devices, sizeof(daemon->devices));
}

/* System V shared memory is excluded: other users of the group could attach to it. */
void networks_prepare(struct daemon *daemon)
{
	struct sockaddr_storage address;
	socklen_t len;

	/* Otherwise UCX waits on the socket of its shared memory, and an empty datagram of any user makes it abort. */
	(void)setenv("UCX_ADAPTIVE_PROGRESS", "n", 0);
	/* A blocking connect() would hold up the worker. UCX 1.13 also calls connect() again for a process that has ended. If
	 * that call fails immediately, UCX handles the error twice, and an assertion may end the worker. */
	(void)setenv("UCX_TCP_CONN_NB", "y", 0);
	if (daemon->local) {
		(void)setenv("UCX_TLS", "posix,cma,self", 0);
		(void)setenv("UCX_MM_ERROR_HANDLING", "y", 0);
		(void)setenv("UCX_KEEPALIVE_INTERVAL", "200ms", 0);
		return;
	}
	if (networks_listen_address(daemon, &address, &len) != DOCA_SUCCESS)
		return;
	keep_devices(daemon);
	(void)setenv("UCX_TLS", "^sysv", 0);
	(void)setenv("UCX_TCP_PORT_RANGE", PORTS, 0);
	if (address.ss_family == AF_INET6) /* with addresses of both families, UCX 1.13 writes out of bounds */
		(void)setenv("UCX_TCP_AF_PRIO", "inet6,inet", 0);
	choose_devices((const struct sockaddr *)&address);
}

doca_error_t networks_listen_address(const struct daemon *daemon, struct sockaddr_storage *address, socklen_t *len)
{
	const in_port_t port = htons((uint16_t)daemon->config.port);
	struct sockaddr_in *in = (struct sockaddr_in *)address;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, daemon->config.bind, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = port;
		*len = sizeof(*in);
		return DOCA_SUCCESS;
	}
	if (inet_pton(AF_INET6, daemon->config.bind, &in6->sin6_addr) != 1)
		return DOCA_ERROR_INVALID_VALUE;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = port;
	*len = sizeof(*in6);
	return DOCA_SUCCESS;
}
