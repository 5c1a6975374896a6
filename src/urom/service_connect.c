/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a service: looks up its host, and tries the addresses in the resolver's order, each for its share of the remaining
 * time, until a service answers at one.
 */
#include "urom/service_connect.h"

#include <net/if.h>
#include <netinet/in.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "urom/auth.h"
#include "urom/comm/device_list.h"
#include "urom/host_lookup.h"
#include "urom/net_devices.h"
#include "urom/service.h"
#include "urom/service_peer.h"
#include "urom/service_request.h"

/* The result of each address, for the one log line of a start that fails. */
struct attempts {
	uint32_t num;
	bool any_silent;
	size_t used;
	char text[UROM_ADDRESSES_MAX * (INET6_ADDRSTRLEN + 32)];
};

static void attempts_add(struct attempts *attempts, const char *address, doca_error_t result)
{
	const char *what = result == DOCA_ERROR_TIME_OUT ? "no reply" : "no service is there";
	size_t room = sizeof(attempts->text) - attempts->used;
	int len = snprintf(attempts->text + attempts->used, room, "%s%s: %s", attempts->num++ != 0 ? ", " : "", address, what);

	attempts->used += len > 0 && (size_t)len < room ? (size_t)len : 0;
	attempts->any_silent |= result == DOCA_ERROR_TIME_OUT;
}

/* ---- one address ---- */

static doca_error_t send_handshake(struct doca_urom_service *service)
{
	struct urom_handshake handshake = {.message_max = (uint32_t)service->message_max};
	uint8_t body[64];
	doca_error_t result = urom_random(service->nonce, sizeof(service->nonce));

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(handshake.nonce, service->nonce, sizeof(handshake.nonce));
	service->session = UROM_SESSION_HANDSHAKE;
	result = urom_service_send(service, UROM_HANDSHAKE, 0, 0, body, urom_handshake_pack(&handshake, body, sizeof(body)));
	return result != DOCA_SUCCESS ? urom_service_start_error(result) : DOCA_SUCCESS;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static void sleep_for(struct sf_comm *comm, uint64_t ns)
{
	struct pollfd ready = {sf_comm_fd(comm), POLLIN, 0};

	if (!sf_comm_arm(comm))
		(void)poll(&ready, 1, (int)(ns / 1000000) + 1);
}

/*
 * A daemon of this machine that waits for a processor is alive. A remote one is not visible, and gets longer once its
 * kernel has accepted the connection. A daemon on TCP loopback would be visible.
 */
static bool service_is_silent(const struct doca_urom_service *service, struct sf_liveness *liveness, uint64_t limit_ns)
{
	pid_t process = sf_comm_process(service->peer);

	if (process == 0 && (is_loopback(&service->reached) || !sf_comm_connected(service->peer)))
		limit_ns /= SF_LIVENESS_UNSEEN;
	return sf_liveness_lost(liveness, process, limit_ns);
}

static doca_error_t await_welcome(struct doca_urom_service *service, uint64_t limit_ns)
{
	struct sf_liveness liveness;

	sf_liveness_begin(&liveness);
	while (service->session == UROM_SESSION_HANDSHAKE || service->session == UROM_SESSION_PROOF) {
		if (sf_comm_poll(service->comm))
			continue;
		if (service_is_silent(service, &liveness, limit_ns))
			return DOCA_ERROR_TIME_OUT;
		sleep_for(service->comm, sf_liveness_interval(limit_ns) / SF_LIVENESS_UNSEEN);
	}
	return service->session == UROM_SESSION_OPEN ? DOCA_SUCCESS : service->why;
}

/* The variable takes precedence over the service file. */
static void find_devices(struct doca_urom_service *service, char devices[UROM_NET_DEVICES_MAX])
{
	const char *named = secure_getenv("UCX_NET_DEVICES");

	if (named != NULL && named[0] != '\0' && strlen(named) < UROM_NET_DEVICES_MAX)
		urom_net_devices_for_tcp(named, "/sys", devices, UROM_NET_DEVICES_MAX);
	else
		memcpy(devices, service->entry.net_devices, UROM_NET_DEVICES_MAX);
}

static void keep_devices(struct doca_urom_service *service, const char *devices)
{
	pthread_mutex_lock(&service->lock);
	snprintf(service->net_devices, sizeof(service->net_devices), "%s", devices);
	pthread_mutex_unlock(&service->lock);
}

static bool any_exists(const char *devices)
{
	char name[IFNAMSIZ];
	size_t len;

	if (strcmp(devices, "all") == 0)
		return true;
	for (const char *at; (at = device_list_next(&devices, &len)) != NULL;) {
		if (len < sizeof(name) && snprintf(name, sizeof(name), "%.*s", (int)len, at) > 0 && if_nametoindex(name) != 0)
			return true;
	}
	return false;
}

static doca_error_t open_comm(struct doca_urom_service *service)
{
	const struct sf_comm_options options = {.handler = &urom_service_handler, .user = service, .body_max = UROM_CONTROL_MAX};
	char devices[UROM_NET_DEVICES_MAX];

	find_devices(service, devices);
	if (!any_exists(devices)) {
		SF_LOG_ERR("urom service: no network device %s exists here: set UCX_NET_DEVICES, or the last field in the "
			   "service file",
			   devices);
		return DOCA_ERROR_NOT_FOUND;
	}
	keep_devices(service, devices);
	return sf_comm_open(&options, &service->comm);
}

static doca_error_t try_one(struct doca_urom_service *service, const struct addrinfo *at, uint64_t limit_ns)
{
	const struct sf_comm_target target = {at->ai_addr, at->ai_addrlen, SF_COMM_LISTENER, service->net_devices};

	memcpy(&service->reached, at->ai_addr, at->ai_addrlen);
	service->reached_len = at->ai_addrlen;
	service->has_key = false;
	doca_error_t result = sf_comm_connect(service->comm, &target, NULL, &service->peer);
	if (result == DOCA_SUCCESS)
		result = send_handshake(service);
	if (result == DOCA_SUCCESS)
		result = await_welcome(service, limit_ns);
	if (result != DOCA_SUCCESS && service->peer != NULL) { /* else its end was reported */
		sf_comm_drop(service->comm, service->peer);
		service->peer = NULL;
	}
	return result;
}

/* Returns true for an answer of the service itself, which another address would only repeat. */
static bool is_answer(doca_error_t result)
{
	return result == DOCA_SUCCESS || result == DOCA_ERROR_NOT_PERMITTED || result == DOCA_ERROR_UNSUPPORTED_VERSION ||
	       result == DOCA_ERROR_TOO_BIG || result == DOCA_ERROR_NO_MEMORY;
}

/* ---- all of them ---- */

static doca_error_t try_all(struct doca_urom_service *service, const struct addrinfo *found)
{
	struct attempts attempts = {.text = ""};
	uint64_t left_ns = UROM_CONNECT_NS;
	uint32_t left = 0;

	for (const struct addrinfo *at = found; at != NULL && left < UROM_ADDRESSES_MAX; at = at->ai_next)
		left++;
	for (const struct addrinfo *at = found; left != 0; at = at->ai_next, left--) {
		uint64_t share = left_ns / left, from = sf_now_ns();
		doca_error_t result = try_one(service, at, share);
		uint64_t took = sf_now_ns() - from;

		left_ns -= took < share ? took : share;
		if (is_answer(result))
			return result;
		char address[UROM_HOST_MAX] = "";
		(void)getnameinfo(at->ai_addr, at->ai_addrlen, address, sizeof(address), NULL, 0, NI_NUMERICHOST);
		attempts_add(&attempts, address, result);
	}
	SF_LOG_ERR("urom service: %s, port %u, cannot be reached (%s): is doca_urom_daemon running there?", service->entry.host,
		   service->entry.port, attempts.text);
	return attempts.any_silent ? DOCA_ERROR_TIME_OUT : DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t urom_service_connect(struct doca_urom_service *service)
{
	struct addrinfo *found = NULL;

	service->session = UROM_SESSION_NONE;
	service->peer = NULL;
	service->comm = NULL;
	doca_error_t result = urom_host_look_up(service->entry.host, service->entry.port, UROM_CONNECT_NS, &found);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_comm(service);
	if (result == DOCA_SUCCESS)
		result = try_all(service, found);
	freeaddrinfo(found);
	pthread_mutex_lock(&service->lock);
	service->takes_requests = result == DOCA_SUCCESS;
	pthread_mutex_unlock(&service->lock);
	return result;
}
