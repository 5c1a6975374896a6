/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An import has a session of its own with the owner's agent. The thread that accesses the memory drives it, one at a
 * time; the agent waits for its end. If it ends without the owner's decision, the next access requests another.
 */
#include "fabric/tcp/import.h"

#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/control/runtime.h"
#include "fabric/shm/access.h"
#include "fabric/shm/barrier.h"
#include "fabric/shm/ep.h"

#define LOOK_MS 100					     /* interval of clock checks while the owner does not answer */
#define SHOWN(address) (int)strcspn(address, "#"), (address) /* for "%.*s": the token behind it is secret */

enum state {
	ASKING,
	OPEN,
	LOST,	/* the session has ended, but the owner may still exist */
	FAILED, /* permanently */
};

struct tcp_import {
	struct sf_region base;
	struct sf_descriptor descriptor;
	char address[SF_ADDRESS_MAX];
	uint32_t hold, generation;
	/* Guarded by sf_control_lock */
	enum state state;
	doca_error_t status; /* FAILED */
	bool was_open;
	uint64_t again_ns;	    /* LOST: the owner is not asked before this time */
	struct sf_channel *channel; /* to the owner's agent; once OPEN, the session's socket in the agent's set */
	struct sf_region_doorbell *doorbell;
	/* Of the thread that accesses the memory; taken after sf_control_lock. */
	pthread_mutex_t lock;
	bool finished; /* the operation is */
	struct tcp_session session;
};

static struct tcp_import *import_of(struct tcp_session *session)
{
	return (struct tcp_import *)((char *)session - offsetof(struct tcp_import, session));
}

static const struct sf_descriptor_form form = {.magic = "SFTC", .version = 1, .more = SF_ADDRESS_MAX, .what = "a network"};

_Static_assert(TCP_DESCRIPTOR_SIZE <= SF_DESCRIPTOR_MAX, "the descriptor fits");

static struct tcp_import *tcp_import(struct sf_region *region)
{
	return (struct tcp_import *)region;
}

void sf_tcp_import_target(const struct sf_region *region, struct tcp_target *target)
{
	const struct tcp_import *import = (const struct tcp_import *)region;

	target->region = import->descriptor.region;
	target->token = import->descriptor.token;
}

/* ---- descriptors ---- */

bool sf_tcp_is_descriptor(const void *bytes, size_t len)
{
	return len >= 4 && memcmp(bytes, form.magic, 4) == 0;
}

doca_error_t sf_tcp_region_export(struct sf_region *region, void *bytes, size_t *len)
{
	char address[SF_ADDRESS_MAX] = {0};
	struct sf_descriptor descriptor;
	doca_error_t error;

	if (bytes == NULL || len == NULL || *len < TCP_DESCRIPTOR_SIZE) {
		SF_LOG_ERR("cannot export: the descriptor's buffer has fewer than %d bytes", TCP_DESCRIPTOR_SIZE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	error = sf_shm_region_serve(region, !shm_domain(region->domain)->by_network, &descriptor);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_control_lock);
	error = sf_net_address(&shm_domain(region->domain)->device, address);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS)
		return error;
	sf_descriptor_pack(&form, &descriptor, address, bytes);
	*len = TCP_DESCRIPTOR_SIZE;
	return DOCA_SUCCESS;
}

doca_error_t sf_tcp_descriptor_read(const void *bytes, size_t len, struct sf_descriptor *descriptor)
{
	return sf_descriptor_unpack(&form, bytes, len, descriptor);
}

static doca_error_t descriptor_read(const void *bytes, size_t len, struct tcp_import *import)
{
	doca_error_t error = sf_tcp_descriptor_read(bytes, len, &import->descriptor);
	struct sf_addresses addresses;

	if (error != DOCA_SUCCESS)
		return error;
	memcpy(import->address, (const uint8_t *)bytes + SF_DESCRIPTOR_MORE, SF_ADDRESS_MAX);
	if (memchr(import->address, '\0', SF_ADDRESS_MAX) != NULL && sf_addresses_parse(import->address, &addresses) &&
	    addresses.has_token)
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("the descriptor has no address of the memory's owner");
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- the session; with sf_control_lock ---- */

static void op_done(struct tcp_session *session, struct sf_op *op)
{
	(void)op;
	import_of(session)->finished = true;
}

static bool session_probe(struct tcp_session *session)
{
	struct tcp_import *import = import_of(session);
	bool sent;

	if (pthread_mutex_trylock(&import->lock) != 0)
		return false; /* another thread accesses the memory */
	sent = sf_tcp_session_probe(session);
	pthread_mutex_unlock(&import->lock);
	return sent;
}

static void session_drain(struct tcp_session *session)
{
	struct tcp_import *import = import_of(session);

	if (pthread_mutex_trylock(&import->lock) != 0)
		return;
	(void)sf_tcp_session_receive(session);
	pthread_mutex_unlock(&import->lock);
}

static const struct tcp_session_ops session_ops = {.done = op_done, .probe = session_probe, .drain = session_drain};

static void ended_as(struct tcp_import *import, enum state state, doca_error_t status)
{
	import->state = state;
	import->status = status;
	pthread_cond_broadcast(&sf_control_changed);
	if (import->doorbell != NULL)
		import->doorbell->ring(import->doorbell);
}

static void import_failed(struct tcp_import *import, doca_error_t status)
{
	ended_as(import, FAILED, status);
}

/* The owner is gone or closed the connection, the network is down, or an access was not answered. */
static void session_gone(struct sf_channel *channel)
{
	struct tcp_import *import = channel->owner;

	pthread_mutex_lock(&import->lock);
	sf_tcp_session_end(&import->session, DOCA_ERROR_CONNECTION_ABORTED);
	pthread_mutex_unlock(&import->lock);
	sf_channel_close(channel);
	import->channel = NULL;
	ended_as(import, LOST, DOCA_ERROR_NOT_FOUND);
}

static void session_open(struct tcp_import *import, struct sf_channel *channel)
{
	struct epoll_event event = {.events = EPOLLRDHUP};
	struct sf_stream stream = sf_channel_leave(channel);
	char address[SF_ADDRESS_MAX];
	const char *guard;

	sf_address_show_peer(stream.fd, address);
	guard = sf_stream_guard(&stream);
	SF_LOG_INFO_LIMITED("memory at 0x%llx of another process: tcp%s%s to %s, as its descriptor says",
			    (unsigned long long)import->descriptor.addr, guard, guard[0] != '\0' ? "," : "", address);
	import->channel = NULL;
	if (sf_channel_open(stream.fd, import, &import->channel) != DOCA_SUCCESS) {
		sf_stream_close(&stream, false);
		import_failed(import, DOCA_ERROR_OPERATING_SYSTEM);
		return;
	}
	pthread_mutex_lock(&import->lock);
	memset(&import->session, 0, offsetof(struct tcp_session, answers));
	sf_tcp_session_begin(&import->session, &session_ops, stream);
	import->session.is_lent = import->was_open = true;
	pthread_mutex_unlock(&import->lock);
	import->channel->readable = session_gone;
	event.data.ptr = import->channel;
	epoll_ctl(sf_control_epoll(), EPOLL_CTL_MOD, stream.fd, &event);
	import->state = OPEN;
	pthread_cond_broadcast(&sf_control_changed);
}

static bool channel_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct tcp_import *import = channel->owner;
	doca_error_t status = sf_msg_status(msg->value);

	(void)fds;
	if (msg->kind != TCP_MSG_ATTACHED)
		return false;
	if (status == DOCA_SUCCESS) {
		session_open(import, channel);
		return true;
	}
	import->channel = NULL;
	sf_channel_close(channel);
	SF_LOG_ERR_LIMITED("the owner rejects the import: %s", status == DOCA_ERROR_NOT_PERMITTED
								       ? "the descriptor's token is wrong, or it was altered"
								       : "it has ended the export");
	import_failed(import, status);
	return true;
}

static void channel_ended(struct sf_channel *channel)
{
	struct tcp_import *import = channel->owner;
	const bool is_final =
		channel->why == DOCA_ERROR_NOT_PERMITTED || channel->why == DOCA_ERROR_NOT_FOUND; /* a machine answered */

	import->channel = NULL;
	SF_LOG_ERR_LIMITED("cannot reach the process that exported the memory at %.*s: does it still run, and is there a route?",
			   SHOWN(import->address));
	import->again_ns = sf_now_ns() + SF_SILENCE_LIMIT_NS;
	ended_as(import, import->was_open && !is_final ? LOST : FAILED,
		 channel->why == DOCA_ERROR_NOT_PERMITTED ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_NOT_FOUND);
}

static doca_error_t import_attach(struct tcp_import *import)
{
	struct tcp_msg_attach attach = {.head = sf_msg_head(TCP_MSG_ATTACH, sizeof(attach), 0),
					.len = import->descriptor.len,
					.rights = import->descriptor.rights};
	doca_error_t error = sf_channel_call(SF_SOCKET_AGENT, &import->descriptor.agent, import->address, true,
					     shm_domain(import->base.domain)->device.scope, import, &import->channel);

	if (error != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("cannot reach the process that exported the memory at %.*s: %s; does it still run?",
				   SHOWN(import->address), doca_error_get_descr(error));
		return error == DOCA_ERROR_TIME_OUT || error == DOCA_ERROR_AGAIN ? DOCA_ERROR_NOT_FOUND : error;
	}
	import->channel->message = channel_message;
	import->channel->ended = channel_ended;
	attach.target.region = import->descriptor.region;
	attach.target.token = import->descriptor.token;
	attach.target.addr = import->descriptor.addr;
	import->state = ASKING;
	return sf_channel_send(import->channel, &attach, NULL, 0) ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

/* ---- the importer's calls ---- */

doca_error_t sf_tcp_region_request(struct sf_domain *domain, const void *bytes, size_t len, struct sf_region **region)
{
	struct tcp_import *import;
	doca_error_t error;

	if (bytes == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	import = calloc(1, sizeof(*import));
	if (import == NULL)
		return DOCA_ERROR_NO_MEMORY;
	error = descriptor_read(bytes, len, import);
	if (error != DOCA_SUCCESS)
		goto free_import;
	error = sf_shm_barrier_join(&import->hold);
	if (error != DOCA_SUCCESS)
		goto free_import;
	import->base = (struct sf_region){.ops = sf_tcp_fabric_ops(),
					  .domain = domain,
					  .addr = import->descriptor.addr,
					  .len = import->descriptor.len,
					  .rights = import->descriptor.rights,
					  .imported = true};
	import->generation = sf_control_generation();
	import->session.stream.fd = -1;
	pthread_mutex_init(&import->lock, NULL);
	pthread_mutex_lock(&sf_control_lock);
	error = import_attach(import);
	if (error != DOCA_SUCCESS)
		sf_channel_close(import->channel);
	pthread_mutex_unlock(&sf_control_lock);
	if (error == DOCA_SUCCESS) {
		*region = &import->base;
		return DOCA_SUCCESS;
	}
	pthread_mutex_destroy(&import->lock);
	sf_control_release(import->hold);
free_import:
	free(import);
	return error;
}

static doca_error_t status_of(const struct tcp_import *import)
{
	return import->state == ASKING ? DOCA_ERROR_AGAIN : import->state == FAILED ? import->status : DOCA_SUCCESS;
}

doca_error_t sf_tcp_region_ready(struct sf_region *region, uint64_t limit_ns)
{
	struct tcp_import *import = tcp_import(region);
	struct sf_liveness answering;
	doca_error_t error;

	if (!region->imported)
		return DOCA_SUCCESS;
	sf_liveness_begin(&answering);
	pthread_mutex_lock(&sf_control_lock);
	error = status_of(import);
	while (limit_ns != 0 && error == DOCA_ERROR_AGAIN) {
		if (!sf_control_await(import->channel, &answering, limit_ns)) {
			SF_LOG_ERR_LIMITED("the owner of the memory at %.*s does not answer: is it stopped?",
					   SHOWN(import->address));
			break;
		}
		error = status_of(import);
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

/* If the network may stall for longer than a second, the owner's answers may be delayed as long. */
static uint64_t silence_limit_ns(void)
{
	const uint64_t timeout_ns = sf_heartbeat_timeout_ms() * UINT64_C(1000000);

	return timeout_ns > SF_SILENCE_LIMIT_NS ? timeout_ns : SF_SILENCE_LIMIT_NS;
}

/* Drives the session until the operation is finished. With the lock. False: the owner is silent. */
static bool carry_out(struct tcp_import *import)
{
	struct tcp_session *session = &import->session;
	struct sf_liveness answering;

	sf_liveness_begin(&answering);
	for (;;) {
		struct pollfd ready = {.fd = session->stream.fd, .events = POLLIN};

		sf_tcp_session_send(session);
		if (import->finished)
			return true;
		ready.events |= session->is_behind ? POLLOUT : 0;
		if (poll(&ready, 1, session->is_unread ? 0 : LOOK_MS) > 0)
			sf_liveness_begin(&answering); /* no limit as long as it makes progress */
		(void)sf_tcp_session_receive(session);
		if (import->finished)
			return true;
		if (sf_liveness_lost(&answering, 0, silence_limit_ns()))
			return false;
	}
}

static doca_error_t access_remote(struct tcp_import *import, struct sf_op *op, uint64_t len)
{
	struct sf_op copy = *op;
	doca_error_t error;

	pthread_mutex_lock(&import->lock);
	import->finished = false;
	copy.status = DOCA_SUCCESS;
	copy.region = &import->base;
	error = sf_tcp_session_submit(&import->session, &copy, len);
	if (error == DOCA_SUCCESS && !carry_out(import)) {
		SF_LOG_ERR_LIMITED("the owner at %.*s does not answer for %llu bytes of its memory at 0x%llx; is it stopped, or "
				   "the network cut?",
				   SHOWN(import->address), (unsigned long long)len, (unsigned long long)op->remote_addr);
		/* The pending operation refers to the caller's memory: no more of its data may arrive. */
		sf_tcp_session_end(&import->session, DOCA_ERROR_CONNECTION_ABORTED);
		error = DOCA_ERROR_TIME_OUT;
	}
	pthread_mutex_unlock(&import->lock);
	return error != DOCA_SUCCESS ? error : copy.status;
}

/* The session has ended, and the agent may not know it yet. */
static bool is_lost(struct tcp_import *import)
{
	bool ended;

	pthread_mutex_lock(&import->lock);
	ended = import->session.stream.fd < 0;
	pthread_mutex_unlock(&import->lock);
	if (import->state == OPEN && ended)
		session_gone(import->channel);
	return import->state == LOST;
}

/* Requests another session from the owner. CONNECTION_ABORTED: the owner is gone, or not reachable; TIME_OUT: it is
 * silent. */
static doca_error_t session_renew(struct tcp_import *import)
{
	const uint64_t begun = sf_now_ns();
	struct sf_liveness answering;
	enum state state;

	sf_liveness_begin(&answering);
	pthread_mutex_lock(&sf_control_lock);
	if (is_lost(import) && begun >= import->again_ns && import_attach(import) != DOCA_SUCCESS) {
		sf_channel_close(import->channel);
		import->channel = NULL;
		import->again_ns = begun + SF_SILENCE_LIMIT_NS;
		import->state = LOST;
	}
	while (import->state == ASKING && sf_now_ns() - begun < silence_limit_ns())
		(void)sf_control_await(import->channel, &answering, SF_SILENCE_LIMIT_NS);
	state = import->state;
	pthread_mutex_unlock(&sf_control_lock);
	if (state == OPEN)
		return DOCA_SUCCESS;
	return state == ASKING ? DOCA_ERROR_TIME_OUT : DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t sf_tcp_region_access(struct sf_region *region, struct sf_op *op)
{
	uint64_t len;
	doca_error_t error;

	if (!region->imported)
		return sf_shm_region_access(region, op);
	error = sf_access_check(region, op, &len);
	if (error != DOCA_SUCCESS)
		return error;
	if (tcp_import(region)->generation != sf_control_generation())
		return DOCA_ERROR_CONNECTION_ABORTED;
	error = access_remote(tcp_import(region), op, len);
	if (error != DOCA_ERROR_NOT_CONNECTED)
		return error;
	error = session_renew(tcp_import(region));
	if (error == DOCA_SUCCESS)
		error = access_remote(tcp_import(region), op, len);
	return error == DOCA_ERROR_NOT_CONNECTED ? DOCA_ERROR_CONNECTION_ABORTED : error;
}

doca_error_t sf_tcp_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell)
{
	if (!region->imported)
		return sf_shm_region_arm(region, doorbell);
	pthread_mutex_lock(&sf_control_lock);
	tcp_import(region)->doorbell = doorbell;
	if (tcp_import(region)->state >= LOST)
		doorbell->ring(doorbell);
	pthread_mutex_unlock(&sf_control_lock);
	return DOCA_SUCCESS;
}

void sf_tcp_region_close(struct sf_region *region)
{
	struct tcp_import *import = tcp_import(region);
	uint32_t hold;

	if (!region->imported) {
		sf_shm_region_close(region);
		return;
	}
	hold = import->hold;
	if (import->generation == sf_control_generation()) {
		pthread_mutex_lock(&sf_control_lock);
		sf_tcp_session_end(&import->session, DOCA_ERROR_CONNECTION_ABORTED);
		sf_channel_close(import->channel);
		pthread_mutex_unlock(&sf_control_lock);
		pthread_mutex_destroy(&import->lock);
	}
	free(import);
	sf_control_release(hold);
}
