/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/listener.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/shm/connect.h"

static struct shm_listener *listeners; /* guarded by sf_shm_lock */

struct shm_listener *sf_shm_listener_find(const char *name)
{
	struct shm_listener *listener = listeners;

	while (listener != NULL && strcmp(listener->name, name) != 0)
		listener = listener->next;
	return listener;
}

static doca_error_t start(struct shm_listener *listener)
{
	int fd;
	doca_error_t error = sf_runtime_listen(SF_SOCKET_LISTENER, &listener->key, &fd);

	if (error == DOCA_ERROR_ALREADY_EXIST)
		SF_LOG_ERR("somebody listens at %s already; end that program, or use another name", listener->name);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_shm_lock);
	error = sf_shm_conn_open(fd, 0, NULL, NULL, &listener->conn);
	if (error == DOCA_SUCCESS) {
		listener->conn->listening = true;
		listener->next = listeners;
		listeners = listener;
	}
	pthread_mutex_unlock(&sf_shm_lock);
	if (error != DOCA_SUCCESS) {
		sf_runtime_unlink(SF_SOCKET_LISTENER, &listener->key);
		close(fd);
	}
	return error;
}

doca_error_t sf_shm_listener_open(struct sf_port *port, const char *name, uint32_t flags, void *user,
				  struct sf_listener **listener)
{
	struct shm_listener *l;
	doca_error_t error = sf_name_check(name, NULL, 0);

	if (error == DOCA_SUCCESS)
		error = sf_shm_port_hold_agent(shm_port(port));
	if (error != DOCA_SUCCESS)
		return error;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return DOCA_ERROR_NO_MEMORY;
	l->base = (struct sf_listener){.ops = port->ops, .port = port, .user = user};
	l->flags = flags;
	l->key = sf_key_of_name(name);
	strcpy(l->name, name);
	error = start(l);
	if (error != DOCA_SUCCESS) {
		free(l);
		return error;
	}
	*listener = &l->base;
	return DOCA_SUCCESS;
}

void sf_shm_listener_close(struct sf_listener *base)
{
	struct shm_listener *listener = (struct shm_listener *)base, **at;

	pthread_mutex_lock(&sf_shm_lock);
	for (at = &listeners; *at != NULL && *at != listener; at = &(*at)->next)
		;
	if (*at == listener) { /* not so in a child of the process that opened it */
		*at = listener->next;
		sf_runtime_unlink(SF_SOCKET_LISTENER, &listener->key);
		sf_shm_conn_close(listener->conn);
		sf_shm_links_orphan(base);
	}
	pthread_mutex_unlock(&sf_shm_lock);
	free(listener);
}

void sf_shm_listeners_after_fork(void)
{
	listeners = NULL;
}
