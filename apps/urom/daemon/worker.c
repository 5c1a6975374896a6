/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon.h"
#include "ref.h"
#include "supervise.h"

struct daemon_worker *worker_create(struct daemon *daemon, const struct urom_spawn *spawn, uint64_t id)
{
	struct daemon_worker *worker = (struct daemon_worker *)calloc(1, sizeof(*worker));

	if (worker == NULL || urom_random(worker->key.bytes, sizeof(worker->key.bytes)) != DOCA_SUCCESS) {
		free(worker);
		return NULL;
	}
	worker->id = id;
	worker->plugins = spawn->plugins;
	worker->gid = spawn->gid;
	worker->has_gid = spawn->has_gid;
	worker->fd = worker->door = worker->output.fd = -1;
	worker->state = WORKER_STARTING;
	supervise_set_names(daemon, worker);
	TAILQ_INIT(&worker->requests);
	LIST_INIT(&worker->refs);
	TAILQ_INSERT_TAIL(&daemon->workers, worker, next);
	daemon->num_workers++;
	return worker;
}

void worker_free(struct daemon *daemon, struct daemon_worker *worker)
{
	for (struct daemon_ref *ref; (ref = LIST_FIRST(&worker->refs)) != NULL;)
		daemon_ref_drop(ref);
	for (struct daemon_request *request; (request = TAILQ_FIRST(&worker->requests)) != NULL;)
		worker_drop_request(worker, request);
	output_close(worker);
	if (worker->fd >= 0)
		close(worker->fd);
	if (worker->door >= 0)
		close(worker->door);
	explicit_bzero(&worker->key, sizeof(worker->key));
	if (worker->heartbeat != NULL)
		munmap(worker->heartbeat, HEARTBEAT_SIZE);
	TAILQ_REMOVE(&daemon->workers, worker, next);
	assert(daemon->num_workers > 0);
	daemon->num_workers--;
	free(worker);
}

void worker_drop_request(struct daemon_worker *worker, struct daemon_request *request)
{
	TAILQ_REMOVE(&worker->requests, request, next);
	assert(worker->num_requests > 0);
	worker->num_requests--;
	free(request);
}
