/* SPDX-License-Identifier: BSD-3-Clause */
/* Network devices of an address, and of the route to it. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "urom/comm/comm.h"
#include "urom/comm/device_list.h"

/* IPv4 within IPv6 is IPv4. NULL: another family. */
static const void *bytes_of(const struct sockaddr *address, size_t *len)
{
	*len = sizeof(struct in_addr);
	if (address->sa_family == AF_INET)
		return &((const struct sockaddr_in *)address)->sin_addr;
	if (address->sa_family != AF_INET6)
		return NULL;
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
	if (IN6_IS_ADDR_V4MAPPED(in6))
		return &in6->s6_addr[12];
	*len = sizeof(*in6);
	return in6;
}

static bool is_any(const uint8_t *bytes, size_t len)
{
	static const uint8_t none[sizeof(struct in6_addr)];

	return memcmp(bytes, none, len) == 0;
}

/* All of 127.0.0.0/8 belongs to the loopback device, though the device has only one address of it. */
static bool interface_has_address(const struct ifaddrs *at, const uint8_t *bytes, size_t len)
{
	size_t its_len;
	const void *its = at->ifa_addr != NULL ? bytes_of(at->ifa_addr, &its_len) : NULL;

	if (its == NULL || its_len != len)
		return false;
	if ((at->ifa_flags & IFF_LOOPBACK) != 0 && len == sizeof(struct in_addr) && bytes[0] == IN_LOOPBACKNET)
		return true;
	return memcmp(its, bytes, len) == 0;
}

const char *sf_comm_devices_of(const struct sockaddr *address, char *names, size_t room)
{
	struct ifaddrs *all;
	size_t len;
	const uint8_t *bytes = (const uint8_t *)bytes_of(address, &len);

	names[0] = '\0';
	if (bytes == NULL || is_any(bytes, len))
		return NULL;
	if (getifaddrs(&all) != 0) {
		SF_LOG_WARN("urom: the network devices cannot be listed, UCX uses all of them: %s", strerror(errno));
		return NULL;
	}
	for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
		/* An address' label, eth0:1, names the device before the colon. */
		if (interface_has_address(at, bytes, len) &&
		    !device_list_add(names, room, at->ifa_name, strcspn(at->ifa_name, ":")))
			SF_LOG_WARN("urom: too many network devices: %s does not fit", at->ifa_name);
	}
	freeifaddrs(all);
	return names[0] != '\0' ? names : NULL;
}

/* The local address of the route to it; sends nothing. */
static bool find_source(const struct sockaddr *address, socklen_t len, struct sockaddr_storage *source)
{
	socklen_t source_len = sizeof(*source);
	int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	bool found = connect(fd, address, len) == 0 && getsockname(fd, (struct sockaddr *)source, &source_len) == 0;
	close(fd);
	return found;
}

const char *sf_comm_devices_to(const struct sockaddr *address, socklen_t len, const char *list, char *names, size_t room)
{
	char all[SF_COMM_DEVICES_MAX];
	struct sockaddr_storage source;

	names[0] = '\0';
	if (!find_source(address, len, &source) || sf_comm_devices_of((const struct sockaddr *)&source, all, sizeof(all)) == NULL)
		return list;
	const char *rest = all, *name;
	for (size_t name_len; (name = device_list_next(&rest, &name_len)) != NULL;) {
		if (strcmp(list, "all") == 0 || device_list_has(list, name, name_len))
			(void)device_list_add(names, room, name, name_len);
	}
	return names[0] != '\0' ? names : list;
}
