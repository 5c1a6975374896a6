/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/net.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/secret_file.h"
#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/control/heartbeat.h"
#include "fabric/control/nodes.h"

#define BACKLOG 1024
#define IDENTITY "softfield fabric" /* of the key */
#define ALIVE_TRIES 3		    /* keepalive probes to a silent machine */
#define RTO_MAX_MS 44		    /* TCP_RTO_MAX_MS, since Linux 6.15 */
#define RTO_MAX_MIN 1000	    /* its minimum, in milliseconds */
#define RTO_MAX_MAX 120000
#define HOMES_MAX 64 /* devices, and one for all */

/* The agent's listening sockets for one device, or for all. */
struct home {
	bool opened;
	char device[64]; /* empty: for all */
	char address[SF_ADDRESS_MAX];
};

static struct home homes[HOMES_MAX + 1] GUARDED_BY(sf_control_lock);

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
	const int timeout_ms = (int)sf_heartbeat_timeout_ms(), on = 1, idle = (timeout_ms + 999) / 1000, tries = ALIVE_TRIES;
	int again_ms = timeout_ms < RTO_MAX_MIN ? RTO_MAX_MIN : timeout_ms;

	if (again_ms > RTO_MAX_MAX)
		again_ms = RTO_MAX_MAX;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
	(void)setsockopt(fd, IPPROTO_TCP, RTO_MAX_MS, &again_ms, sizeof(again_ms));
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

/* Port 0 means any; *addr receives the actual one. Returns -1 with errno. */
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

/* Listens on the first free port of the range. */
static int listen_within(struct sf_address *addr, uint16_t last, uint32_t scope)
{
	int fd = listen_at(addr, scope);

	while (fd < 0 && errno == EADDRINUSE && addr->port < last) {
		addr->port++;
		fd = listen_at(addr, scope);
	}
	return fd;
}

/* ---- the key ---- */

static struct sf_tls_key net_key GUARDED_BY(sf_control_lock);
static bool has_key;
static bool is_bare; /* "tls": false */

void sf_net_set_key(const struct sf_tls_key *key)
{
	pthread_mutex_lock(&sf_control_lock);
	explicit_bzero(&net_key, sizeof(net_key));
	has_key = key != NULL;
	if (has_key)
		net_key = *key;
	pthread_mutex_unlock(&sf_control_lock);
}

void sf_net_use_tls(bool use)
{
	pthread_mutex_lock(&sf_control_lock);
	if (!use && !is_bare)
		SF_LOG_WARN("traffic between machines is neither encrypted nor signed (\"tls\": false in the topology): the "
			    "key guards "
			    "the beginning of a connection only; use this on a network whose every host you trust");
	is_bare = !use;
	pthread_mutex_unlock(&sf_control_lock);
}

doca_error_t sf_net_secure(struct sf_stream *stream, bool server)
{
	if (!has_key)
		return DOCA_SUCCESS;
	return is_bare ? sf_proof_begin(stream->fd, server, &net_key, &stream->proof)
		       : sf_tls_begin(stream->fd, server, net_key.bytes, IDENTITY, &stream->tls);
}

static bool digit_parse(char digit, uint8_t *value)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = digit != '\0' ? strchr(digits, tolower((unsigned char)digit)) : NULL;

	*value = at != NULL ? (uint8_t)(at - digits) : 0;
	return at != NULL;
}

static bool key_parse(const char *text, size_t len, struct sf_tls_key *key)
{
	uint8_t high, low;

	if (len != 2 * SF_TLS_KEY_SIZE)
		return false;
	for (size_t i = 0; i < SF_TLS_KEY_SIZE; i++) {
		if (!digit_parse(text[2 * i], &high) || !digit_parse(text[2 * i + 1], &low))
			return false;
		key->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

doca_error_t sf_net_read_key(const char *path)
{
	char text[2 * SF_TLS_KEY_SIZE + 2] = {0}; /* room for a newline and one excess character */
	struct sf_tls_key key = {{0}};
	size_t len = 0;
	doca_error_t error = sf_secret_file_read(AT_FDCWD, path, path, text, sizeof(text), &len);
	const bool good = error == DOCA_SUCCESS && key_parse(text, len, &key);

	if (good)
		sf_net_set_key(&key);
	else if (error == DOCA_ERROR_NOT_FOUND)
		SF_LOG_ERR("there is no key file %s: make it with (umask 077; openssl rand -hex 32 > %s), and copy it to every "
			   "machine",
			   path, path);
	else if (error == DOCA_SUCCESS || error == DOCA_ERROR_TOO_BIG)
		SF_LOG_ERR("the key file %s does not hold %d hexadecimal digits and nothing else: make it with openssl rand "
			   "-hex 32",
			   path, 2 * SF_TLS_KEY_SIZE);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(&key, sizeof(key));
	return good ? DOCA_SUCCESS : DOCA_ERROR_BAD_CONFIG;
}

/* ---- what the user wants ---- */

enum listen_setting { LISTEN_DEVICE, LISTEN_NONE, LISTEN_ADDRESS, LISTEN_INVALID };

/* HOST, HOST:PORT, HOST:PORT-PORT or "none"; an IPv6 host is in brackets. Port 0: any. */
static enum listen_setting listen_setting_parse(struct sf_address *addr, struct sf_port_range *ports)
{
	const char *text = secure_getenv("SOFTFIELD_LISTEN"), *range;
	char with_port[SF_ADDRESS_MAX];
	struct sf_addresses addresses;

	*ports = (struct sf_port_range){0};

	if (text == NULL || text[0] == '\0')
		return LISTEN_DEVICE;
	if (strcmp(text, "none") == 0)
		return LISTEN_NONE;
	if (strlen(text) > SF_ADDRESS_MAX / 2)
		return LISTEN_INVALID;
	range = strrchr(text, ':');
	if (range == NULL || !sf_port_range_parse(range + 1, ports))
		range = text + strlen(text);
	(void)snprintf(with_port, sizeof(with_port), "%.*s:1", (int)(range - text), text);
	if (!sf_addresses_parse(with_port, &addresses) || addresses.num != 1 || addresses.has_token)
		return LISTEN_INVALID;
	addresses.at[0].port = ports->first;
	*addr = addresses.at[0];
	return LISTEN_ADDRESS;
}

doca_error_t sf_net_check(void)
{
	struct sf_port_range ports;
	struct sf_address addr;

	if (listen_setting_parse(&addr, &ports) != LISTEN_INVALID)
		return sf_heartbeat_check();
	SF_LOG_ERR(
		"SOFTFIELD_LISTEN is %s: give an address of this machine, HOST, HOST:PORT or HOST:PORT-PORT in numbers, or none",
		secure_getenv("SOFTFIELD_LISTEN"));
	return DOCA_ERROR_BAD_CONFIG;
}

/* ---- listening ---- */

/* The addresses to listen on, each with the first of the ports. */
static enum listen_setting addrs_wanted(const struct sf_net_device *device, struct sf_addresses *addresses,
					struct sf_port_range *ports)
{
	enum listen_setting setting = listen_setting_parse(&addresses->at[0], ports);

	addresses->num = setting == LISTEN_ADDRESS;
	if (setting != LISTEN_DEVICE)
		return setting;
	*ports = sf_nodes_ports();
	device->addresses(device->name, addresses);
	for (uint32_t i = 0; i < addresses->num; i++)
		addresses->at[i].port = ports->first;
	return setting;
}

/* Listens on a port of the range. */
static bool serve_at(struct sf_address *addr, uint16_t last, uint32_t scope, enum sf_trust trust,
		     struct sf_control_listener *listener)
{
	int fd = listen_within(addr, last, scope);
	struct sf_channel *channel;

	if (fd < 0)
		return false;
	if (sf_channel_open(fd, NULL, &channel) != DOCA_SUCCESS) {
		close(fd);
		return false;
	}
	channel->is_stream = true;
	channel->called = listener;
	channel->trust = (uint8_t)trust;
	sf_channel_listen(channel);
	return true;
}

doca_error_t sf_net_serve_node(struct sf_addresses *addresses)
{
	for (uint32_t i = 0; i < addresses->num; i++) {
		struct sf_address addr = addresses->at[i];
		struct sf_addresses one = {.num = 1, .at = {addr}};
		char text[SF_ADDRESS_MAX];

		if (serve_at(&addr, addr.port, 0, SF_TRUST_REQUESTER, NULL))
			continue;
		sf_addresses_format(&one, text);
		SF_LOG_ERR("cannot listen at %s: %s; is it an address of this machine, and is the port free?", text,
			   strerror(errno));
		return DOCA_ERROR_BAD_CONFIG;
	}
	return DOCA_SUCCESS;
}

/* Keeps the addresses that it can listen on; errno says why another was dropped, or is 0. */
static int serve_all(struct sf_addresses *addresses, uint16_t last, const struct sf_net_device *device,
		     struct sf_control_listener *listener)
{
	uint32_t num = 0;
	int error = 0;

	for (uint32_t i = 0; i < addresses->num; i++) {
		struct sf_address addr = addresses->at[i];

		if (serve_at(&addr, last, device->scope, SF_TRUST_STRANGER, listener))
			addresses->at[num++] = addr;
		else
			error = errno;
	}
	addresses->num = num;
	return error;
}

static REQUIRES(sf_control_lock) struct home *home_of(const char *name)
{
	uint32_t i = 0;

	while (i < HOMES_MAX && homes[i].opened && strcmp(homes[i].device, name) != 0)
		i++;
	return &homes[i];
}

static doca_error_t home_open(struct home *home, const struct sf_net_device *device, struct sf_addresses *addresses,
			      const struct sf_port_range *ports, enum listen_setting setting)
{
	int error = serve_all(addresses, ports->last, device, NULL);

	if (addresses->num == 0 && error == EADDRINUSE && ports->first != 0) {
		SF_LOG_ERR("cannot listen: all ports from %u to %u are in use on this machine; each process needs one: end a "
			   "program, or "
			   "give more ports (%s)",
			   ports->first, ports->last,
			   setting == LISTEN_ADDRESS ? "SOFTFIELD_LISTEN" : "ports of the topology's node");
		return DOCA_ERROR_BAD_CONFIG;
	}
	if (addresses->num == 0 && setting == LISTEN_ADDRESS) {
		SF_LOG_ERR("cannot listen on %s (SOFTFIELD_LISTEN): %s", secure_getenv("SOFTFIELD_LISTEN"), strerror(error));
		return DOCA_ERROR_BAD_CONFIG;
	}
	if (addresses->num == 0)
		SF_LOG_WARN("device %s has no network address to listen on%s%s: only processes with "
			    "this "
			    "runtime folder can connect (give an address with SOFTFIELD_LISTEN)",
			    device->name, error != 0 ? ", " : "", error != 0 ? strerror(error) : "");
	addresses->has_token = true;
	addresses->token = *sf_control_token();
	sf_addresses_format(addresses, home->address);
	(void)snprintf(home->device, sizeof(home->device), "%s", setting == LISTEN_ADDRESS ? "" : device->name);
	home->opened = true;
	return DOCA_SUCCESS;
}

doca_error_t sf_net_address(const struct sf_net_device *device, char text[SF_ADDRESS_MAX])
{
	struct sf_addresses addresses = {0};
	struct sf_port_range ports;
	enum listen_setting setting = listen_setting_parse(&addresses.at[0], &ports);
	doca_error_t error = DOCA_SUCCESS;
	struct home *home;

	assert(sf_is_locked(&sf_control_lock));
	home = home_of(setting == LISTEN_ADDRESS ? "" : device->name);
	memset(text, 0, SF_ADDRESS_MAX);
	if (setting == LISTEN_NONE)
		return DOCA_SUCCESS;
	if (!home->opened) {
		setting = addrs_wanted(device, &addresses, &ports);
		error = home_open(home, device, &addresses, &ports, setting);
	}
	if (error == DOCA_SUCCESS)
		strcpy(text, home->address);
	return error;
}

doca_error_t sf_net_listen(const struct sf_net_device *device, uint16_t port, struct sf_control_listener *listener)
{
	struct sf_addresses addresses = {0};
	struct sf_port_range ports;
	enum listen_setting setting = addrs_wanted(device, &addresses, &ports);
	int error;

	if (setting == LISTEN_NONE) {
		SF_LOG_ERR("cannot listen to port %u of RDMA device %s: SOFTFIELD_LISTEN is none", port, device->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	for (uint32_t i = 0; i < addresses.num; i++)
		addresses.at[i].port = port;
	error = serve_all(&addresses, port, device, listener);
	if (error == EADDRINUSE || error == EACCES) {
		SF_LOG_ERR("cannot listen to port %u of RDMA device %s: %s", port, device->name,
			   error == EACCES ? "it is reserved for the administrator: use one above 1023"
					   : "a program of this machine uses that TCP port; end it, or use another port");
		sf_channels_forget(listener);
		return error == EACCES ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_ALREADY_EXIST;
	}
	if (addresses.num != 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("cannot listen to port %u of RDMA device %s: it has no address on a network%s%s", port, device->name,
		   error != 0 ? ", " : "", error != 0 ? strerror(error) : "");
	return DOCA_ERROR_NOT_FOUND;
}

void sf_net_forget(void)
{
	memset(homes, 0, sizeof(homes));
}
