/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other processes, as this one imports it. */
#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/runtime_folder.h"
#include "fabric/shm/barrier.h"
#include "fabric/shm/descriptor.h"
#include "fabric/shm/region.h"

/* Returns the answer of the owner's agent, if there is one. With sf_control_lock. */
static doca_error_t import_status(const struct shm_import *import)
{
	const struct shm_attach *attach = import->attach;

	switch (atomic_load(&attach->state)) {
	case SHM_ATTACH_PENDING:
		return DOCA_ERROR_AGAIN;
	case SHM_ATTACH_READY:
		break;
	default:
		SF_LOG_ERR_LIMITED("the owner rejects the import: %s", attach->status == DOCA_ERROR_NOT_PERMITTED
									       ? "the descriptor's token is wrong"
									       : "it has ended the export");
		return attach->status;
	}
	if (!sf_shm_attach_enter(attach) || !sf_shm_attach_leave(attach)) {
		/* The region was imported before, and has ended since. */
		SF_LOG_ERR_LIMITED("the owner has ended the export, or is gone");
		return DOCA_ERROR_NOT_FOUND;
	}
	if (attach->addr != import->base.addr || attach->len != import->base.len || attach->rights != import->base.rights) {
		SF_LOG_ERR_LIMITED("the descriptor differs from the owner's export: it was altered");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* The same, once the owner's agent has answered or was silent for limit_ns. */
static doca_error_t import_wait(const struct shm_import *import, uint64_t limit_ns)
{
	struct sf_liveness answering;
	doca_error_t error;

	sf_liveness_begin(&answering);
	do
		error = import_status(import);
	while (error == DOCA_ERROR_AGAIN && sf_control_await(import->attach->peer->channel, &answering, limit_ns));
	if (error == DOCA_ERROR_AGAIN)
		SF_LOG_ERR_LIMITED("the owner of the memory (process %d) does not answer: is it stopped?",
				   import->attach->peer->pid);
	return error;
}

/* Different values of XDG_RUNTIME_DIR or SOFTFIELD_RUNTIME separate two processes, so the line names the folder. */
static void log_unreachable(doca_error_t error)
{
	char folder[PATH_MAX];

	sf_runtime_folder_path(folder);
	SF_LOG_ERR_LIMITED("the process that exported the memory is not found in this process's runtime folder %s: %s; does it "
			   "still run, and use the same folder? (softfield doctor shows the folders of both)",
			   folder, doca_error_get_descr(error));
}

/* Asks the owner's agent. With sf_control_lock. */
static doca_error_t import_ask(const struct sf_descriptor *descriptor, struct shm_attach **attach)
{
	struct shm_peer *peer;
	doca_error_t error = sf_shm_peer_get(&descriptor->agent, &peer);

	if (error != DOCA_SUCCESS) {
		log_unreachable(error);
		return error == DOCA_ERROR_AGAIN ? DOCA_ERROR_NOT_FOUND : error;
	}
	error = sf_shm_attach_get(peer, descriptor->region, &descriptor->token, false, attach);
	sf_shm_peer_put(peer);
	return error;
}

doca_error_t sf_shm_region_request_of(struct sf_domain *domain, const struct sf_descriptor *descriptor, struct sf_region **region)
{
	struct shm_import *import;
	doca_error_t error;

	import = calloc(1, sizeof(*import));
	if (import == NULL)
		return DOCA_ERROR_NO_MEMORY;
	error = sf_shm_barrier_join(&import->hold);
	if (error != DOCA_SUCCESS)
		goto free_import;
	pthread_mutex_lock(&sf_control_lock);
	error = import_ask(descriptor, &import->attach);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS)
		goto release_agent;
	import->base = (struct sf_region){.ops = domain->ops,
					  .domain = domain,
					  .addr = descriptor->addr,
					  .len = descriptor->len,
					  .rights = descriptor->rights,
					  .imported = true};
	*region = &import->base;
	return DOCA_SUCCESS;
release_agent:
	sf_control_release(import->hold);
free_import:
	free(import);
	return error;
}

doca_error_t sf_shm_region_request(struct sf_domain *domain, const void *bytes, size_t len, struct sf_region **region)
{
	struct sf_descriptor descriptor;
	doca_error_t error;

	if (bytes == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	error = sf_descriptor_unpack(&sf_shm_descriptor, bytes, len, &descriptor);
	return error == DOCA_SUCCESS ? sf_shm_region_request_of(domain, &descriptor, region) : error;
}

/* The longest stretch that is mapped. */
static void open_mapping(struct shm_import *import)
{
	const struct shm_attach *attach = import->attach;
	struct sf_mapping *mapping = &import->mapping;

	for (uint32_t i = 0; i < attach->run_num && !attach->peer->self; i++) {
		const struct shm_run *run = &attach->runs[i];
		uint64_t addr = run->addr > attach->addr ? run->addr : attach->addr, end = attach->addr + attach->len;

		if (run->addr + run->len < end)
			end = run->addr + run->len;
		if (end <= addr || end - addr <= mapping->len)
			continue;
		*mapping = (struct sf_mapping){.addr = addr,
					       .len = end - addr,
					       .base = attach->base + (addr - attach->origin),
					       .generation = &attach->peer->generations[attach->region % SHM_REGIONS_MAX],
					       .id = attach->region,
					       .dead = &attach->peer->dead};
		import->base.mapping = mapping;
	}
}

/* The mapping if it contains all of the bytes, otherwise NULL. */
static uint8_t *mapped_whole(const struct shm_attach *attach)
{
	const uint64_t end = attach->addr + attach->len;
	uint64_t len = attach->len;
	uint8_t *at = shm_attach_at(attach, attach->addr, &len);

	/* Runs that are adjacent in the owner's memory are adjacent here. */
	for (uint64_t next = attach->addr + len; at != NULL && next < end; next += len) {
		len = end - next;
		if (shm_attach_at(attach, next, &len) == NULL)
			at = NULL;
	}
	return at;
}

doca_error_t sf_shm_region_ready(struct sf_region *region, uint64_t limit_ns)
{
	struct shm_import *import = shm_import(region);
	doca_error_t error;

	if (!region->imported)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&sf_control_lock);
	error = limit_ns != 0 ? import_wait(import, limit_ns) : import_status(import);
	if (error == DOCA_SUCCESS && !import->is_open) {
		open_mapping(import);
		region->mapped = mapped_whole(import->attach);
		import->is_open = true;
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

void sf_shm_import_close(struct shm_import *import)
{
	uint32_t hold = import->hold;

	pthread_mutex_lock(&sf_control_lock);
	if (import->doorbell != NULL)
		LIST_REMOVE(import, armed);
	sf_shm_attach_put(import->attach);
	pthread_mutex_unlock(&sf_control_lock);
	free(import);
	sf_control_release(hold);
}

void sf_shm_imports_ring(struct shm_attach *attach)
{
	struct shm_import *import;

	LIST_FOREACH (import, &attach->armed, armed)
		import->doorbell->ring(import->doorbell);
}
