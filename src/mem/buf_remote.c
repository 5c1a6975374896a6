/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/buf_remote.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "core/dev.h"
#include "mem/mmap_private.h"

struct sf_buf_remote {
	uint32_t id;
	uint32_t users;	      /* references: the array, and users of the region; guarded by lock */
	struct doca_dev *dev; /* held */
	struct doca_gpu *gpu;
	struct sf_region *region; /* NULL: memory of a real GPU */
	uint64_t addr;		  /* of its first byte, for kernels; 0: they have none */
	void *mapped;		  /* the region's pages that were mapped for kernels, or NULL */
	void *shared;		  /* a real GPU's memory, or NULL */
	void *origin;		  /* its descriptor */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_TABLE, &lock, NULL);
static struct sf_buf_remote *remotes[SF_BUF_REMOTES_MAX] GUARDED_BY(lock);
static uint32_t last_id GUARDED_BY(lock);

/* An id is never 0, and is reused as late as possible. */
static doca_error_t table_add(struct sf_buf_remote *remote)
{
	doca_error_t result = DOCA_ERROR_NO_MEMORY;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < SF_BUF_REMOTES_MAX && result != DOCA_SUCCESS; i++) {
		if (++last_id == 0)
			last_id = 1;
		if (remotes[last_id % SF_BUF_REMOTES_MAX] != NULL)
			continue;
		assert(remote->id == 0 && remote->users == 1);
		remotes[last_id % SF_BUF_REMOTES_MAX] = remote;
		remote->id = last_id;
		result = DOCA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	if (result != DOCA_SUCCESS)
		SF_LOG_ERR("%d buf arrays of imported memory are started, which is the maximum: stop some", SF_BUF_REMOTES_MAX);
	return result;
}

static void remote_end(struct sf_buf_remote *remote)
{
	if (remote->mapped != NULL)
		remote->gpu->ops->host_unmap(remote->gpu, remote->mapped);
	if (remote->shared != NULL)
		remote->gpu->ops->close_shared(remote->gpu, remote->origin, remote->shared);
	if (remote->region != NULL)
		sf_region_close(remote->region);
	sf_dev_release(remote->dev);
	free(remote->origin);
	free(remote);
}

/* Kernels of a software GPU use the mapping as it is; a real one maps its pages, which fails where they are read-only. */
static bool map_pages(struct sf_buf_remote *remote, void *addr, uint64_t *gpu_addr)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)addr & ~(page - 1);
	uintptr_t past = ((uintptr_t)addr + remote->region->len + page - 1) & ~(page - 1);
	void *at;

	if (remote->gpu->ops->host_map(remote->gpu, (void *)first, past - first, &at) != DOCA_SUCCESS)
		return false;
	remote->mapped = (void *)first;
	*gpu_addr = (uintptr_t)at + ((uintptr_t)addr - first);
	return true;
}

static doca_error_t open_host(struct sf_buf_remote *remote, const struct doca_mmap *mmap, uint64_t *addr, bool *direct)
{
	struct sf_domain *domain;
	void *mapped;
	doca_error_t result = sf_dev_domain(remote->dev, &domain);

	if (result == DOCA_SUCCESS)
		result = sf_region_import(domain, mmap->origin, mmap->origin_len, &remote->region);
	if (result != DOCA_SUCCESS)
		return result;
	*direct = sf_region_map(remote->region, &mapped) == DOCA_SUCCESS && map_pages(remote, mapped, addr);
	if (*direct)
		remote->addr = *addr;
	else
		*addr = remote->region->addr;
	return DOCA_SUCCESS;
}

static doca_error_t open_gpu(struct sf_buf_remote *remote, const struct doca_mmap *mmap, uint64_t *addr, bool *direct)
{
	doca_error_t result = remote->gpu->ops->open_shared(remote->gpu, mmap->origin, mmap->origin_len, &remote->shared);

	if (result == DOCA_ERROR_NOT_SUPPORTED)
		SF_LOG_ERR("buf array over memory of another GPU than the array's: kernels can access only that of their own GPU "
			   "and of "
			   "hosts");
	*addr = (uintptr_t)remote->shared;
	*direct = true;
	return result;
}

doca_error_t sf_buf_remote_open(const struct doca_mmap *mmap, struct doca_gpu *gpu, struct sf_buf_remote **remote, uint64_t *addr,
				bool *direct)
{
	struct sf_buf_remote *created = calloc(1, sizeof(*created));
	void *origin = malloc(mmap->origin_len + 1);

	if (created == NULL || origin == NULL) {
		SF_LOG_ERR("no memory for a buf array of imported memory");
		free(created);
		free(origin);
		return DOCA_ERROR_NO_MEMORY;
	}
	memcpy(origin, mmap->origin, mmap->origin_len);
	*created = (struct sf_buf_remote){.users = 1, .dev = mmap->devs[0].dev, .gpu = gpu, .origin = origin};
	sf_dev_hold(created->dev);
	doca_error_t result =
		mmap->is_gpu_memory ? open_gpu(created, mmap, addr, direct) : open_host(created, mmap, addr, direct);
	if (result == DOCA_SUCCESS)
		result = table_add(created);
	if (result != DOCA_SUCCESS) {
		remote_end(created);
		return result;
	}
	*remote = created;
	return DOCA_SUCCESS;
}

uint32_t sf_buf_remote_id(const struct sf_buf_remote *remote)
{
	return remote->id;
}

static void remote_drop(struct sf_buf_remote *remote)
{
	pthread_mutex_lock(&lock);
	assert(remote->users > 0);
	bool last = --remote->users == 0;
	if (last)
		remotes[remote->id % SF_BUF_REMOTES_MAX] = NULL;
	pthread_mutex_unlock(&lock);
	if (last)
		remote_end(remote);
}

void sf_buf_remote_close(struct sf_buf_remote *remote)
{
	if (remote != NULL)
		remote_drop(remote);
}

static REQUIRES(lock) struct sf_buf_remote *remote_find(uint32_t id)
{
	struct sf_buf_remote *remote = remotes[id % SF_BUF_REMOTES_MAX];

	return remote != NULL && remote->id == id ? remote : NULL;
}

doca_error_t sf_buf_remote_hold(uint32_t id, struct sf_region **region)
{
	pthread_mutex_lock(&lock);
	struct sf_buf_remote *remote = remote_find(id);
	if (remote != NULL && remote->region == NULL)
		remote = NULL;
	if (remote != NULL) {
		remote->users++;
		*region = remote->region;
	}
	pthread_mutex_unlock(&lock);
	return remote != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

static bool remote_has(const struct sf_buf_remote *remote, uint64_t addr)
{
	return remote != NULL && remote->addr != 0 && addr - remote->addr < remote->region->len;
}

static REQUIRES(lock) struct sf_buf_remote *remote_at(uint64_t addr, uint32_t likely_id)
{
	struct sf_buf_remote *likely = remote_find(likely_id);

	if (remote_has(likely, addr))
		return likely;
	for (uint32_t i = 0; i < SF_BUF_REMOTES_MAX; i++) {
		if (remote_has(remotes[i], addr))
			return remotes[i];
	}
	return NULL;
}

doca_error_t sf_buf_remote_hold_at(uint64_t addr, uint32_t likely_id, struct sf_buf_remote_range *range)
{
	pthread_mutex_lock(&lock);
	struct sf_buf_remote *remote = remote_at(addr, likely_id);
	if (remote != NULL) {
		remote->users++;
		*range = (struct sf_buf_remote_range){.id = remote->id, .region = remote->region, .addr = remote->addr};
	}
	pthread_mutex_unlock(&lock);
	return remote != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

void sf_buf_remote_release(uint32_t id)
{
	pthread_mutex_lock(&lock);
	struct sf_buf_remote *remote = remote_find(id);
	pthread_mutex_unlock(&lock);
	if (remote != NULL)
		remote_drop(remote);
}
