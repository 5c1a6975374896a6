/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/runtime.h"
#include "fabric/verbs/mr.h"

#define ACCESS_DEPTH 16

static LIST_HEAD(, vb_import) imports GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(imports);

/* With the lock. */
static void access_settle(struct vb_import *import, doca_error_t status)
{
	import->status = status;
	atomic_store(&import->state, status == DOCA_SUCCESS ? VB_IMPORT_READY : VB_IMPORT_FAILED);
	pthread_cond_broadcast(&sf_control_changed);
}

static void log_not_there(bool is_far, doca_error_t why)
{
	SF_LOG_ERR_LIMITED("the process that exported the memory is %s",
			   !is_far ? "gone, or has another runtime folder and no network address"
			   : why == DOCA_ERROR_TIME_OUT
				   ? "not reachable at any of its addresses: is there a route, or a firewall in between?"
				   : "gone");
}

static void import_ended(struct sf_channel *channel)
{
	struct vb_import *import = channel->owner;

	import->channel = NULL;
	atomic_store(&import->gone, true);
	atomic_store(&import->dead, true);
	if (import->doorbell != NULL)
		import->doorbell->ring(import->doorbell);
	if (atomic_load(&import->state) != VB_IMPORT_ASKED)
		return;
	log_not_there(true, channel->why);
	access_settle(import, DOCA_ERROR_NOT_FOUND);
}

static doca_error_t import_attached(struct vb_import *import, const struct vb_msg_attached *answer)
{
	doca_error_t status = sf_msg_status(answer->head.value);

	if (status == DOCA_ERROR_NOT_FOUND)
		SF_LOG_ERR_LIMITED("the region that the descriptor names is closed");
	else if (status != DOCA_SUCCESS)
		SF_LOG_ERR_LIMITED("the owner of the region rejected the import: %s", doca_error_get_name(status));
	if (status != DOCA_SUCCESS)
		return status;
	if (answer->addr != import->base.addr || answer->len != import->base.len || answer->rights != import->base.rights) {
		SF_LOG_ERR_LIMITED("the owner's answer is about another region than the descriptor");
		return DOCA_ERROR_INVALID_VALUE;
	}
	import->owner = answer->end.domain;
	import->rkey = answer->rkey;
	return sf_verbs_qp_join(vb_domain(import->base.domain), import->qp, import->psn, &answer->end, VB_RNR_FOR_EVER);
}

static void answer_gone(struct vb_import *import)
{
	struct sf_msg seen;

	if (atomic_load(&import->inflight) != 0) {
		import->gone_unanswered = true;
		sf_control_wake();
		return;
	}
	import->gone_unanswered = false;
	(void)vb_msg_send(import->channel, VB_MSG_GONE_SEEN, &seen, sizeof(seen), 0);
}

/* A thread that changes bytes after this check finds armed set; otherwise the next ARM finds another value of moved. */
static void owner_ring(struct vb_import *import)
{
	uint32_t moved = atomic_load(&import->moved);
	struct sf_msg ring;

	if (!atomic_load(&import->armed) || moved == import->noted)
		return;
	import->noted = moved;
	atomic_store(&import->armed, false);
	(void)vb_msg_send(import->channel, VB_MSG_RING, &ring, sizeof(ring), atomic_load(&import->writers));
}

static bool import_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct vb_import *import = channel->owner;

	(void)fds;
	if (msg->kind == VB_MSG_ATTACHED && atomic_load(&import->state) == VB_IMPORT_ASKED) {
		access_settle(import, import_attached(import, (const struct vb_msg_attached *)msg));
	} else if (msg->kind == VB_MSG_GONE) {
		atomic_store(&import->gone, true);
		answer_gone(import);
	} else if (msg->kind == VB_MSG_ARM) {
		atomic_store(&import->armed, true);
		owner_ring(import);
	}
	return true;
}

bool sf_verbs_imports_tick(void)
{
	struct vb_import *import;
	bool timed = false;

	LIST_FOREACH (import, &imports, entry) {
		owner_ring(import);
		if (!import->gone_unanswered)
			continue;
		if (atomic_load(&import->inflight) == 0)
			answer_gone(import);
		else
			timed = true;
	}
	return timed;
}

doca_error_t sf_verbs_import_enter(struct vb_import *import)
{
	switch (atomic_load(&import->state)) {
	case VB_IMPORT_ASKED:
		return DOCA_ERROR_AGAIN;
	case VB_IMPORT_FAILED:
		return DOCA_ERROR_CONNECTION_ABORTED;
	default:
		break;
	}
	/* Counted before the check: the agent reads the two in the reverse order. */
	atomic_fetch_add(&import->inflight, 1);
	if (!atomic_load(&import->gone))
		return DOCA_SUCCESS;
	sf_verbs_import_leave(import);
	return DOCA_ERROR_CONNECTION_ABORTED;
}

static doca_error_t open_queues(struct vb_import *import)
{
	struct vb_domain *domain = vb_domain(import->base.domain);
	uint32_t inline_max;

	import->cq = sf_verbs_lib.create_cq(domain->context, 2 * ACCESS_DEPTH, NULL, NULL, 0);
	if (import->cq == NULL) {
		SF_LOG_ERR("cannot create a completion queue: %s", strerror(errno));
		return DOCA_ERROR_DRIVER;
	}
	import->psn = sf_verbs_qp_random_psn();
	return sf_verbs_qp_create(domain, import->cq, NULL, ACCESS_DEPTH, &import->qp, &inline_max);
}

static doca_error_t import_attach(struct vb_import *import, const struct vb_descriptor *descriptor)
{
	struct vb_msg_attach msg = {.token = descriptor->base.token, .region = descriptor->base.region};
	struct vb_domain *domain = vb_domain(import->base.domain);
	doca_error_t error;

	sf_verbs_domain_end(domain, import->qp, import->psn, &msg.end);
	pthread_mutex_lock(&sf_control_lock);
	error = sf_channel_call(SF_SOCKET_AGENT, &descriptor->base.agent, descriptor->address, false, domain->scope, import,
				&import->channel);
	if (error == DOCA_SUCCESS) {
		import->channel->message = import_message;
		import->channel->ended = import_ended;
		LIST_INSERT_HEAD(&imports, import, entry);
		(void)vb_msg_send(import->channel, VB_MSG_ATTACH, &msg, sizeof(msg), 0);
	}
	pthread_mutex_unlock(&sf_control_lock);
	if (error == DOCA_ERROR_NOT_FOUND || error == DOCA_ERROR_TIME_OUT)
		log_not_there(descriptor->address[0] != '\0', error);
	if (error == DOCA_ERROR_TIME_OUT)
		error = DOCA_ERROR_NOT_FOUND;
	return error;
}

static void import_free(struct vb_import *import)
{
	if (import->qp != NULL)
		sf_verbs_lib.destroy_qp(import->qp);
	if (import->cq != NULL)
		sf_verbs_lib.destroy_cq(import->cq);
	sf_verbs_mr_put(import->bounce_mr);
	free(import->bounce);
	pthread_mutex_destroy(&import->access);
	free(import);
}

doca_error_t sf_verbs_region_request(struct sf_domain *domain, const void *bytes, size_t len, struct sf_region **region)
{
	struct vb_descriptor descriptor;
	struct vb_import *import;
	doca_error_t error = sf_verbs_descriptor_unpack(bytes, len, &descriptor);

	if (error != DOCA_SUCCESS)
		return error;
	import = calloc(1, sizeof(*import));
	if (import == NULL)
		return DOCA_ERROR_NO_MEMORY;
	import->base = (struct sf_region){.ops = domain->ops,
					  .domain = domain,
					  .addr = descriptor.base.addr,
					  .len = descriptor.base.len,
					  .rights = descriptor.base.rights,
					  .imported = true};
	pthread_mutex_init(&import->access, NULL);
	error = open_queues(import);
	if (error == DOCA_SUCCESS)
		error = import_attach(import, &descriptor);
	if (error != DOCA_SUCCESS) {
		import_free(import);
		return error;
	}
	*region = &import->base;
	return DOCA_SUCCESS;
}

/* Returns the answer of the owner's agent, if there is one. */
static doca_error_t import_status(const struct vb_import *import)
{
	switch (atomic_load(&import->state)) {
	case VB_IMPORT_ASKED:
		return DOCA_ERROR_AGAIN;
	case VB_IMPORT_READY:
		return DOCA_SUCCESS;
	default:
		return import->status;
	}
}

doca_error_t sf_verbs_region_ready(struct sf_region *region, uint64_t limit_ns)
{
	struct vb_import *import = (struct vb_import *)region;
	struct sf_liveness answering;
	doca_error_t error;

	if (!region->imported)
		return DOCA_SUCCESS;
	error = import_status(import);
	if (error != DOCA_ERROR_AGAIN || limit_ns == 0)
		return error;
	sf_liveness_begin(&answering);
	pthread_mutex_lock(&sf_control_lock);
	do
		error = import_status(import);
	while (error == DOCA_ERROR_AGAIN && sf_control_await(import->channel, &answering, limit_ns));
	pthread_mutex_unlock(&sf_control_lock);
	if (error == DOCA_ERROR_AGAIN)
		SF_LOG_ERR_LIMITED("the owner of the memory does not answer: is its process stopped?");
	return error;
}

void sf_verbs_import_close(struct sf_region *region)
{
	struct vb_import *import = (struct vb_import *)region;

	if (vb_domain(region->domain)->generation != sf_control_generation())
		return; /* the parent's */
	pthread_mutex_lock(&sf_control_lock);
	LIST_REMOVE(import, entry);
	sf_channel_close(import->channel);
	pthread_mutex_unlock(&sf_control_lock);
	import_free(import);
}
