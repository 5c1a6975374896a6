/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/control/agent.h"

#define BACKLOG 1024
#define ALIVE_IDLE_S 1 /* a machine that says nothing is asked after this, */
#define ALIVE_TRIES 3  /* and dead after so many questions a second apart */
#define HOMES_MAX 64   /* devices, and one for all */

/* Where the agent listens for one device, or for all. */
struct home {
	bool opened;
	char device[64]; /* empty: for all */
	char address[SF_ADDRESS_MAX];
};

static struct home homes[HOMES_MAX + 1]; /* GUARDED_BY(sf_control_lock) */

/* ---- sockets ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t to_address(const struct sf_address *addr, uint32_t scope, union address *address)
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

void sf_net_tune(int fd)
{
	const int on = 1, idle = ALIVE_IDLE_S, tries = ALIVE_TRIES, unheard_ms = (ALIVE_IDLE_S + ALIVE_TRIES) * 1000;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, sizeof(unheard_ms));
}

int sf_net_connect(const struct sf_address *addr, uint32_t scope)
{
	union address address;
	socklen_t len = to_address(addr, scope, &address);
	int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -1;
	sf_net_tune(fd);
	if (connect(fd, &address.any, len) == 0 || errno == EINPROGRESS)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Port 0 is any; *addr gets the one that it became. -1, and errno. */
static int listen_at(struct sf_address *addr, uint32_t scope)
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

/* ---- what the user wants ---- */

enum wish { WISH_DEVICE, WISH_NONE, WISH_ADDRESS, WISH_NONSENSE };

/* HOST, HOST:PORT or "none"; an IPv6 host is in brackets. Port 0: any. */
static enum wish wish(struct sf_address *addr)
{
	const char *text = secure_getenv("SOFTFIELD_VERBS_LISTEN");
	char with_port[SF_ADDRESS_MAX];
	struct sf_addresses addresses;

	if (text == NULL || text[0] == '\0')
		return WISH_DEVICE;
	if (strcmp(text, "none") == 0)
		return WISH_NONE;
	if (strlen(text) > SF_ADDRESS_MAX / 2)
		return WISH_NONSENSE;
	(void)snprintf(with_port, sizeof(with_port), "%s:1", text);
	if (sf_addresses_parse(with_port, &addresses) && addresses.num == 1)
		addresses.at[0].port = 0;
	else if (!sf_addresses_parse(text, &addresses) || addresses.num != 1 || addresses.has_token)
		return WISH_NONSENSE;
	*addr = addresses.at[0];
	return WISH_ADDRESS;
}

doca_error_t sf_net_check(void)
{
	struct sf_address addr;

	if (wish(&addr) != WISH_NONSENSE)
		return DOCA_SUCCESS;
	SF_LOG_ERR("SOFTFIELD_VERBS_LISTEN is %s: it is to be an address of this machine, HOST or HOST:PORT in numbers, or none",
		   secure_getenv("SOFTFIELD_VERBS_LISTEN"));
	return DOCA_ERROR_BAD_CONFIG;
}

/* ---- listening ---- */

/* The addresses that are listened to, or to be. */
static enum wish addrs_wanted(const struct sf_net_device *device, struct sf_addresses *addresses)
{
	enum wish wanted = wish(&addresses->at[0]);

	addresses->num = wanted == WISH_ADDRESS;
	if (wanted == WISH_DEVICE)
		device->addresses(device->name, addresses);
	return wanted;
}

static bool serve_at(struct sf_address *addr, const struct sf_net_device *device, struct sf_control_listener *listener)
{
	int fd = listen_at(addr, device->scope);
	struct sf_conn *conn;

	if (fd < 0)
		return false;
	if (sf_conn_open(fd, NULL, &conn) != DOCA_SUCCESS) {
		close(fd);
		return false;
	}
	conn->is_stream = true;
	conn->called = listener;
	sf_conn_listen(conn);
	return true;
}

/* Keeps those of the addresses at which one can listen; errno is why another was left out, or 0. */
static int serve_all(struct sf_addresses *addresses, const struct sf_net_device *device, struct sf_control_listener *listener)
{
	uint32_t num = 0;
	int error = 0;

	for (uint32_t i = 0; i < addresses->num; i++) {
		struct sf_address addr = addresses->at[i];

		if (serve_at(&addr, device, listener))
			addresses->at[num++] = addr;
		else
			error = errno;
	}
	addresses->num = num;
	return error;
}

static struct home *home_of(const char *name)
{
	uint32_t i = 0;

	while (i < HOMES_MAX && homes[i].opened && strcmp(homes[i].device, name) != 0)
		i++;
	return &homes[i];
}

static doca_error_t home_open(struct home *home, const struct sf_net_device *device, struct sf_addresses *addresses,
			      enum wish wanted)
{
	int error = serve_all(addresses, device, NULL);

	if (addresses->num == 0 && wanted == WISH_ADDRESS) {
		SF_LOG_ERR("cannot listen on %s (SOFTFIELD_VERBS_LISTEN): %s", secure_getenv("SOFTFIELD_VERBS_LISTEN"),
			   strerror(error));
		return DOCA_ERROR_BAD_CONFIG;
	}
	if (addresses->num == 0)
		SF_LOG_WARN("RDMA device %s has no address on a network where this process could listen%s%s: only processes with "
			    "this "
			    "runtime folder can connect (give an address with SOFTFIELD_VERBS_LISTEN)",
			    device->name, error != 0 ? ", " : "", error != 0 ? strerror(error) : "");
	addresses->has_token = true;
	addresses->token = *sf_control_token();
	sf_addresses_format(addresses, home->address);
	(void)snprintf(home->device, sizeof(home->device), "%s", wanted == WISH_ADDRESS ? "" : device->name);
	home->opened = true;
	return DOCA_SUCCESS;
}

doca_error_t sf_net_address(const struct sf_net_device *device, char text[SF_ADDRESS_MAX])
{
	struct sf_addresses addresses = {0};
	enum wish wanted = wish(&addresses.at[0]);
	struct home *home = home_of(wanted == WISH_ADDRESS ? "" : device->name);
	doca_error_t error = DOCA_SUCCESS;

	memset(text, 0, SF_ADDRESS_MAX);
	if (wanted == WISH_NONE)
		return DOCA_SUCCESS;
	if (!home->opened) {
		wanted = addrs_wanted(device, &addresses);
		error = home_open(home, device, &addresses, wanted);
	}
	if (error == DOCA_SUCCESS)
		strcpy(text, home->address);
	return error;
}

doca_error_t sf_net_listen(const struct sf_net_device *device, uint16_t port, struct sf_control_listener *listener)
{
	struct sf_addresses addresses = {0};
	enum wish wanted = addrs_wanted(device, &addresses);
	int error;

	if (wanted == WISH_NONE) {
		SF_LOG_ERR("port %u of RDMA device %s cannot be listened to: SOFTFIELD_VERBS_LISTEN is none", port, device->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	for (uint32_t i = 0; i < addresses.num; i++)
		addresses.at[i].port = port;
	error = serve_all(&addresses, device, listener);
	if (error == EADDRINUSE || error == EACCES) {
		SF_LOG_ERR("port %u of RDMA device %s cannot be listened to: %s", port, device->name,
			   error == EACCES
				   ? "it is kept for the administrator: use one above 1023"
				   : "a program of this machine listens to that TCP port already; end it, or use another");
		sf_conns_forget(listener);
		return error == EACCES ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_ALREADY_EXIST;
	}
	if (addresses.num != 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("port %u of RDMA device %s cannot be listened to: it has no address on a network%s%s", port, device->name,
		   error != 0 ? ", " : "", error != 0 ? strerror(error) : "");
	return DOCA_ERROR_NOT_FOUND;
}

void sf_net_forget(void)
{
	memset(homes, 0, sizeof(homes));
}
