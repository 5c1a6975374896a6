/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_gpu: the GPU of an address, and its lifetime. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_gpunetio.h>
#include <softfield/gpu.h>

#include "base/log.h"
#include "gpu/backend.h"
#include "topology/topology.h"

#define GPU_LIST_SIZE 1024 /* bytes of the list of addresses in a log line */

static bool gpu_visible(const struct sf_topology *topology, const struct sf_gpu_desc *desc)
{
	return topology->self == NULL || desc->node == topology->self;
}

static const struct sf_gpu_desc *find_in_topology(const struct sf_topology *topology, const char *addr)
{
	for (uint32_t i = 0; i < topology->num_gpus; i++)
		if (gpu_visible(topology, &topology->gpus[i]) && strcmp(topology->gpus[i].pci_addr, addr) == 0)
			return &topology->gpus[i];
	return NULL;
}

static void log_unknown(const struct sf_topology *topology, const char *wanted)
{
	char list[GPU_LIST_SIZE] = "";
	size_t used;

	cuda_gpu_list(list, sizeof(list));
	for (uint32_t i = 0; i < topology->num_gpus; i++) {
		used = strlen(list);
		if (gpu_visible(topology, &topology->gpus[i]))
			snprintf(list + used, sizeof(list) - used, "%s ", topology->gpus[i].pci_addr);
	}
	SF_LOG_ERR("no gpu at %s; this process sees: %s", wanted, list[0] != '\0' ? list : "none");
}

/* SOFTFIELD_GPU: with "soft" (or unset) the topology's GPU is a software one; "cuda" or "cuda:N" puts a CUDA device in its
 * place. */
static doca_error_t open_stand_in(struct doca_gpu **gpu)
{
	const char *choice = secure_getenv("SOFTFIELD_GPU");
	unsigned long index = 0;
	char *end;
	doca_error_t result;

	if (choice == NULL || choice[0] == '\0' || strcmp(choice, "soft") == 0)
		return soft_gpu_open(gpu);
	if (strncmp(choice, "cuda", 4) != 0 || (choice[4] != '\0' && choice[4] != ':')) {
		SF_LOG_ERR("SOFTFIELD_GPU is '%s': give soft, cuda or cuda:N", choice);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (choice[4] == ':') {
		index = strtoul(choice + 5, &end, 10);
		if (choice[5] == '\0' || *end != '\0' || index > UINT16_MAX) {
			SF_LOG_ERR("SOFTFIELD_GPU is '%s': give the number of a cuda device after the colon", choice);
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	result = cuda_gpu_open(NULL, (uint32_t)index, gpu);
	if (result == DOCA_ERROR_NOT_FOUND)
		SF_LOG_ERR("SOFTFIELD_GPU names cuda device %lu, which does not exist; unset it for the software gpu", index);
	return result;
}

doca_error_t doca_gpu_create(const char *gpu_bus_id, struct doca_gpu **gpu_dev)
{
	const struct sf_topology *topology;
	char addr[SF_PCI_ADDR_SIZE];
	doca_error_t result;

	if (gpu_bus_id == NULL || gpu_dev == NULL) {
		SF_LOG_ERR("gpu create: %s is NULL", gpu_bus_id == NULL ? "gpu_bus_id" : "gpu_dev");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_pci_addr_normalise(gpu_bus_id, addr) != DOCA_SUCCESS) {
		SF_LOG_ERR("gpu create: '%s' is not a PCI address such as b5:00.0", gpu_bus_id);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = cuda_gpu_open(addr, 0, gpu_dev);
	if (result == DOCA_ERROR_NOT_FOUND) {
		result = sf_topology_get(&topology);
		if (result != DOCA_SUCCESS)
			return DOCA_ERROR_NOT_FOUND;
		if (find_in_topology(topology, addr) == NULL) {
			log_unknown(topology, addr);
			return DOCA_ERROR_NOT_FOUND;
		}
		result = open_stand_in(gpu_dev);
	}
	if (result == DOCA_SUCCESS) {
		snprintf((*gpu_dev)->pci_addr, sizeof((*gpu_dev)->pci_addr), "%s", addr);
		sf_gpu_owns_address = cuda_owns_address;
		sf_gpu_describe = cuda_describe;
		sf_gpu_copy = cuda_copy;
	}
	return result;
}

doca_error_t doca_gpu_destroy(struct doca_gpu *gpu_dev)
{
	uint32_t users;

	if (gpu_dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	users = __atomic_load_n(&gpu_dev->users, __ATOMIC_ACQUIRE);
	if (users != 0) {
		SF_LOG_ERR("gpu %s is in use by %u contexts, arrays, semaphores or launches; destroy those first",
			   gpu_dev->pci_addr, users);
		return DOCA_ERROR_IN_USE;
	}
	gpu_dev->ops->close(gpu_dev);
	return DOCA_SUCCESS;
}

const char *softfield_gpu_backend(const struct doca_gpu *gpu)
{
	return gpu != NULL ? gpu->ops->name : NULL;
}
