/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/thread_safety.h"
#include "fabric/verbs/import.h"
#include "fabric/verbs/mr.h"

#define GONE_LIMIT_MS 1000 /* for importers to see that a region ends */

static LIST_HEAD(, vb_region) exports GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(exports);
static uint64_t next_id GUARDED_BY(sf_control_lock) = 1;

/* ---- registrations ---- */

static int access_of(uint32_t rights)
{
	int access = IBV_ACCESS_LOCAL_WRITE;

	if ((rights & SF_RIGHT_READ) != 0)
		access |= IBV_ACCESS_REMOTE_READ;
	if ((rights & SF_RIGHT_WRITE) != 0)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if ((rights & SF_RIGHT_ATOMIC) != 0)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	return access;
}

/* With the domain's lock. */
static struct vb_mr *mr_take(struct vb_region *region)
{
	if (region->mr == NULL)
		region->mr = sf_verbs_mr_make(vb_domain(region->base.domain),
					      (void *)(uintptr_t)region->base.addr, // NOLINT: the program's own
					      region->base.len, access_of(region->base.rights));
	if (region->mr != NULL)
		atomic_fetch_add(&region->mr->refs, 1);
	return region->mr;
}

struct vb_mr *sf_verbs_region_mr(struct vb_region *region)
{
	struct vb_domain *domain = vb_domain(region->base.domain);

	pthread_mutex_lock(&domain->lock);

	struct vb_mr *mr = mr_take(region);

	pthread_mutex_unlock(&domain->lock);
	return mr;
}

struct vb_mr *sf_verbs_mr_find(struct vb_domain *domain, const void *addr, size_t len)
{
	struct vb_region *region;
	struct vb_mr *mr = NULL;

	pthread_mutex_lock(&domain->lock);
	LIST_FOREACH (region, &domain->regions, entry) {
		if (sf_range_inside((uintptr_t)addr, len, region->base.addr, region->base.len))
			break;
	}
	if (region != NULL)
		mr = mr_take(region);
	pthread_mutex_unlock(&domain->lock);
	return mr;
}

/* ---- regions ---- */

doca_error_t sf_verbs_region_register(struct sf_domain *base, void *addr, size_t len, uint32_t rights, struct sf_region **out)
{
	struct vb_domain *domain = vb_domain(base);
	struct vb_region *region;
	doca_error_t error;

	if (addr == NULL || len == 0 || (uintptr_t)addr + len < len) {
		SF_LOG_ERR("region of %zu bytes at %p is empty or wraps around", len, addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	region = calloc(1, sizeof(*region));
	if (region == NULL)
		return DOCA_ERROR_NO_MEMORY;
	region->base =
		(struct sf_region){.ops = base->ops, .domain = base, .addr = (uintptr_t)addr, .len = len, .rights = rights};
	error = sf_key_random(&region->base.token);
	if (error != DOCA_SUCCESS) {
		free(region);
		return error;
	}
	LIST_INIT(&region->served);
	pthread_mutex_lock(&domain->lock);
	LIST_INSERT_HEAD(&domain->regions, region, entry);
	pthread_mutex_unlock(&domain->lock);
	*out = &region->base;
	return DOCA_SUCCESS;
}

doca_error_t sf_verbs_region_mkey(struct sf_region *base, uint32_t *mkey)
{
	struct vb_mr *mr;

	if (base->imported)
		return DOCA_ERROR_NOT_SUPPORTED;
	mr = sf_verbs_region_mr((struct vb_region *)base);
	if (mr == NULL)
		return DOCA_ERROR_OPERATING_SYSTEM;
	*mkey = mr->mr->lkey;
	sf_verbs_mr_put(mr); /* the region owns it */
	return DOCA_SUCCESS;
}

doca_error_t sf_verbs_region_export(struct sf_region *base, void *out, size_t *len)
{
	struct vb_region *region = (struct vb_region *)base;
	struct vb_descriptor descriptor = {.base = {.addr = base->addr, .len = base->len, .rights = base->rights}};
	const struct sf_net_device device = vb_net_device(vb_domain(base->domain));
	doca_error_t error;
	struct vb_mr *mr;

	if (base->imported || *len < VB_DESCRIPTOR_SIZE) {
		SF_LOG_ERR(base->imported ? "an imported region cannot be exported" : "no room for a descriptor of %d bytes",
			   VB_DESCRIPTOR_SIZE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	mr = sf_verbs_region_mr(region);
	if (mr == NULL)
		return DOCA_ERROR_OPERATING_SYSTEM;
	sf_verbs_mr_put(mr); /* the region owns it */
	pthread_mutex_lock(&sf_control_lock);
	error = sf_net_address(&device, descriptor.address);
	if (error == DOCA_SUCCESS && !region->exported) {
		region->exported = true;
		region->id = next_id++;
		LIST_INSERT_HEAD(&exports, region, export);
	}
	descriptor.base.agent = *sf_control_id();
	descriptor.base.token = base->token;
	descriptor.base.region = region->id;
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS)
		return error;
	sf_verbs_descriptor_pack(&descriptor, out);
	*len = VB_DESCRIPTOR_SIZE;
	return DOCA_SUCCESS;
}

/* ---- importers ---- */

static void served_end(struct vb_served *served)
{
	LIST_REMOVE(served, entry);
	sf_channel_close(served->channel);
	sf_verbs_lib.destroy_qp(served->qp);
	free(served);
	pthread_cond_broadcast(&sf_control_changed);
}

static void region_ring(struct vb_region *region)
{
	region->armed = false;
	if (region->doorbell != NULL)
		region->doorbell->ring(region->doorbell);
}

/* Once for each ARM: further rings of an importer are ignored. */
static void served_rings(struct vb_served *served, bool busy)
{
	if (!served->armed)
		return;
	served->armed = false;
	served->busy = busy;
	region_ring(served->region);
}

static bool served_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	(void)fds;
	if (msg->kind == VB_MSG_GONE_SEEN)
		served_end(channel->owner);
	else if (msg->kind == VB_MSG_RING)
		served_rings(channel->owner, msg->value != 0);
	return true;
}

/* It may have died between a change and its RING. */
static void served_ended(struct sf_channel *channel)
{
	struct vb_served *served = channel->owner;
	struct vb_region *region = served->region;

	served_end(served);
	region_ring(region);
}

/* If ARM cannot be sent to an importer, its connection is closed, which rings. */
static void served_arm(struct vb_served *served)
{
	struct sf_msg arm;

	if (served->armed)
		return;
	served->armed = true;
	(void)vb_msg_send(served->channel, VB_MSG_ARM, &arm, sizeof(arm), 0);
}

static bool importers_arm(struct vb_region *region)
{
	struct vb_served *served;
	bool busy = false;

	region->armed = true;
	LIST_FOREACH (served, &region->served, entry) {
		served_arm(served);
		busy = busy || served->busy;
	}
	return busy;
}

doca_error_t sf_verbs_region_arm(struct sf_region *base, struct sf_region_doorbell *doorbell)
{
	bool busy = false;

	if (vb_domain(base->domain)->generation != sf_control_generation())
		return DOCA_SUCCESS; /* belongs to the parent: unusable here */
	pthread_mutex_lock(&sf_control_lock);
	if (base->imported) {
		((struct vb_import *)base)->doorbell = doorbell;
	} else {
		((struct vb_region *)base)->doorbell = doorbell;
		busy = importers_arm((struct vb_region *)base);
	}
	pthread_mutex_unlock(&sf_control_lock);
	return busy ? DOCA_ERROR_AGAIN : DOCA_SUCCESS;
}

static struct vb_region *export_find(uint64_t id)
{
	struct vb_region *region;

	LIST_FOREACH (region, &exports, export) {
		if (region->id == id)
			return region;
	}
	return NULL;
}

static doca_error_t region_serve(struct vb_region *region, struct sf_channel *channel, const struct vb_msg_attach *ask,
				 struct vb_msg_attached *answer)
{
	struct vb_domain *domain = vb_domain(region->base.domain);
	struct vb_served *served = calloc(1, sizeof(*served));
	uint32_t psn = sf_verbs_qp_random_psn(), inline_max;
	doca_error_t error = served != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;

	if (error == DOCA_SUCCESS)
		error = sf_verbs_qp_create(domain, domain->idle_cq, NULL, 1, &served->qp, &inline_max);
	if (error != DOCA_SUCCESS) {
		free(served);
		return error;
	}
	error = sf_verbs_qp_join(domain, served->qp, psn, &ask->end, VB_RNR_FOR_EVER);
	if (error != DOCA_SUCCESS) {
		sf_verbs_lib.destroy_qp(served->qp);
		free(served);
		return error;
	}
	sf_verbs_domain_end(domain, served->qp, psn, &answer->end);
	answer->addr = region->base.addr;
	answer->len = region->base.len;
	answer->rights = region->base.rights;
	answer->rkey = region->mr->mr->rkey; /* an exported region has it until it is closed */
	served->region = region;
	served->channel = channel;
	channel->owner = served;
	channel->message = served_message;
	channel->ended = served_ended;
	LIST_INSERT_HEAD(&region->served, served, entry);
	return DOCA_SUCCESS;
}

void sf_verbs_region_asked(struct sf_channel *channel, const struct vb_msg_attach *ask)
{
	struct vb_region *region = export_find(ask->region);
	struct vb_msg_attached answer = {0};
	doca_error_t status;

	sf_channel_adopt(channel);
	if (region == NULL)
		status = DOCA_ERROR_NOT_FOUND;
	else if (!sf_key_equal(&region->base.token, &ask->token))
		status = DOCA_ERROR_NOT_PERMITTED;
	else
		status = region_serve(region, channel, ask, &answer);
	(void)vb_msg_send(channel, VB_MSG_ATTACHED, &answer, sizeof(answer), status);
	if (status != DOCA_SUCCESS)
		sf_channel_close(channel);
	else if (region->armed)
		served_arm(channel->owner);
}

/* Notifies the importers, and waits until each has answered, is gone, or the time is over. */
static void importers_end(struct vb_region *region)
{
	struct vb_served *served, *next;
	struct timespec limit;

	for (served = LIST_FIRST(&region->served); served != NULL; served = next) {
		struct sf_msg gone;

		next = LIST_NEXT(served, entry);
		if (!vb_msg_send(served->channel, VB_MSG_GONE, &gone, sizeof(gone), 0))
			served_end(served);
	}
	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += GONE_LIMIT_MS / 1000;
	while (!LIST_EMPTY(&region->served)) {
		if (pthread_cond_clockwait(&sf_control_changed, &sf_control_lock, CLOCK_MONOTONIC, &limit) == ETIMEDOUT)
			break;
	}
	while (!LIST_EMPTY(&region->served))
		served_end(LIST_FIRST(&region->served));
}

void sf_verbs_region_close(struct sf_region *base)
{
	struct vb_domain *domain = vb_domain(base->domain);
	struct vb_region *region = (struct vb_region *)base;

	if (base->imported) {
		sf_verbs_import_close(base);
		return;
	}
	if (domain->generation != sf_control_generation())
		return; /* the parent's */
	pthread_mutex_lock(&sf_control_lock);
	if (region->exported) {
		LIST_REMOVE(region, export);
		importers_end(region);
	}
	pthread_mutex_unlock(&sf_control_lock);
	pthread_mutex_lock(&domain->lock);
	LIST_REMOVE(region, entry);
	pthread_mutex_unlock(&domain->lock);
	sf_verbs_mr_put(region->mr);
	free(region);
}
