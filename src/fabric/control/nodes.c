/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/nodes.h"

#include <assert.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/control/handshake.h"
#include "fabric/control/listener.h"
#include "fabric/control/net.h"
#include "fabric/control/runtime.h"

#define LOOK_UP_AGAIN_NS UINT64_C(1000000000) /* interval of host name look-ups */

struct other {
	char *name, *host;
	uint16_t port;
	bool is_fixed;		       /* the host is a numeric address */
	struct sf_addresses addresses; /* empty: not known yet */
	uint64_t asked_ns;
};

/* Guarded by sf_control_lock */
static struct {
	bool joined;
	struct sf_addresses own;
	struct sf_port_range ports;
	struct other *others; /* permanent; names and ports do not change */
	uint32_t num;
} nodes;

bool sf_nodes_joined(void)
{
	return nodes.joined;
}

void sf_nodes_own(const char *device, struct sf_addresses *addresses)
{
	(void)device;
	*addresses = nodes.joined ? nodes.own : (struct sf_addresses){.num = 1, .at = {{.bytes = {127, 0, 0, 1}}}};
}

struct sf_port_range sf_nodes_ports(void)
{
	return nodes.ports;
}

static void address_add(struct sf_addresses *addresses, const struct addrinfo *info, uint16_t port)
{
	struct sf_address *at = &addresses->at[addresses->num];

	if (addresses->num == SF_ADDRESSES_MAX || (info->ai_family != AF_INET && info->ai_family != AF_INET6))
		return;
	*at = (struct sf_address){.is_ipv6 = info->ai_family == AF_INET6, .port = port};
	if (at->is_ipv6)
		memcpy(at->bytes, &((const struct sockaddr_in6 *)(const void *)info->ai_addr)->sin6_addr, 16);
	else
		memcpy(at->bytes, &((const struct sockaddr_in *)(const void *)info->ai_addr)->sin_addr, 4);
	addresses->num++;
}

/* May wait for a resolver. Returns 0, or an error of getaddrinfo. */
static int node_resolve(const char *host, uint16_t port, int flags, struct sf_addresses *addresses)
{
	const struct addrinfo hints = {.ai_flags = flags, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	int error = getaddrinfo(host, NULL, &hints, &list);

	*addresses = (struct sf_addresses){0};
	if (error != 0)
		return error;
	for (const struct addrinfo *info = list; info != NULL; info = info->ai_next)
		address_add(addresses, info, port);
	freeaddrinfo(list);
	return 0;
}

/* ---- the other nodes ---- */

/* A machine that starts later, or elsewhere, has a new address. Uses a thread, because a resolver may be slow. */
static void *look_up(void *arg)
{
	struct other *other = arg;
	struct sf_addresses addresses;

	if (node_resolve(other->host, other->port, 0, &addresses) != 0)
		return NULL;
	pthread_mutex_lock(&sf_control_lock);
	if (memcmp(&other->addresses, &addresses, sizeof(addresses)) != 0)
		SF_LOG_INFO("node %s has another address now: looked up %s again", other->name, other->host);
	other->addresses = addresses;
	pthread_mutex_unlock(&sf_control_lock);
	return NULL;
}

static void look_up_again(struct other *other)
{
	const uint64_t now = sf_now_ns();
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	if (other->is_fixed || now - other->asked_ns < LOOK_UP_AGAIN_NS)
		return;
	other->asked_ns = now;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals must not run on this thread */
	if (pthread_create(&thread, &attr, look_up, other) != 0)
		SF_LOG_DBG("no thread to look up %s: using its old address", other->host);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

bool sf_nodes_next(uint32_t *number, char address[SF_ADDRESS_MAX])
{
	while (*number < nodes.num) {
		struct other *other = &nodes.others[(*number)++];

		look_up_again(other);
		if (other->addresses.num == 0)
			continue;
		sf_addresses_format(&other->addresses, address);
		return true;
	}
	return false;
}

const char *sf_nodes_name(uint32_t number)
{
	return nodes.others[number - 1].name;
}

static bool other_init(struct other *other, const struct sf_fabric_node *node)
{
	int error = node_resolve(node->address, node->port, AI_NUMERICHOST, &other->addresses);

	other->is_fixed = error == 0;
	if (error != 0)
		error = node_resolve(node->address, node->port, 0, &other->addresses);
	if (error != 0)
		SF_LOG_WARN("node %s is not found at %s: %s; it is looked up again when it is needed", node->name, node->address,
			    gai_strerror(error));
	other->port = node->port;
	other->asked_ns = sf_now_ns();
	other->name = strdup(node->name);
	other->host = strdup(node->address);
	return other->name != NULL && other->host != NULL;
}

static void others_free(struct other *others, uint32_t num)
{
	for (uint32_t i = 0; others != NULL && i < num; i++) {
		free(others[i].name);
		free(others[i].host);
	}
	free(others);
}

static doca_error_t use_key(const struct sf_fabric_key *key)
{
	sf_net_use_tls(!key->is_bare);
	return sf_net_read_key(key->path);
}

doca_error_t sf_fabric_join(const struct sf_fabric_node *self, const struct sf_fabric_node *others, uint32_t num,
			    const struct sf_fabric_key *key)
{
	struct other *list = calloc(num + 1, sizeof(*list));
	doca_error_t error = list != NULL ? sf_net_check() : DOCA_ERROR_NO_MEMORY;
	struct sf_addresses own;
	int unknown = 0;

	if (error == DOCA_SUCCESS)
		unknown = node_resolve(self->address, 0, 0, &own);
	if (unknown != 0) {
		SF_LOG_ERR("this node, %s, is not found at %s: %s; give its IP address in the topology", self->name,
			   self->address, gai_strerror(unknown));
		error = DOCA_ERROR_NOT_FOUND;
	}
	if (error == DOCA_SUCCESS)
		error = use_key(key);
	for (uint32_t i = 0; i < num && error == DOCA_SUCCESS; i++)
		error = other_init(&list[i], &others[i]) ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&sf_control_lock);
	if (error == DOCA_SUCCESS && !nodes.joined) {
		nodes.joined = true;
		nodes.own = own;
		nodes.ports = self->ports;
		nodes.others = list;
		nodes.num = num;
		list = NULL;
	}
	pthread_mutex_unlock(&sf_control_lock);
	others_free(list, num);
	return error;
}

/* ---- the service of this machine ---- */

/* A look-up that is forwarded to the listener. */
struct relay {
	struct sf_channel *requester, *listener;
	struct sf_liveness answering;
	LIST_ENTRY(relay) entry;
};

static LIST_HEAD(, relay) relays GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(relays);

static void relay_end(struct relay *relay)
{
	LIST_REMOVE(relay, entry);
	sf_channel_close(relay->requester);
	sf_channel_close(relay->listener);
	free(relay);
}

static bool listener_answers(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct relay *relay = channel->owner;

	(void)fds;
	if (msg->kind != SF_MSG_ADDRESS && msg->kind != SF_MSG_REFUSE)
		return false;
	sf_channel_send_optional(relay->requester, msg);
	relay_end(relay);
	return true;
}

static bool requester_goes_on(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	(void)channel;
	(void)msg;
	(void)fds;
	return false; /* one look-up each */
}

static void either_ended(struct sf_channel *channel)
{
	relay_end(channel->owner);
}

void sf_node_answer(struct sf_channel *requester, const struct sf_msg_locate *ask)
{
	const struct sf_key key = sf_key_of_name(ask->name);
	struct relay *relay = calloc(1, sizeof(*relay));
	doca_error_t error = DOCA_ERROR_NO_MEMORY;

	assert(sf_is_locked(&sf_control_lock));
	if (relay != NULL)
		error = sf_channel_call(SF_SOCKET_LISTENER, &key, "", false, 0, relay, &relay->listener);
	if (error != DOCA_SUCCESS) {
		free(relay);
		sf_control_reject(requester, error == DOCA_ERROR_AGAIN ? DOCA_ERROR_FULL : error, NULL, 0);
		return;
	}
	relay->requester = requester;
	sf_liveness_begin(&relay->answering);
	LIST_INSERT_HEAD(&relays, relay, entry);
	requester->owner = relay;
	requester->message = requester_goes_on;
	relay->listener->message = listener_answers;
	requester->ended = relay->listener->ended = either_ended;
	(void)sf_channel_send(relay->listener, ask, NULL, 0);
}

/* Only this machine can see whether the listener's process is stopped or slow. */
enum sf_pace sf_nodes_tick(void)
{
	struct relay *relay, *next;

	assert(sf_is_locked(&sf_control_lock));
	for (relay = LIST_FIRST(&relays); relay != NULL; relay = next) {
		next = LIST_NEXT(relay, entry);
		if (!sf_liveness_lost(&relay->answering, relay->listener->pid, SF_ANSWER_LIMIT_NS))
			continue;
		SF_LOG_WARN_LIMITED("process %d does not report its address: is it stopped?", relay->listener->pid);
		sf_control_reject(relay->requester, DOCA_ERROR_TIME_OUT, NULL, 0);
		relay_end(relay);
	}
	return LIST_EMPTY(&relays) ? SF_PACE_IDLE : SF_PACE_SLOW;
}

doca_error_t sf_node_serve(uint16_t port)
{
	struct sf_addresses addresses;
	uint32_t hold; /* never released */
	doca_error_t error = sf_control_hold(&hold);

	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_control_lock);
	sf_nodes_own(NULL, &addresses);
	for (uint32_t i = 0; i < addresses.num; i++)
		addresses.at[i].port = port;
	error = sf_net_serve_node(&addresses);
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

/* ---- are they there? ---- */

#define NO_LISTENER "softfield node" /* a name without a listener: any answer will do */

/* A service being asked. Guarded by sf_control_lock */
struct asked {
	struct sf_channel *channel; /* NULL: answered, or no answer will come */
	enum sf_node_state state;
};

static bool node_answers(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct asked *asked = channel->owner;

	(void)msg;
	(void)fds;
	asked->state = SF_NODE_ANSWERED;
	asked->channel = NULL;
	sf_channel_close(channel);
	pthread_cond_broadcast(&sf_control_changed);
	return true;
}

static void node_ended(struct sf_channel *channel)
{
	struct asked *asked = channel->owner;

	if (channel->why == DOCA_ERROR_NOT_PERMITTED)
		asked->state = channel->is_other ? SF_NODE_OTHER : SF_NODE_REFUSED;
	else
		asked->state = SF_NODE_SILENT;
	asked->channel = NULL;
	pthread_cond_broadcast(&sf_control_changed);
}

static void node_ask(const struct sf_fabric_node *node, struct asked *asked)
{
	struct sf_msg_locate locate = {.head = sf_msg_head(SF_MSG_LOCATE, sizeof(locate), 0), .name = NO_LISTENER};
	const struct sf_key key = sf_key_of_name(NO_LISTENER);
	struct sf_addresses addresses;
	char address[SF_ADDRESS_MAX];

	if (node_resolve(node->address, node->port, 0, &addresses) != 0 || addresses.num == 0)
		return;
	sf_addresses_format(&addresses, address);
	pthread_mutex_lock(&sf_control_lock);
	if (sf_channel_call(SF_SOCKET_LISTENER, &key, address, true, 0, asked, &asked->channel) == DOCA_SUCCESS) {
		asked->channel->message = node_answers;
		asked->channel->ended = node_ended;
		(void)sf_channel_send(asked->channel, &locate, NULL, 0);
	}
	pthread_mutex_unlock(&sf_control_lock);
}

static bool is_awaited(const struct asked *asked, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++) {
		if (asked[i].channel != NULL)
			return true;
	}
	return false;
}

doca_error_t sf_nodes_ask(const struct sf_fabric_node *others, uint32_t num, const struct sf_fabric_key *key, uint64_t limit_ns,
			  enum sf_node_state *states)
{
	struct asked *asked = calloc(num + 1, sizeof(*asked));
	struct timespec limit;
	uint64_t limit_at_ns;
	uint32_t hold;
	doca_error_t error = asked != NULL ? use_key(key) : DOCA_ERROR_NO_MEMORY;

	if (error == DOCA_SUCCESS)
		error = sf_control_hold(&hold);
	if (error != DOCA_SUCCESS) {
		free(asked);
		return error;
	}
	for (uint32_t i = 0; i < num; i++)
		node_ask(&others[i], &asked[i]);
	limit_at_ns = sf_now_ns() + limit_ns;
	limit = (struct timespec){.tv_sec = (time_t)(limit_at_ns / 1000000000), .tv_nsec = (long)(limit_at_ns % 1000000000)};
	pthread_mutex_lock(&sf_control_lock);
	while (is_awaited(asked, num) && sf_now_ns() < limit_at_ns)
		(void)pthread_cond_timedwait(&sf_control_changed, &sf_control_lock, &limit);
	for (uint32_t i = 0; i < num; i++) {
		states[i] = asked[i].state;
		sf_channel_close(asked[i].channel);
	}
	pthread_mutex_unlock(&sf_control_lock);
	sf_control_release(hold);
	free(asked);
	return DOCA_SUCCESS;
}
