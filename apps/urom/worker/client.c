/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

#include <assert.h>

#include "worker.h"

struct worker_client *clients_find(const struct worker *worker, uint64_t dest_id)
{
	struct worker_client *client;

	TAILQ_FOREACH (client, &worker->clients, next) {
		if (client->dest_id == dest_id)
			return client;
	}
	return NULL;
}

doca_error_t clients_send(struct worker *worker, uint64_t dest_id, const struct urom_head *head)
{
	const struct worker_client *client = clients_find(worker, dest_id);

	return client != NULL ? sf_comm_send(worker->comm, client->peer, head, sizeof(*head), NULL, 0) : DOCA_SUCCESS;
}

void client_answered(struct worker *worker, struct worker_client *client)
{
	if (client->num_outstanding == 0)
		return;
	client->num_outstanding--;
	assert(worker->num_outstanding > 0);
	worker->num_outstanding--;
}

doca_error_t client_answer_for_plugin(struct worker *worker, const struct worker_client *client, uint64_t type,
				      uint64_t urom_context, doca_error_t status)
{
	const struct urom_head head = urom_head_make(UROM_NOTIFY, DOCA_SUCCESS, 0, worker->id);
	const struct urom_worker_notify notify = {.type = type, .urom_context = urom_context, .status = status};

	return sf_comm_send(worker->comm, client->peer, &head, sizeof(head), &notify, sizeof(notify));
}
