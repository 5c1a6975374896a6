/* SPDX-License-Identifier: BSD-3-Clause */
#include "ref.h"

#include <stdlib.h>

struct daemon_ref *daemon_ref_find(const struct daemon_client *client, const struct daemon_worker *worker)
{
	struct daemon_ref *ref;

	LIST_FOREACH (ref, &client->refs, of_client) {
		if (ref->worker == worker)
			return ref;
	}
	return NULL;
}

doca_error_t daemon_ref_add(struct daemon_client *client, struct daemon_worker *worker)
{
	struct daemon_ref *ref = daemon_ref_find(client, worker);

	if (ref == NULL) {
		ref = (struct daemon_ref *)calloc(1, sizeof(*ref));
		if (ref == NULL)
			return DOCA_ERROR_NO_MEMORY;
		ref->client = client;
		ref->worker = worker;
		LIST_INSERT_HEAD(&client->refs, ref, of_client);
		LIST_INSERT_HEAD(&worker->refs, ref, of_worker);
	}
	ref->count++;
	return DOCA_SUCCESS;
}

void daemon_ref_drop(struct daemon_ref *ref)
{
	LIST_REMOVE(ref, of_client);
	LIST_REMOVE(ref, of_worker);
	free(ref);
}
