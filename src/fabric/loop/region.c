/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"

#define DESCRIPTOR_MAGIC UINT32_C(0x706f6f6c)
#define DESCRIPTOR_VERSION 1

struct descriptor {
	uint32_t magic;
	uint32_t version;
	uint32_t pid; /* loop reaches no other process */
	uint32_t check;
	uint64_t id;
	uint8_t token[16];
};

/* Every owned region of the process. GUARDED_BY(loop_lock) */
static LIST_HEAD(, loop_region) regions = LIST_HEAD_INITIALIZER(regions);
static uint64_t next_id = 1;

doca_error_t loop_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain)
{
	if (ops == NULL || device == NULL || domain == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*domain = calloc(1, sizeof(**domain));
	if (*domain == NULL)
		return DOCA_ERROR_NO_MEMORY;
	(*domain)->ops = ops;
	return DOCA_SUCCESS;
}

void loop_domain_close(struct sf_domain *domain)
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

doca_error_t loop_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights, struct sf_region **base)
{
	struct loop_region *region;

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
	if (getrandom(region->token, sizeof(region->token), 0) != sizeof(region->token)) {
		free(region);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	pthread_mutex_lock(&loop_lock);
	region->id = next_id++;
	LIST_INSERT_HEAD(&regions, region, entry);
	pthread_mutex_unlock(&loop_lock);
	*base = &region->base;
	return DOCA_SUCCESS;
}

void loop_region_close(struct sf_region *base)
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

/* FNV-1a over everything but itself: a descriptor that was altered by accident is told from a wrong one. */
static uint32_t descriptor_check(const struct descriptor *descriptor)
{
	struct descriptor copy = *descriptor;
	const uint8_t *byte = (const uint8_t *)&copy;
	uint32_t sum = 2166136261u;

	copy.check = 0;
	for (size_t i = 0; i < sizeof(copy); i++)
		sum = (sum ^ byte[i]) * 16777619u;
	return sum;
}

doca_error_t loop_region_export(struct sf_region *base, void *out, size_t *len)
{
	struct loop_region *region = (struct loop_region *)base;
	struct descriptor descriptor = {DESCRIPTOR_MAGIC, DESCRIPTOR_VERSION, (uint32_t)getpid(), 0, region->id, {0}};

	if (base->imported || *len < sizeof(descriptor))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(descriptor.token, region->token, sizeof(descriptor.token));
	descriptor.check = descriptor_check(&descriptor);
	memcpy(out, &descriptor, sizeof(descriptor));
	*len = sizeof(descriptor);
	return DOCA_SUCCESS;
}

static bool token_equal(const uint8_t a[16], const uint8_t b[16])
{
	uint8_t diff = 0;

	for (int i = 0; i < 16; i++)
		diff |= a[i] ^ b[i];
	return diff == 0;
}

static doca_error_t import_attach(struct loop_region *import, const struct descriptor *descriptor)
{
	struct loop_region *owner;

	LIST_FOREACH (owner, &regions, entry) {
		if (owner->id == descriptor->id)
			break;
	}
	if (owner == NULL || descriptor->pid != (uint32_t)getpid()) {
		SF_LOG_ERR_LIMITED("the region that the descriptor names is closed, or in another process");
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!token_equal(owner->token, descriptor->token)) {
		SF_LOG_ERR_LIMITED("the descriptor's token is not the region's");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	import->owner = owner;
	import->base.mapped = owner->base.mapped;
	import->base.addr = owner->base.addr;
	import->base.len = owner->base.len;
	import->base.rights = owner->base.rights;
	import->base.imported = true;
	LIST_INSERT_HEAD(&owner->imports, import, entry);
	return DOCA_SUCCESS;
}

doca_error_t loop_region_request(struct sf_domain *domain, const void *in, size_t len, struct sf_region **base)
{
	struct descriptor descriptor;
	struct loop_region *import;
	doca_error_t result;

	if (len != sizeof(descriptor)) {
		SF_LOG_ERR_LIMITED("a region descriptor has %zu bytes, not %zu", sizeof(descriptor), len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(&descriptor, in, sizeof(descriptor));
	if (descriptor.magic != DESCRIPTOR_MAGIC || descriptor.check != descriptor_check(&descriptor)) {
		SF_LOG_ERR_LIMITED("this is not a region descriptor of loop, or it was altered on its way");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (descriptor.version != DESCRIPTOR_VERSION) {
		SF_LOG_ERR_LIMITED("region descriptor of version %u, only %u is known", descriptor.version, DESCRIPTOR_VERSION);
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	}
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
