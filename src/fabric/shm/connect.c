/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/conns.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/repair.h"
#include "fabric/tcp/conn.h"

static struct shm_conn *conn_of(struct sf_handshake *handshake)
{
	return (struct shm_conn *)((char *)handshake - offsetof(struct shm_conn, handshake));
}

static void handshake_describe(struct sf_handshake *handshake, struct sf_msg_side *side, int *fds)
{
	struct shm_conn *conn = conn_of(handshake);
	const struct shm_msg_ep ep = sf_shm_conn_describe(conn, fds);

	memcpy(side->bytes, &ep, sizeof(ep));
	fds[SHM_MSG_EP_FDS] = conn->segment_fd;
	conn->pid = handshake->channel->pid;
}

static doca_error_t handshake_set_peer(struct sf_handshake *handshake, const struct sf_msg_side *side, int *fds)
{
	if (!sf_shm_conn_set_peer(conn_of(handshake), (const struct shm_msg_ep *)side, fds[0], fds[1]))
		return DOCA_ERROR_UNEXPECTED;
	fds[1] = -1;
	return DOCA_SUCCESS;
}

static void handshake_opened(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len)
{
	struct shm_conn *conn = conn_of(handshake);

	if (conn->segment_fd >= 0)
		close(conn->segment_fd);
	conn->segment_fd = -1;
	conn->answer = status;
	conn->data_len = (uint32_t)len;
	if (len != 0)
		memcpy(conn->data, data, len);
	sf_shm_conn_post(conn, SHM_EVENT_CONNECTED);
}

static void handshake_ended(struct sf_handshake *handshake)
{
	sf_shm_conn_post(conn_of(handshake), SHM_EVENT_HANGUP);
}

static const struct sf_handshake_ops handshake_ops = {
	.provider = &sf_shm_control,
	.describe = handshake_describe,
	.meet = handshake_set_peer,
	.opened = handshake_opened,
	.ended = handshake_ended,
};

doca_error_t sf_shm_conn_answered(struct shm_conn *conn)
{
	struct shm_ep *ep = shm_ep(conn->base.ep);
	doca_error_t error = DOCA_ERROR_AGAIN;

	if (conn->todo == 0 && !atomic_load_explicit(&ep->news, memory_order_acquire))
		return DOCA_ERROR_AGAIN;
	pthread_mutex_lock(&sf_control_lock);
	if ((conn->events | conn->todo) & SHM_EVENT_CONNECTED)
		error = conn->answer == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
	pthread_mutex_unlock(&sf_control_lock);
	conn->sending = error == DOCA_SUCCESS;
	return error;
}

doca_error_t sf_shm_conn_connect(struct sf_ep *base, const char *name, const char *address, const void *data, size_t len,
				 void *user, struct sf_conn **conn)
{
	struct shm_ep *ep = shm_ep(base);
	struct shm_conn *l;
	doca_error_t error = sf_name_check(name, address, data, len);

	if (error == DOCA_SUCCESS)
		error = sf_shm_ep_hold_agent(ep);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_control_lock);
	l = sf_shm_conn_make(ep, SHM_LIFE_CONNECTING);
	if (l == NULL) {
		error = DOCA_ERROR_NO_MEMORY;
		goto unlock;
	}
	l->base.user = user;
	error = sf_shm_memfd_create("softfield-connection", SHM_CONN_SEGMENT_SIZE, &l->segment_fd);
	if (error == DOCA_SUCCESS && !sf_shm_conn_map(l, l->segment_fd, 0)) {
		SF_LOG_ERR_LIMITED("cannot map a connection's rings: %s", strerror(errno));
		error = DOCA_ERROR_NO_MEMORY;
	}
	if (error == DOCA_SUCCESS)
		error = sf_shm_ep_add_conn(ep, l);
	if (error == DOCA_SUCCESS) {
		error = sf_handshake_ask(&l->handshake, &handshake_ops, name, address, 0, data, len);
		if (error != DOCA_SUCCESS)
			ep->conn_num--;
	}
	if (error != DOCA_SUCCESS)
		sf_shm_conn_free_locked(l);
	else
		*conn = &l->base;
unlock:
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

static doca_error_t say_accept(struct shm_conn *conn, const void *data, size_t len)
{
	struct sf_msg_side side = {{0}};
	int fds[SHM_MSG_EP_FDS];
	struct shm_msg_ep ep;

	if (conn->handshake.channel == NULL)
		return DOCA_ERROR_NOT_CONNECTED;
	ep = sf_shm_conn_describe(conn, fds);
	memcpy(side.bytes, &ep, sizeof(ep));
	return sf_control_accept_answer(conn->handshake.channel, &sf_shm_control, &side, fds, data, len)
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_NOT_CONNECTED;
}

/* Maps the peer's memory that came with its request. */
static struct shm_conn *conn_from_peer(struct sf_control_listener *listener, struct sf_channel *channel,
				       const struct sf_msg_connect *ask, int *fds)
{
	struct shm_conn *conn = sf_shm_conn_make(shm_ep(listener->base.ep), SHM_LIFE_REQUEST);

	if (conn == NULL)
		return NULL;
	if (!sf_shm_memfd_check(fds[2], SHM_CONN_SEGMENT_SIZE) || !sf_shm_conn_map(conn, fds[2], 1) ||
	    !sf_shm_conn_set_peer(conn, (const struct shm_msg_ep *)&ask->side, fds[0], fds[1])) {
		sf_shm_conn_free_locked(conn);
		return NULL;
	}
	fds[1] = -1;
	conn->listener = &listener->base;
	conn->data_len = ask->data_len;
	memcpy(conn->data, ask->data, ask->data_len);
	conn->pid = channel->pid;
	sf_handshake_follow(&conn->handshake, &handshake_ops, channel);
	return conn;
}

doca_error_t sf_shm_connect_requested(struct sf_control_listener *listener, struct sf_channel *channel,
				      const struct sf_msg_connect *ask, int *fds)
{
	struct shm_conn *conn = channel->is_stream ? NULL : conn_from_peer(listener, channel, ask, fds);

	if (conn == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if ((listener->flags & SF_LISTEN_AUTO) == 0)
		sf_shm_conn_post(conn, SHM_EVENT_REQUEST);
	else if (say_accept(conn, NULL, 0) == DOCA_SUCCESS)
		sf_shm_conn_post(conn, SHM_EVENT_ACCEPTED);
	else
		sf_shm_conn_free_locked(conn);
	return DOCA_SUCCESS;
}

static doca_error_t request_accept(struct shm_conn *l, const void *data, size_t len, void *user, struct sf_conn **conn)
{
	doca_error_t error;

	sf_shm_ep_check(shm_ep(l->base.ep));
	pthread_mutex_lock(&sf_control_lock);
	assert(((struct sf_control_listener *)l->listener)->num_requests > 0);
	((struct sf_control_listener *)l->listener)->num_requests--;
	error = sf_shm_ep_add_conn(shm_ep(l->base.ep), l);
	if (error == DOCA_SUCCESS) {
		error = say_accept(l, data, len);
		if (error != DOCA_SUCCESS)
			shm_ep(l->base.ep)->conn_num--;
	}
	if (error != DOCA_SUCCESS)
		sf_shm_conn_free_locked(l);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS)
		return error;
	l->base.user = user;
	l->base.state = SF_CONN_READY;
	l->life = SHM_LIFE_READY;
	sf_shm_ep_meet(shm_ep(l->base.ep), l);
	l->sending = true;
	l->listener = NULL;
	sf_shm_due_look(l);
	*conn = &l->base;
	return DOCA_SUCCESS;
}

static void request_reject(struct shm_conn *conn, const void *data, size_t len)
{
	struct sf_control_listener *listener = (struct sf_control_listener *)conn->listener;

	pthread_mutex_lock(&sf_control_lock);
	assert(listener->num_requests > 0);
	listener->num_requests--;
	sf_control_reject(conn->handshake.channel, DOCA_ERROR_CONNECTION_ABORTED, data, len);
	sf_shm_conn_free_locked(conn);
	pthread_mutex_unlock(&sf_control_lock);
}

doca_error_t sf_shm_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn)
{
	if (conn == NULL && len > SF_PRIVATE_MAX)
		len = SF_PRIVATE_MAX;
	if (len > SF_PRIVATE_MAX || (len != 0 && data == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	if (conn != NULL && request->far != NULL)
		return sf_tcp_conn_accept(request->far, data, len, user, conn);
	if (conn != NULL)
		return request_accept(request->conn, data, len, user, conn);
	if (request->far != NULL)
		sf_tcp_conn_reject(request->far, data, len);
	else
		request_reject(request->conn, data, len);
	return DOCA_SUCCESS;
}

/* The listener closes: rejects its unanswered requests, closes unreported connections. */
static void conns_orphan(const struct sf_listener *listener)
{
	for (struct shm_conn *conn = sf_shm_conns, *next; conn != NULL; conn = next) {
		next = conn->next_all;
		if (conn->listener != listener)
			continue;
		conn->listener = NULL;
		if (conn->life == SHM_LIFE_REQUEST && (conn->events & SHM_EVENT_ACCEPTED) == 0 &&
		    (conn->todo & SHM_EVENT_ACCEPTED) == 0) {
			sf_control_reject(conn->handshake.channel, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
			sf_shm_conn_free_locked(conn);
		}
	}
}

doca_error_t sf_shm_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user, struct sf_listener **listener)
{
	const struct shm_domain *domain = shm_domain(ep->domain);
	const struct sf_net_device *device = domain->device.name != NULL ? &domain->device : NULL;
	doca_error_t error = sf_shm_ep_hold_agent(shm_ep(ep));
	struct sf_control_listener *l;
	struct tcp_ep *far;

	if (error == DOCA_SUCCESS && device != NULL)
		error = sf_tcp_ep_get(shm_ep(ep), &far);
	if (error == DOCA_SUCCESS)
		error = sf_control_listener_open(&sf_shm_control, device, ep, name, flags, user, &l);
	if (error == DOCA_SUCCESS)
		*listener = &l->base;
	return error;
}

void sf_shm_listener_close(struct sf_listener *base)
{
	pthread_mutex_lock(&sf_control_lock);
	if (sf_control_listener_close((struct sf_control_listener *)base)) {
		conns_orphan(base);
		if (shm_ep(base->ep)->far != NULL)
			sf_tcp_conns_orphan(shm_ep(base->ep)->far, base);
	}
	pthread_mutex_unlock(&sf_control_lock);
	free(base);
}
