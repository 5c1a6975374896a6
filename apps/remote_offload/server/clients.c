/* SPDX-License-Identifier: BSD-3-Clause */
#include "clients.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/log_limit.h"
#include "server.h"

DOCA_LOG_REGISTER(SERVER::CLIENTS);

#define ACCEPT_PAUSE_MS 100
#define ACCEPTS_PER_TURN 64
#define FULL_LOG_MS 60000 /* at the limit each client that leaves admits another: not a line for each */
#define FILES_LOOKED_AT 65536u
/* Descriptors not used for clients: the next orchestrator connects before the last one's are closed, and others are rejected. */
#define FILES_RESERVED 16u
/* An orchestrator uses at least these for each queue. */
#define FILES_PER_QUEUE 12u

static uint32_t files_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT32_MAX ? (uint32_t)limit.rlim_cur : INT32_MAX;
}

/* One system call checks all of them, without /proc. */
static uint32_t count_open_files(void)
{
	uint32_t limit = files_limit(), count = limit < FILES_LOOKED_AT ? limit : FILES_LOOKED_AT, open = 0;
	struct pollfd *fds = calloc(count, sizeof(*fds));

	if (!fds)
		return count;
	for (uint32_t i = 0; i < count; i++)
		fds[i].fd = (int)i;
	if (poll(fds, count, 0) < 0)
		open = count;
	else
		for (uint32_t i = 0; i < count; i++)
			open += !(fds[i].revents & POLLNVAL);
	free(fds);
	return open;
}

static uint32_t clients_connected(const struct server *server)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < server->worker_count; i++)
		count += atomic_load(&server->workers[i]->connection_count);
	return count;
}

doca_error_t clients_check_files(const struct server *server)
{
	uint32_t limit = files_limit(), needed = count_open_files() + FILES_PER_QUEUE * server->worker_count + FILES_RESERVED;

	if (limit > needed)
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("the limit of %u open files is too low for %u queues and a client: raise it (ulimit -n) above %u", limit,
		     server->worker_count, needed);
	return DOCA_ERROR_FULL;
}

doca_error_t clients_set_max(struct server *server)
{
	uint32_t wanted = server->config->max_connections ? server->config->max_connections : UINT32_MAX, limit, used, free_files;
	struct clients *clients = &server->clients;

	if (clients->max > 0) /* the next orchestrator needs as many as the first */
		return DOCA_SUCCESS;
	limit = files_limit();
	used = count_open_files() + FILES_RESERVED;
	free_files = limit > used ? limit - used : 0;
	if (free_files == 0) {
		DOCA_LOG_ERR("the limit of %u open files leaves none for clients: raise it (ulimit -n) above %u", limit, used);
		return DOCA_ERROR_FULL;
	}
	clients->files_limit = free_files < wanted;
	clients->max = clients->files_limit ? free_files : wanted;
	if (clients->files_limit && server->config->max_connections > 0)
		DOCA_LOG_WARN("--max-connections %u exceeds the limit of %u open files: up to %u clients are served", wanted,
			      limit, free_files);
	return DOCA_SUCCESS;
}

static struct worker *least_loaded(struct server *server)
{
	struct worker *least = server->workers[0];

	for (uint32_t i = 1; i < server->worker_count; i++) {
		if (atomic_load(&server->workers[i]->connection_count) < atomic_load(&least->connection_count))
			least = server->workers[i];
	}
	return least;
}

static void notify_closed(struct server *server, bool wanted)
{
	for (uint32_t i = 0; i < server->worker_count; i++)
		atomic_store(&server->workers[i]->notify_closed, wanted);
}

static void log_full(struct clients *clients)
{
	if (clients->full_logged_ms != 0 && clock_ms() - clients->full_logged_ms < FULL_LOG_MS)
		return;
	clients->full_logged_ms = clock_ms();
	DOCA_LOG_WARN("%u clients are connected, %s: more wait until one leaves", clients->max,
		      clients->files_limit ? "as many as the limit on open files allows (ulimit -n)" : "--max-connections");
}

static bool is_full(struct server *server)
{
	struct clients *clients = &server->clients;
	uint32_t count = clients_connected(server);

	if (count < clients->max) {
		if (clients->full)
			notify_closed(server, false);
		clients->full = false;
		return false;
	}
	if (!clients->full) {
		clients->full = true;
		notify_closed(server, true);
		if (clients_connected(server) < clients->max) /* one left before notify_closed was set */
			return is_full(server);
		log_full(clients);
	}
	return true;
}

void clients_accept(struct server *server)
{
	for (int i = 0; i < ACCEPTS_PER_TURN && server->listener.open && !is_full(server); i++) {
		union peer_address peer;
		int fd;

		switch (listener_accept(&server->listener, &fd, &peer)) {
		case LISTENER_ACCEPTED:
			worker_add(least_loaded(server), fd, &peer);
			break;
		case LISTENER_EXHAUSTED:
			LIMITED_LOG_WARN("new clients wait: %s", strerror(errno));
			server->clients.accept_after_ms = clock_ms() + ACCEPT_PAUSE_MS;
			return;
		case LISTENER_NOBODY:
			return;
		}
	}
}

bool clients_are_accepted(struct server *server, int *retry_ms)
{
	struct clients *clients = &server->clients;

	*retry_ms = -1;
	if (!server->listener.open || is_full(server))
		return false;
	if (clients->accept_after_ms && clock_ms() < clients->accept_after_ms) {
		*retry_ms = ACCEPT_PAUSE_MS;
		return false;
	}
	clients->accept_after_ms = 0;
	return true;
}
