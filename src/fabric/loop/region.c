/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/descriptor.h"

static const struct sf_descriptor_form form = {.magic = "SFLO", .version = 1, .what = "this process"};

/* Every owned region of the process. */
static LIST_HEAD(, loop_region) regions GUARDED_BY(loop_lock) = LIST_HEAD_INITIALIZER(regions);
static uint64_t next_id GUARDED_BY(loop_lock) = 1;

doca_error_t sf_loop_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain)
{
	if (ops == NULL || device == NULL || domain == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*domain = calloc(1, sizeof(**domain));
	if (*domain == NULL)
		return DOCA_ERROR_NO_MEMORY;
	(*domain)->ops = ops;
	return DOCA_SUCCESS;
}

void sf_loop_domain_close(struct sf_domain *domain)
{
	free(domain);
}

static struct loop_region *region_new(struct sf_domain *domain)
{
	struct loop_region *region = calloc(1, sizeof(*region));

	if (region == NULL)
		return NULL;
	region->base.ops = domain->ops;
	region->base.domain = domain;
	LIST_INIT(&region->imports);
	return region;
}

doca_error_t sf_loop_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights, struct sf_region **base)
{
	struct loop_region *region;
	doca_error_t error;

	if (addr == NULL || len == 0 || (uintptr_t)addr + len < len) {
		SF_LOG_ERR("region of %zu bytes at %p is empty or wraps around", len, addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	region = region_new(domain);
	if (region == NULL)
		return DOCA_ERROR_NO_MEMORY;
	region->base.mapped = addr;
	region->base.addr = (uintptr_t)addr;
	region->base.len = len;
	region->base.rights = rights;
	error = sf_key_random(&region->base.token);
	if (error != DOCA_SUCCESS) {
		free(region);
		return error;
	}
	pthread_mutex_lock(&loop_lock);
	region->id = next_id++;
	LIST_INSERT_HEAD(&regions, region, entry);
	pthread_mutex_unlock(&loop_lock);
	*base = &region->base;
	return DOCA_SUCCESS;
}

void sf_loop_region_close(struct sf_region *base)
{
	struct loop_region *region = (struct loop_region *)base, *import;

	pthread_mutex_lock(&loop_lock);
	if (!base->imported || region->owner != NULL)
		LIST_REMOVE(region, entry);
	while ((import = LIST_FIRST(&region->imports)) != NULL) {
		LIST_REMOVE(import, entry);
		import->owner = NULL;
	}
	pthread_mutex_unlock(&loop_lock);
	free(region);
}

/* Of the process: loop connects to no other, not even to a forked child. */
static struct sf_key process_key(void)
{
	struct sf_key key = {{0}};
	const pid_t pid = getpid();

	memcpy(key.bytes, &pid, sizeof(pid));
	return key;
}

doca_error_t sf_loop_region_export(struct sf_region *base, void *out, size_t *len)
{
	const struct loop_region *region = (const struct loop_region *)base;
	const struct sf_descriptor descriptor = {.agent = process_key(),
						 .token = base->token,
						 .region = region->id,
						 .addr = base->addr,
						 .len = base->len,
						 .rights = base->rights};

	if (base->imported || *len < SF_DESCRIPTOR_SIZE(0))
		return DOCA_ERROR_INVALID_VALUE;
	sf_descriptor_pack(&form, &descriptor, NULL, out);
	*len = SF_DESCRIPTOR_SIZE(0);
	return DOCA_SUCCESS;
}

static REQUIRES(loop_lock) doca_error_t import_attach(struct loop_region *import, const struct sf_descriptor *descriptor)
{
	const struct sf_key here = process_key();
	struct loop_region *owner;

	LIST_FOREACH (owner, &regions, entry) {
		if (owner->id == descriptor->region)
			break;
	}
	if (owner == NULL || !sf_key_equal(&here, &descriptor->agent)) {
		SF_LOG_ERR_LIMITED("the region that the descriptor names is closed, or in another process");
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!sf_key_equal(&owner->base.token, &descriptor->token)) {
		SF_LOG_ERR_LIMITED("the descriptor's token is not the region's");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	assert(import->owner == NULL && !owner->base.imported);
	import->owner = owner;
	import->base.mapped = owner->base.mapped;
	import->base.addr = owner->base.addr;
	import->base.len = owner->base.len;
	import->base.rights = owner->base.rights;
	import->base.imported = true;
	LIST_INSERT_HEAD(&owner->imports, import, entry);
	return DOCA_SUCCESS;
}

doca_error_t sf_loop_region_request(struct sf_domain *domain, const void *in, size_t len, struct sf_region **base)
{
	struct sf_descriptor descriptor;
	struct loop_region *import;
	doca_error_t result = sf_descriptor_unpack(&form, in, len, &descriptor);

	if (result != DOCA_SUCCESS)
		return result;
	import = region_new(domain);
	if (import == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&loop_lock);
	result = import_attach(import, &descriptor);
	pthread_mutex_unlock(&loop_lock);
	if (result != DOCA_SUCCESS) {
		free(import);
		return result;
	}
	*base = &import->base;
	return DOCA_SUCCESS;
}
