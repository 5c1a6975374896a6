/* SPDX-License-Identifier: BSD-3-Clause */
/* Opened devices: one counted object for each device and process. */
#include "core/dev.h"

#include <assert.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/profile.h"
#include "core/dev_priv.h"
#include "core/faults.h"
#include "validation/validation.h"

pthread_mutex_t sf_dev_lock = PTHREAD_MUTEX_INITIALIZER;
static struct doca_dev *devices GUARDED_BY(sf_dev_lock);

/* A thread that was opening a domain does not exist in the child. */
static SF_IN_CHILD void domain_locks_reinit(void)
{
	for (struct doca_dev *dev = devices; dev != NULL; dev = dev->next)
		pthread_mutex_init(&dev->domain_lock, NULL);
}

SF_FORK_LOCK(SF_FORK_DEV, &sf_dev_lock, domain_locks_reinit);

static REQUIRES(sf_dev_lock) struct doca_dev *dev_find(const struct sf_device *desc)
{
	struct doca_dev *dev = devices;

	while (dev && dev->info.desc != desc)
		dev = dev->next;
	return dev;
}

static REQUIRES(sf_dev_lock) struct doca_dev *dev_add(const struct sf_device *desc)
{
	struct doca_dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	dev->info.desc = desc;
	pthread_mutex_init(&dev->domain_lock, NULL);
	dev->next = devices;
	devices = dev;
	return dev;
}

static REQUIRES(sf_dev_lock) void remove_unused(struct doca_dev *dev)
{
	struct doca_dev **at = &devices;

	if (dev->opens || dev->pins)
		return;
	while (*at != dev) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = dev->next;
	pthread_mutex_destroy(&dev->domain_lock);
	free(dev);
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	if (!devinfo || !dev) {
		SF_LOG_ERR("%s is NULL", devinfo ? "dev" : "devinfo");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_profile_check();

	if (result == DOCA_SUCCESS)
		result = sf_faults_check();
	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&sf_dev_lock);
	result = sf_dev_faults_open(devinfo->desc);
	if (result != DOCA_SUCCESS) {
		pthread_mutex_unlock(&sf_dev_lock);
		return result;
	}
	struct doca_dev *found = dev_find(devinfo->desc);

	if (!found)
		found = dev_add(devinfo->desc);
	if (found && found->opens++ == 0)
		sf_object_add(found, "device", NULL);
	pthread_mutex_unlock(&sf_dev_lock);
	if (!found) {
		SF_LOG_ERR("no memory to open device %s", devinfo->desc->key);
		return DOCA_ERROR_NO_MEMORY;
	}
	*dev = found;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	if (!dev) /* published programs set the pointer to NULL and close it again */
		return DOCA_SUCCESS;

	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&sf_dev_lock);
	if (dev->opens == 0) {
		SF_LOG_ERR("device %s is closed already", dev->info.desc->key);
		result = DOCA_ERROR_INVALID_VALUE;
	} else if (dev->opens == 1 && dev->holds > 0) {
		/* Not an error: published programs close the device first, ignore the result, and then destroy the objects. */
		SF_LOG_INFO("device %s is in use by %u objects and stays open: destroy them before closing it",
			    dev->info.desc->key, dev->holds);
		if (sf_validation_is_on)
			sf_object_abandon(dev);
		result = DOCA_ERROR_IN_USE;
	} else if (--dev->opens == 0) {
		sf_object_remove(dev);
		if (dev->domain)
			sf_domain_close(dev->domain);
		dev->domain = NULL;
		remove_unused(dev);
	}
	pthread_mutex_unlock(&sf_dev_lock);
	return result;
}

doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
	if (!dev) {
		SF_LOG_ERR("dev is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("device %s releases its resources immediately: there is nothing to accelerate", dev->info.desc->key);
	return DOCA_ERROR_NOT_SUPPORTED;
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return dev ? (struct doca_devinfo *)&dev->info : NULL;
}

void sf_dev_pin(struct doca_dev *dev)
{
	dev->pins++;
}

void sf_dev_unpin(struct doca_dev *dev)
{
	assert(dev->pins > 0);
	dev->pins--;
	remove_unused(dev);
}

const struct sf_device *sf_dev_desc(const struct doca_dev *dev)
{
	return dev->info.desc;
}

void sf_dev_hold(struct doca_dev *dev)
{
	pthread_mutex_lock(&sf_dev_lock);
	dev->holds++;
	pthread_mutex_unlock(&sf_dev_lock);
}

void sf_dev_release(struct doca_dev *dev)
{
	pthread_mutex_lock(&sf_dev_lock);
	assert(dev->holds > 0);
	dev->holds--;
	pthread_mutex_unlock(&sf_dev_lock);
}

static doca_error_t join_others(const struct sf_topology *topology)
{
	const struct sf_node *self = topology->self;
	struct sf_fabric_node *others = calloc(topology->num_nodes, sizeof(*others));
	const struct sf_fabric_key key = {.path = topology->key, .is_bare = topology->is_bare};
	const struct sf_fabric_node own = {.name = self->name, .address = self->address, .ports = self->ports};
	uint32_t num = 0;
	doca_error_t result;

	if (!others)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < topology->num_nodes; i++) {
		const struct sf_node *node = &topology->nodes[i];

		if (node != self && node->address)
			others[num++] = (struct sf_fabric_node){.name = node->name, .address = node->address, .port = node->port};
	}
	result = sf_fabric_join(&own, others, num, &key);
	free(others);
	return result;
}

doca_error_t sf_dev_join(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool joined;
	const struct sf_topology *topology;
	doca_error_t result = sf_topology_get(&topology);

	if (result != DOCA_SUCCESS || !topology->self || !topology->self->address || !topology->key)
		return result;
	pthread_mutex_lock(&lock);
	if (!joined)
		result = join_others(topology);
	joined = joined || result == DOCA_SUCCESS;
	pthread_mutex_unlock(&lock);
	return result;
}

doca_error_t sf_dev_domain(struct doca_dev *dev, struct sf_domain **domain)
{
	doca_error_t result = DOCA_SUCCESS;

	/* Not under sf_dev_lock, because opening may block. The caller keeps the device open or holds it. */
	pthread_mutex_lock(&dev->domain_lock);
	if (!dev->domain) {
		const struct sf_fabric_ops *ops = sf_fabric_of(dev->info.desc->key);

		result = ops ? sf_dev_join() : DOCA_ERROR_NOT_SUPPORTED;
		if (result == DOCA_SUCCESS)
			result = sf_domain_open(ops, dev->info.desc->key, &dev->domain);
	}
	if (result == DOCA_SUCCESS)
		*domain = dev->domain;
	pthread_mutex_unlock(&dev->domain_lock);
	return result;
}
