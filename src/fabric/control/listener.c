/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/listener.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/control/net.h"
#include "fabric/control/runtime.h"

static LIST_HEAD(, sf_control_listener) listeners GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(listeners);

SF_IN_CHILD void sf_listeners_after_fork(void)
{
	LIST_INIT(&listeners);
}

/* ---- requests ---- */

void sf_control_reject(struct sf_channel *channel, doca_error_t status, const void *data, size_t len)
{
	struct sf_msg_refuse answer = {.head = sf_msg_head(SF_MSG_REFUSE, sizeof(answer), status), .data_len = (uint32_t)len};

	if (len != 0)
		memcpy(answer.data, data, len);
	sf_channel_send_optional(channel, &answer); /* otherwise the end of the channel reports it */
	sf_channel_close(channel);
}

bool sf_control_accept_answer(struct sf_channel *channel, const struct sf_control_provider *provider,
			      const struct sf_msg_side *side, const int *fds, const void *data, size_t len)
{
	struct sf_msg_accept answer = {.head = sf_msg_head(SF_MSG_ACCEPT, sizeof(answer), 0),
				       .provider = provider->kinds,
				       .data_len = (uint32_t)len,
				       .side = *side};

	if (len != 0)
		memcpy(answer.data, data, len);
	return sf_channel_send(channel, &answer, fds, provider->accept_fds);
}

static void log_caller(const struct sf_channel *channel, const struct sf_msg_connect *ask,
		       const struct sf_control_provider *provider)
{
	char address[SF_ADDRESS_MAX];

	if (channel->is_stream) {
		sf_address_show_peer(channel->stream.fd, address);
		SF_LOG_INFO_LIMITED("%s is called by %s: %s%s", ask->name, address, provider->name,
				    provider->by_network ? sf_stream_guard(&channel->stream) : "");
	} else {
		SF_LOG_INFO_LIMITED("%s is called by process %d: %s", ask->name, channel->pid, provider->name);
	}
}

static doca_error_t connect_to(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask,
			       int *fds)
{
	const struct sf_msg pending = sf_msg_head(SF_MSG_PENDING, sizeof(pending), 0);
	const bool is_auto = listener != NULL && (listener->flags & SF_LISTEN_AUTO) != 0;
	const struct sf_control_provider *provider;
	doca_error_t error;

	provider = listener != NULL ? listener->provider : NULL;
	if (provider != NULL && provider->kinds != ask->provider)
		provider = provider->beside != NULL && provider->beside->kinds == ask->provider ? provider->beside : NULL;
	if (provider == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if (!is_auto && listener->num_requests >= SF_REQUESTS_MAX)
		return DOCA_ERROR_FULL;
	log_caller(channel, ask, provider);
	sf_channel_adopt(channel);
	error = provider->asked(listener, channel, ask, fds);
	if (error == DOCA_SUCCESS && !is_auto) {
		assert(listener->num_requests < SF_REQUESTS_MAX);
		listener->num_requests++;
		(void)sf_channel_send(channel, &pending, NULL, 0);
	}
	return error;
}

static void request_answer(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask,
			   int *fds)
{
	doca_error_t error = connect_to(listener, channel, ask, fds);

	if (error == DOCA_SUCCESS)
		return;
	if (channel->is_stream)
		SF_LOG_WARN_LIMITED("a peer on the network cannot connect to %s: %s", ask->name, doca_error_get_descr(error));
	else
		SF_LOG_WARN_LIMITED("process %d cannot connect to %s: %s", channel->pid, ask->name, doca_error_get_descr(error));
	sf_control_reject(channel, error, NULL, 0);
}

static REQUIRES(sf_control_lock) struct sf_control_listener *listener_find(const char *name)
{
	struct sf_control_listener *listener;

	LIST_FOREACH (listener, &listeners, entry) {
		if (strcmp(listener->name, name) == 0)
			break;
	}
	return listener;
}

void sf_listeners_connect(struct sf_channel *channel, const struct sf_msg_connect *ask, int *fds)
{
	assert(sf_is_locked(&sf_control_lock));
	request_answer(listener_find(ask->name), channel, ask, fds);
}

void sf_listeners_locate(struct sf_channel *channel, const struct sf_msg_locate *ask)
{
	struct sf_msg_address answer = {.head = sf_msg_head(SF_MSG_ADDRESS, sizeof(answer), 0)};
	const struct sf_control_listener *listener;
	doca_error_t error = DOCA_ERROR_NOT_FOUND;

	assert(sf_is_locked(&sf_control_lock));
	listener = listener_find(ask->name);
	if (listener != NULL && listener->device.name != NULL)
		error = sf_net_address(&listener->device, answer.address);
	if (error == DOCA_SUCCESS && answer.address[0] == '\0')
		error = DOCA_ERROR_NOT_FOUND;
	if (error != DOCA_SUCCESS) {
		sf_control_reject(channel, error, NULL, 0);
		return;
	}
	sf_channel_send_optional(channel, &answer);
	sf_channel_close(channel);
}

void sf_listener_called(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask)
{
	assert(sf_is_locked(&sf_control_lock));
	request_answer(strcmp(listener->name, ask->name) == 0 ? listener : NULL, channel, ask, NULL);
}

/* ---- listeners ---- */

/* Listens in the runtime folder. */
static REQUIRES(sf_control_lock) doca_error_t start_here(struct sf_control_listener *listener)
{
	int fd;
	doca_error_t error = sf_runtime_listen(SF_SOCKET_LISTENER, &listener->key, &fd);

	if (error == DOCA_ERROR_ALREADY_EXIST)
		SF_LOG_ERR("%s is in use by another listener; end that program, or use another name", listener->name);
	if (error != DOCA_SUCCESS)
		return error;
	error = sf_channel_open(fd, listener, &listener->channel);
	if (error == DOCA_SUCCESS) {
		sf_channel_listen(listener->channel);
		return DOCA_SUCCESS;
	}
	sf_runtime_unlink(SF_SOCKET_LISTENER, &listener->key);
	close(fd);
	return error;
}

doca_error_t sf_control_listener_open(const struct sf_control_provider *provider, const struct sf_net_device *device,
				      struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				      struct sf_control_listener **out)
{
	const uint16_t network_port = (uint16_t)(flags >> 16);
	doca_error_t error = sf_name_check(name, NULL, NULL, 0);
	struct sf_control_listener *listener;

	if (error == DOCA_SUCCESS && network_port != 0 && device == NULL)
		error = DOCA_ERROR_NOT_SUPPORTED;
	if (error != DOCA_SUCCESS)
		return error;
	listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return DOCA_ERROR_NO_MEMORY;
	listener->base = (struct sf_listener){.ops = ep->ops, .ep = ep, .user = user};
	listener->base.control = listener;
	listener->provider = provider;
	listener->generation = sf_control_generation();
	if (device != NULL)
		listener->device = *device;
	listener->flags = flags;
	listener->key = sf_key_of_name(name);
	strcpy(listener->name, name);
	pthread_mutex_lock(&sf_control_lock);
	error = network_port != 0 ? sf_net_listen(device, network_port, listener) : start_here(listener);
	if (error == DOCA_SUCCESS)
		LIST_INSERT_HEAD(&listeners, listener, entry);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS) {
		free(listener);
		return error;
	}
	*out = listener;
	return DOCA_SUCCESS;
}

doca_error_t sf_listener_address(struct sf_listener *base, char address[SF_ADDRESS_MAX])
{
	const struct sf_control_listener *listener = base->control;
	doca_error_t error;

	address[0] = '\0';
	if (listener == NULL || listener->device.name == NULL || listener->channel == NULL ||
	    listener->generation != sf_control_generation())
		return DOCA_SUCCESS;
	pthread_mutex_lock(&sf_control_lock);
	error = sf_net_address(&listener->device, address);
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

bool sf_control_listener_close(struct sf_control_listener *listener)
{
	struct sf_control_listener *at;

	assert(sf_is_locked(&sf_control_lock));
	LIST_FOREACH (at, &listeners, entry) {
		if (at == listener)
			break;
	}
	if (at == NULL)
		return false;
	LIST_REMOVE(listener, entry);
	if (listener->channel != NULL)
		sf_runtime_unlink(SF_SOCKET_LISTENER, &listener->key);
	sf_channel_close(listener->channel);
	sf_channels_forget(listener);
	return true;
}
