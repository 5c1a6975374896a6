/* SPDX-License-Identifier: BSD-3-Clause */
/* Representors of the functions behind a DPU's port. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/dev_priv.h"
#include "validation/validation.h"

struct doca_dev_rep {
	struct doca_devinfo_rep info; /* its device is pinned */
	struct doca_dev_rep *next;
	uint32_t opens GUARDED_BY(sf_dev_lock), holds GUARDED_BY(sf_dev_lock);
};

/* The pointers come first; the program gets their address. */
struct rep_list {
	struct doca_dev *dev; /* pinned */
	struct doca_devinfo_rep *infos;
	struct doca_devinfo_rep *pointers[];
};

static struct doca_dev_rep *reps GUARDED_BY(sf_dev_lock);

static doca_error_t null_reject(void)
{
	SF_LOG_ERR("the representor or the output argument is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- lists ---- */

/* All functions behind a port are network functions: nothing is emulated. */
static bool filter_matches(const struct sf_device *desc, const struct sf_device *port, int filter)
{
	return desc->uplink == port && (filter == DOCA_DEVINFO_REP_FILTER_ALL || filter & DOCA_DEVINFO_REP_FILTER_NET);
}

static doca_error_t check_list_args(const struct doca_dev *dev, int filter, const void *list, const void *len)
{
	if (!dev || !list || !len)
		return null_reject();
	if (filter & ~(DOCA_DEVINFO_REP_FILTER_NET | DOCA_DEVINFO_REP_FILTER_EMULATED)) {
		SF_LOG_ERR("representor filter %#x has unknown bits: use enum doca_devinfo_rep_filter", (unsigned int)filter);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_device_is_port(dev->info.desc)) {
		SF_LOG_ERR("device %s has no representors: only DPU ports have them", dev->info.desc->key);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep)
{
	const struct sf_topology *t;
	uint32_t count = 0;
	doca_error_t result = check_list_args(dev, filter, dev_list_rep, nb_devs_rep);

	if (result == DOCA_SUCCESS)
		result = sf_topology_get(&t);
	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < t->num_devices; i++)
		count += filter_matches(&t->devices[i], dev->info.desc, filter);

	struct rep_list *list = malloc(sizeof(*list) + count * (sizeof(list->pointers[0]) + sizeof(list->infos[0])));

	if (!list) {
		SF_LOG_ERR("no memory for a list of %u representors", count);
		return DOCA_ERROR_NO_MEMORY;
	}
	list->dev = dev;
	list->infos = (struct doca_devinfo_rep *)&list->pointers[count];
	for (uint32_t i = 0, at = 0; i < t->num_devices; i++) {
		if (!filter_matches(&t->devices[i], dev->info.desc, filter))
			continue;
		list->infos[at] = (struct doca_devinfo_rep){.desc = &t->devices[i], .dev = dev};
		list->pointers[at] = &list->infos[at];
		at++;
	}
	pthread_mutex_lock(&sf_dev_lock);
	sf_dev_pin(dev);
	pthread_mutex_unlock(&sf_dev_lock);
	*dev_list_rep = list->pointers;
	*nb_devs_rep = count;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	if (!dev_list_rep)
		return null_reject();

	struct rep_list *list = (struct rep_list *)((char *)dev_list_rep - offsetof(struct rep_list, pointers));

	pthread_mutex_lock(&sf_dev_lock);
	sf_dev_unpin(list->dev);
	pthread_mutex_unlock(&sf_dev_lock);
	free(list);
	return DOCA_SUCCESS;
}

/* ---- open and close ---- */

static REQUIRES(sf_dev_lock) struct doca_dev_rep *find_or_add(const struct doca_devinfo_rep *info)
{
	for (struct doca_dev_rep *rep = reps; rep; rep = rep->next) {
		if (rep->info.desc == info->desc && rep->info.dev == info->dev)
			return rep;
	}

	struct doca_dev_rep *rep = calloc(1, sizeof(*rep));

	if (rep) {
		rep->info = *info;
		sf_dev_pin(info->dev);
		rep->next = reps;
		reps = rep;
	}
	return rep;
}

static REQUIRES(sf_dev_lock) void remove_rep(struct doca_dev_rep *rep)
{
	struct doca_dev_rep **at = &reps;

	while (*at != rep) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = rep->next;
	sf_dev_unpin(rep->info.dev);
	free(rep);
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
	if (!devinfo || !dev_rep)
		return null_reject();
	pthread_mutex_lock(&sf_dev_lock);
	struct doca_dev_rep *rep = find_or_add(devinfo);

	if (rep && rep->opens++ == 0)
		sf_object_add(rep, "representor", NULL);
	pthread_mutex_unlock(&sf_dev_lock);
	if (!rep) {
		SF_LOG_ERR("no memory to open the representor of %s", devinfo->desc->key);
		return DOCA_ERROR_NO_MEMORY;
	}
	*dev_rep = rep;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	/* Neither case is an error: published programs close what they did not open, or close it before its users. */
	if (!dev) {
		SF_LOG_INFO("dev is NULL: there is no representor to close");
		return DOCA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&sf_dev_lock);
	assert(dev->opens > 0);
	uint32_t users = dev->opens == 1 ? dev->holds : 0;

	if (!users && --dev->opens == 0) {
		sf_object_remove(dev);
		remove_rep(dev);
	}
	pthread_mutex_unlock(&sf_dev_lock);
	if (users) {
		if (sf_validation_is_on)
			sf_object_abandon(dev);
		SF_LOG_INFO("representor %s is in use by %u objects and stays open: destroy them before closing it",
			    dev->info.desc->key, users);
		return DOCA_ERROR_IN_USE;
	}
	return DOCA_SUCCESS;
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
	return dev_rep ? &dev_rep->info : NULL;
}

const struct sf_device *sf_dev_rep_desc(const struct doca_dev_rep *rep)
{
	return rep->info.desc;
}

const struct doca_dev *sf_dev_rep_dev(const struct doca_dev_rep *rep)
{
	return rep->info.dev;
}

void sf_dev_rep_hold(struct doca_dev_rep *rep)
{
	pthread_mutex_lock(&sf_dev_lock);
	rep->holds++;
	pthread_mutex_unlock(&sf_dev_lock);
}

void sf_dev_rep_release(struct doca_dev_rep *rep)
{
	pthread_mutex_lock(&sf_dev_lock);
	assert(rep->holds > 0);
	rep->holds--;
	pthread_mutex_unlock(&sf_dev_lock);
}

/* ---- properties ---- */

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size)
{
	if (!devinfo_rep || !rep_vuid)
		return null_reject();
	return sf_dev_copy_out("VUID", rep_vuid, size, DOCA_DEVINFO_REP_VUID_SIZE, devinfo_rep->desc->vuid,
			       strlen(devinfo_rep->desc->vuid) + 1);
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str)
{
	if (!devinfo_rep || !pci_addr_str)
		return null_reject();
	memcpy(pci_addr_str, devinfo_rep->desc->pci_addr, sizeof(devinfo_rep->desc->pci_addr));
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str,
						uint8_t *is_equal)
{
	if (!devinfo_rep || !pci_addr_str || !is_equal)
		return null_reject();
	return sf_dev_compare_pci(devinfo_rep->desc, pci_addr_str, is_equal);
}

doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type)
{
	if (!devinfo_rep || !pci_func_type)
		return null_reject();
	*pci_func_type = sf_function_type(devinfo_rep->desc);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_hotplug)
{
	if (!devinfo_rep || !is_hotplug)
		return null_reject();
	*is_hotplug = 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name, uint32_t size)
{
	if (!devinfo_rep || !iface_name)
		return null_reject();
	return sf_dev_copy_out("interface name", iface_name, size, DOCA_DEVINFO_IFACE_NAME_SIZE, devinfo_rep->desc->rep_iface,
			       strlen(devinfo_rep->desc->rep_iface) + 1);
}

doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id)
{
	if (!devinfo_rep || !vhca_id)
		return null_reject();
	*vhca_id = devinfo_rep->desc->vhca_id;
	return DOCA_SUCCESS;
}

/* ---- properties of its function ---- */

doca_error_t doca_devinfo_rep_get_iface_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *iface_index)
{
	if (!devinfo_rep || !iface_index)
		return null_reject();
	return sf_dev_iface_index(devinfo_rep->desc, devinfo_rep->desc->rep_iface, iface_index);
}

doca_error_t doca_devinfo_rep_get_ib_port(const struct doca_devinfo_rep *devinfo_rep, uint16_t *ib_port)
{
	const struct sf_topology *t;
	uint16_t port = SF_UPLINK_IB_PORT + 1;

	if (!devinfo_rep || !ib_port)
		return null_reject();

	doca_error_t result = sf_topology_get(&t);

	if (result != DOCA_SUCCESS)
		return result;
	for (const struct sf_device *d = t->devices; d < devinfo_rep->desc; d++)
		port = (uint16_t)(port + (d->uplink == devinfo_rep->desc->uplink));
	*ib_port = port;
	return DOCA_SUCCESS;
}

/* Of the topology's functions: what only one kind of them has. */
static doca_error_t has_none(const struct doca_devinfo_rep *devinfo_rep, const char *what)
{
	SF_LOG_DBG("the function %s has no %s", devinfo_rep->desc->key, what);
	return DOCA_ERROR_DRIVER;
}

doca_error_t doca_devinfo_rep_get_host_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *host_index)
{
	if (!devinfo_rep || !host_index)
		return null_reject();
	if (devinfo_rep->desc->node->kind != SF_NODE_HOST)
		return has_none(devinfo_rep, "host: it is an SF of the DPU itself");
	*host_index = 0; /* a DPU of a topology has at most one host */
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_pf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *pf_index)
{
	if (!devinfo_rep || !pf_index)
		return null_reject();
	*pf_index = devinfo_rep->desc->rep_pf_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_vf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *vf_index)
{
	if (!devinfo_rep || !vf_index)
		return null_reject();
	if (devinfo_rep->desc->kind != SF_FUNCTION_VF)
		return has_none(devinfo_rep, "VF index: it is no VF");
	*vf_index = devinfo_rep->desc->vf_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_sf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *sf_index)
{
	if (!devinfo_rep || !sf_index)
		return null_reject();
	if (devinfo_rep->desc->kind != SF_FUNCTION_SF)
		return has_none(devinfo_rep, "SF index: it is no SF");
	*sf_index = devinfo_rep->desc->sf_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_total_vfs(const struct doca_devinfo_rep *devinfo_rep, uint32_t *total_vfs)
{
	const struct sf_topology *t;
	uint32_t count = 0;

	if (!devinfo_rep || !total_vfs)
		return null_reject();
	if (devinfo_rep->desc->kind != SF_FUNCTION_PF) {
		SF_LOG_DBG("the function %s has no VFs: only a PF has", devinfo_rep->desc->key);
		return DOCA_ERROR_NOT_PERMITTED;
	}

	doca_error_t result = sf_topology_get(&t);

	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < t->num_devices; i++)
		count += t->devices[i].kind == SF_FUNCTION_VF && t->devices[i].parent == devinfo_rep->desc;
	*total_vfs = count;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_pf_vuid(struct doca_devinfo_rep *devinfo_rep, char *pf_vuid, uint32_t size)
{
	if (!devinfo_rep || !pf_vuid)
		return null_reject();

	const struct sf_device *desc = devinfo_rep->desc->parent ? devinfo_rep->desc->parent : devinfo_rep->desc;

	return sf_dev_copy_out("VUID", pf_vuid, size, DOCA_DEVINFO_REP_VUID_SIZE, desc->vuid, strlen(desc->vuid) + 1);
}

doca_error_t doca_devinfo_rep_get_data_direct_pci_dev(struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str)
{
	if (!devinfo_rep || !pci_addr_str)
		return null_reject();
	return sf_dev_no_data_direct(devinfo_rep->desc);
}

doca_error_t doca_devinfo_rep_get_is_uplink_representor(const struct doca_devinfo_rep *devinfo_rep,
							uint8_t *is_uplink_representor)
{
	if (!devinfo_rep || !is_uplink_representor)
		return null_reject();
	*is_uplink_representor = sf_device_is_port(devinfo_rep->desc);
	return DOCA_SUCCESS;
}
