/* SPDX-License-Identifier: BSD-3-Clause */
/* The topology of this process: loaded once, from the environment. */
#include "topology/topology.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "topology/real.h"

#define NODE_LIST_MAX 512 /* characters of a list of node names in a message */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_TOPOLOGY, &lock, NULL);
static struct sf_topology *loaded GUARDED_BY(lock); /* immutable once it is set */

const struct sf_node *sf_topology_find_node(const struct sf_topology *topology, const char *name)
{
	for (uint32_t i = 0; i < topology->num_nodes; i++) {
		if (!strcmp(topology->nodes[i].name, name))
			return &topology->nodes[i];
	}
	return NULL;
}

bool sf_topology_sees(const struct sf_topology *topology, const struct sf_node *node)
{
	return topology->self ? topology->self == node : !node->address;
}

bool sf_device_is_port(const struct sf_device *device)
{
	return device->node->kind == SF_NODE_DPU && device->kind == SF_FUNCTION_PF;
}

static doca_error_t read_failed(const char *path, int error, char **message)
{
	if (asprintf(message, "%s: %s", path, strerror(error)) < 0)
		*message = NULL;
	return sf_error_from_errno(error);
}

doca_error_t sf_topology_read(const char *path, char **text, size_t *len, char **message)
{
	FILE *file = fopen(path, "re");
	struct stat st;

	*message = NULL;
	if (!file)
		return read_failed(path, errno, message);
	if (fstat(fileno(file), &st) != 0 || S_ISDIR(st.st_mode)) {
		fclose(file);
		return read_failed(path, EISDIR, message);
	}

	char *memory = malloc(SF_TOPOLOGY_TEXT_MAX + 1);
	size_t size = memory ? fread(memory, 1, SF_TOPOLOGY_TEXT_MAX + 1, file) : 0;
	int error = !memory ? ENOMEM : ferror(file) ? EIO : size > SF_TOPOLOGY_TEXT_MAX ? EFBIG : 0;

	fclose(file);
	if (error) {
		free(memory);
		return read_failed(path, error, message);
	}
	*text = memory;
	*len = size;
	return DOCA_SUCCESS;
}

doca_error_t sf_topology_text(char **text, size_t *len, const char **origin, char **message)
{
	const char *path = secure_getenv("SOFTFIELD_TOPOLOGY");

	*message = NULL;
	if (path && *path) {
		*origin = path;
		return sf_topology_read(path, text, len, message);
	}
	*origin = "the default topology";
	*text = strdup(sf_topology_default);
	*len = strlen(sf_topology_default);
	return *text ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static void list_nodes(const struct sf_topology *topology, char list[NODE_LIST_MAX])
{
	size_t used = 0;

	list[0] = '\0';
	for (uint32_t i = 0; i < topology->num_nodes && used < NODE_LIST_MAX; i++)
		used += (size_t)snprintf(list + used, NODE_LIST_MAX - used, "%s%s", i ? ", " : "", topology->nodes[i].name);
}

static doca_error_t find_self(struct sf_topology *topology)
{
	const char *name = secure_getenv("SOFTFIELD_NODE");
	char list[NODE_LIST_MAX];

	if (!name || !*name)
		return DOCA_SUCCESS;
	topology->self = sf_topology_find_node(topology, name);
	if (topology->self)
		return DOCA_SUCCESS;
	list_nodes(topology, list);
	SF_LOG_ERR("SOFTFIELD_NODE names node %s, which is not in the topology; its nodes are %s", name, list);
	return DOCA_ERROR_NOT_FOUND;
}

/* A fabric set in SOFTFIELD_FABRIC applies to software devices, so it hides real ones. */
static bool wants_real_devices(void)
{
	const char *fabric = secure_getenv("SOFTFIELD_FABRIC");

	return !fabric || !*fabric;
}

static doca_error_t topology_load(struct sf_topology **topology)
{
	char *text = NULL, *message;
	const char *origin;
	size_t len;
	doca_error_t result = sf_topology_text(&text, &len, &origin, &message);

	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("cannot read the topology file that SOFTFIELD_TOPOLOGY names: %s", message ? message : "no memory");
		if (result != DOCA_ERROR_NO_MEMORY)
			result = DOCA_ERROR_BAD_CONFIG;
	} else {
		result = sf_topology_parse(text, len, topology, &message);
		if (result != DOCA_SUCCESS)
			SF_LOG_ERR("topology %s is not usable: %s", origin, message ? message : "no memory");
	}
	free(text);
	free(message);
	if (result == DOCA_SUCCESS) {
		SF_LOG_INFO("topology is %s", origin);
		result = find_self(*topology);
		if (result == DOCA_SUCCESS && wants_real_devices())
			result = sf_topology_add_real(*topology, "");
		if (result != DOCA_SUCCESS)
			sf_topology_free(*topology);
		else if ((*topology)->self)
			SF_LOG_INFO("this process is on node %s", (*topology)->self->name);
		else
			SF_LOG_INFO("this process is on all nodes of the topology");
	}
	return result;
}

doca_error_t sf_topology_get(const struct sf_topology **topology)
{
	struct sf_topology *fresh;
	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (!loaded) {
		result = topology_load(&fresh);
		if (result == DOCA_SUCCESS)
			loaded = fresh;
	}
	if (result == DOCA_SUCCESS)
		*topology = loaded;
	assert(result != DOCA_SUCCESS || loaded != NULL);
	pthread_mutex_unlock(&lock);
	return result;
}

const struct sf_device *sf_device_find(const char *key)
{
	const struct sf_topology *topology;

	if (sf_topology_get(&topology) != DOCA_SUCCESS)
		return NULL;
	for (uint32_t i = 0; i < topology->num_devices; i++) {
		if (!strcmp(topology->devices[i].key, key))
			return &topology->devices[i];
	}
	return NULL;
}

bool sf_device_shares_pci(const struct sf_device *a, const struct sf_device *b)
{
	return a == b || a->uplink == b || b->uplink == a;
}
