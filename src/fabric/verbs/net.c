/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/net.h"

#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/verbs/agent.h"
#include "fabric/verbs/device.h"

#define BACKLOG 1024
#define ALIVE_IDLE_S 1 /* a machine that says nothing is asked after this, */
#define ALIVE_TRIES 3  /* and dead after so many questions a second apart */
#define IFACES_MAX 16  /* network interfaces of a device */

/* Where the agent listens for one device, or for all. */
struct home {
	bool opened;
	char device[64]; /* empty: for all */
	char reach[SF_REACH_MAX];
};

static struct home homes[VB_DEVICES_MAX + 1];

/* ---- sockets ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t to_address(const struct vb_addr *addr, uint32_t scope, union address *address)
{
	memset(address, 0, sizeof(*address));
	if (!addr->is_ipv6) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons(addr->port);
		memcpy(&address->v4.sin_addr, addr->bytes, sizeof(address->v4.sin_addr));
		return sizeof(address->v4);
	}
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = htons(addr->port);
	memcpy(&address->v6.sin6_addr, addr->bytes, sizeof(address->v6.sin6_addr));
	if (IN6_IS_ADDR_LINKLOCAL(&address->v6.sin6_addr))
		address->v6.sin6_scope_id = scope;
	return sizeof(address->v6);
}

bool sf_verbs_net_tune(int fd)
{
	const int on = 1, idle = ALIVE_IDLE_S, tries = ALIVE_TRIES, unheard_ms = (ALIVE_IDLE_S + ALIVE_TRIES) * 1000;
	int family = AF_UNIX;
	socklen_t len = sizeof(family);

	(void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len);
	if (family == AF_UNIX)
		return false;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, sizeof(unheard_ms));
	return true;
}

int sf_verbs_net_connect(const struct vb_addr *addr, uint32_t scope)
{
	union address address;
	socklen_t len = to_address(addr, scope, &address);
	int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -1;
	(void)sf_verbs_net_tune(fd);
	if (connect(fd, &address.any, len) == 0 || errno == EINPROGRESS)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Port 0 is any; *addr gets the one that it became. -1, and errno. */
static int listen_at(struct vb_addr *addr, uint32_t scope)
{
	union address address;
	socklen_t len = to_address(addr, scope, &address);
	const int on = 1;
	int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -1;
	if (addr->is_ipv6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 && bind(fd, &address.any, len) == 0 &&
	    listen(fd, BACKLOG) == 0 && getsockname(fd, &address.any, &len) == 0) {
		addr->port = ntohs(addr->is_ipv6 ? address.v6.sin6_port : address.v4.sin_port);
		return fd;
	}
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* ---- the addresses of a device ---- */

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

/* Those that its GIDs are of, and those on the same card (IP over InfiniBand). */
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

uint32_t sf_verbs_net_scope(const char *device, int gid_index)
{
	char index[16], name[IF_NAMESIZE];

	(void)snprintf(index, sizeof(index), "%d", gid_index);
	iface_of_gid(device, index, name);
	return name[0] != '\0' ? if_nametoindex(name) : 0;
}

/* 0: IPv4; 1: IPv6; 2: of this link only; 3: none */
static int rank(const struct sockaddr *addr)
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

static void addrs_of(const char *device, struct vb_reach *reach)
{
	struct ifaddrs *list;
	struct ifaces ifaces;

	reach->num = 0;
	ifaces_of(device, &ifaces);
	if (getifaddrs(&list) != 0)
		return;
	for (int wanted = 0; wanted < 3; wanted++) {
		for (struct ifaddrs *one = list; one != NULL && reach->num < VB_ADDRS_MAX; one = one->ifa_next) {
			struct vb_addr *addr = &reach->at[reach->num];

			if (rank(one->ifa_addr) != wanted || !is_of(&ifaces, one->ifa_name))
				continue;
			*addr = (struct vb_addr){.is_ipv6 = wanted != 0};
			if (addr->is_ipv6)
				memcpy(addr->bytes, &((struct sockaddr_in6 *)(void *)one->ifa_addr)->sin6_addr, 16);
			else
				memcpy(addr->bytes, &((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr, 4);
			reach->num++;
		}
	}
	freeifaddrs(list);
}

/* ---- what the user wants ---- */

enum wish { WISH_DEVICE, WISH_NONE, WISH_ADDRESS, WISH_NONSENSE };

/* HOST, HOST:PORT or "none"; an IPv6 host is in brackets. Port 0: any. */
static enum wish wish(struct vb_addr *addr)
{
	const char *text = secure_getenv("SOFTFIELD_VERBS_LISTEN");
	char with_port[SF_REACH_MAX];
	struct vb_reach reach;

	if (text == NULL || text[0] == '\0')
		return WISH_DEVICE;
	if (strcmp(text, "none") == 0)
		return WISH_NONE;
	if (strlen(text) > SF_REACH_MAX / 2)
		return WISH_NONSENSE;
	(void)snprintf(with_port, sizeof(with_port), "%s:1", text);
	if (sf_verbs_reach_parse(with_port, &reach) && reach.num == 1)
		reach.at[0].port = 0;
	else if (!sf_verbs_reach_parse(text, &reach) || reach.num != 1 || reach.has_token)
		return WISH_NONSENSE;
	*addr = reach.at[0];
	return WISH_ADDRESS;
}

doca_error_t sf_verbs_net_check(void)
{
	struct vb_addr addr;

	if (wish(&addr) != WISH_NONSENSE)
		return DOCA_SUCCESS;
	SF_LOG_ERR("SOFTFIELD_VERBS_LISTEN is %s: it is to be an address of this machine, HOST or HOST:PORT in numbers, or none",
		   secure_getenv("SOFTFIELD_VERBS_LISTEN"));
	return DOCA_ERROR_BAD_CONFIG;
}

/* ---- listening ---- */

/* The addresses that are listened to, or to be. */
static enum wish addrs_wanted(const struct vb_domain *domain, struct vb_reach *reach)
{
	enum wish wanted = wish(&reach->at[0]);

	reach->num = wanted == WISH_ADDRESS;
	if (wanted == WISH_DEVICE)
		addrs_of(domain->device->name, reach);
	return wanted;
}

static bool serve_at(struct vb_addr *addr, const struct vb_domain *domain, struct vb_listener *listener)
{
	int fd = listen_at(addr, domain->scope);
	struct vb_conn *conn = fd >= 0 ? sf_verbs_conn_open(fd, NULL) : NULL;

	if (conn == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	conn->called = listener;
	sf_verbs_conn_listen(conn);
	return true;
}

/* Keeps those of the addresses at which one can listen; errno is why another was left out, or 0. */
static int serve_all(struct vb_reach *reach, const struct vb_domain *domain, struct vb_listener *listener)
{
	uint32_t num = 0;
	int error = 0;

	for (uint32_t i = 0; i < reach->num; i++) {
		struct vb_addr addr = reach->at[i];

		if (serve_at(&addr, domain, listener))
			reach->at[num++] = addr;
		else
			error = errno;
	}
	reach->num = num;
	return error;
}

static struct home *home_of(const char *device)
{
	uint32_t i = 0;

	while (i < VB_DEVICES_MAX && homes[i].opened && strcmp(homes[i].device, device) != 0)
		i++;
	return &homes[i];
}

static doca_error_t home_open(struct home *home, const struct vb_domain *domain, struct vb_reach *reach, enum wish wanted)
{
	int error = serve_all(reach, domain, NULL);

	if (reach->num == 0 && wanted == WISH_ADDRESS) {
		SF_LOG_ERR("cannot listen on %s (SOFTFIELD_VERBS_LISTEN): %s", secure_getenv("SOFTFIELD_VERBS_LISTEN"), strerror(error));
		return DOCA_ERROR_BAD_CONFIG;
	}
	if (reach->num == 0)
		SF_LOG_WARN("RDMA device %s has no address on a network where this process could listen%s%s: only processes with this "
			    "runtime folder can connect (give an address with SOFTFIELD_VERBS_LISTEN)",
			    domain->device->name, error != 0 ? ", " : "", error != 0 ? strerror(error) : "");
	reach->has_token = true;
	reach->token = *sf_verbs_agent_token();
	sf_verbs_reach_format(reach, home->reach);
	(void)snprintf(home->device, sizeof(home->device), "%s", wanted == WISH_ADDRESS ? "" : domain->device->name);
	home->opened = true;
	return DOCA_SUCCESS;
}

doca_error_t sf_verbs_net_reach(const struct vb_domain *domain, char text[SF_REACH_MAX])
{
	struct vb_reach reach = {0};
	enum wish wanted = wish(&reach.at[0]);
	struct home *home = home_of(wanted == WISH_ADDRESS ? "" : domain->device->name);
	doca_error_t error = DOCA_SUCCESS;

	memset(text, 0, SF_REACH_MAX);
	if (wanted == WISH_NONE)
		return DOCA_SUCCESS;
	if (!home->opened) {
		wanted = addrs_wanted(domain, &reach);
		error = home_open(home, domain, &reach, wanted);
	}
	if (error == DOCA_SUCCESS)
		strcpy(text, home->reach);
	return error;
}

doca_error_t sf_verbs_net_listen(const struct vb_domain *domain, uint16_t port, struct vb_listener *listener)
{
	struct vb_reach reach = {0};
	enum wish wanted = addrs_wanted(domain, &reach);
	int error;

	if (wanted == WISH_NONE) {
		SF_LOG_ERR("port %u of RDMA device %s cannot be listened to: SOFTFIELD_VERBS_LISTEN is none", port, domain->device->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	for (uint32_t i = 0; i < reach.num; i++)
		reach.at[i].port = port;
	error = serve_all(&reach, domain, listener);
	if (error == EADDRINUSE || error == EACCES) {
		SF_LOG_ERR("port %u of RDMA device %s cannot be listened to: %s", port, domain->device->name,
			   error == EACCES ? "it is kept for the administrator: use one above 1023"
					   : "a program of this machine listens to that TCP port already; end it, or use another");
		sf_verbs_conns_forget(listener);
		return error == EACCES ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_ALREADY_EXIST;
	}
	if (reach.num != 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("port %u of RDMA device %s cannot be listened to: it has no address on a network%s%s", port, domain->device->name,
		   error != 0 ? ", " : "", error != 0 ? strerror(error) : "");
	return DOCA_ERROR_NOT_FOUND;
}

void sf_verbs_net_forget(void)
{
	memset(homes, 0, sizeof(homes));
}
