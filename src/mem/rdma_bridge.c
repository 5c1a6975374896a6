/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge to rdma-core. Only the fabric provider of a device knows its objects. */
#include <doca_rdma_bridge.h>

#include <string.h>

#include <doca_dev.h>

#include "base/log.h"
#include "core/dev.h"
#include "fabric/bridge.h"
#include "mem/buf.h"
#include "mem/mmap_private.h"

static doca_error_t null_reject(const char *what)
{
	SF_LOG_ERR("%s is NULL", what);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t software_reject(const char *device)
{
	SF_LOG_ERR("device %s is a software device with no rdma-core object behind it: use a real RDMA device", device);
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t device_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	struct sf_domain *domain;
	doca_error_t result = sf_dev_domain((struct doca_dev *)dev, &domain);

	return result == DOCA_SUCCESS ? sf_domain_pd(domain, pd) : result;
}

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	if (dev == NULL || pd == NULL)
		return null_reject(dev == NULL ? "dev" : "pd");
	doca_error_t result = device_pd(dev, pd);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		return software_reject(sf_dev_desc(dev)->key);
	return result == DOCA_SUCCESS ? result : DOCA_ERROR_BAD_STATE; /* the provider has logged why it did not open */
}

/* ---- the device of a protection domain ---- */

static doca_error_t open_by_key(const char *key, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	uint32_t num;
	doca_error_t result = doca_devinfo_create_list(&list, &num);

	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < num && result == DOCA_ERROR_NOT_FOUND; i++) {
		if (strcmp(sf_devinfo_desc(list[i])->key, key) == 0)
			result = doca_dev_open(list[i], dev);
	}
	doca_devinfo_destroy_list(list);
	if (result == DOCA_ERROR_NOT_FOUND)
		SF_LOG_ERR("the protection domain's device %s is not seen by this process (SOFTFIELD_NODE)", key);
	return result;
}

doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
	const struct sf_fabric_ops *fabric;
	const char *key;

	if (pd == NULL || dev == NULL)
		return null_reject(pd == NULL ? "pd" : "dev");
	fabric = sf_fabric_of(SF_KEY_IBDEV);
	if (fabric == NULL)
		return DOCA_ERROR_NOT_SUPPORTED;
	doca_error_t result = sf_pd_device(fabric, pd, &key);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		SF_LOG_ERR("fabric provider %s makes software devices, which have no protection domains", fabric->name);
	return result == DOCA_SUCCESS ? open_by_key(key, dev) : result;
}

/* ---- memory keys ---- */

static doca_error_t memory_key(struct doca_mmap *mmap, struct doca_dev *dev, uint32_t *mkey)
{
	struct sf_region *region;
	doca_error_t result = sf_mmap_region(mmap, dev, &region);

	if (result != DOCA_SUCCESS)
		return result;
	result = sf_region_mkey(region, mkey);
	return result == DOCA_ERROR_NOT_SUPPORTED ? software_reject(sf_dev_desc(dev)->key) : result;
}

doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey)
{
	if (buf == NULL || dev == NULL || mkey == NULL)
		return null_reject(buf == NULL ? "buf" : dev == NULL ? "dev" : "mkey");
	doca_error_t result = memory_key(buf->mmap, dev, mkey);
	/* The mmap has logged which it is: without the device, or stopped. */
	return result == DOCA_ERROR_NOT_FOUND || result == DOCA_ERROR_BAD_STATE ? DOCA_ERROR_INVALID_VALUE : result;
}

/* The mmap's device whose protection domain is pd. *is_real: at least one device has a protection domain. */
static struct doca_dev *find_dev(const struct doca_mmap *mmap, const struct ibv_pd *pd, bool *is_real)
{
	*is_real = false;
	for (uint32_t i = 0; i < mmap->num_devs; i++) {
		struct ibv_pd *own;

		if (device_pd(mmap->devs[i].dev, &own) != DOCA_SUCCESS)
			continue;
		*is_real = true;
		if (own == pd)
			return mmap->devs[i].dev;
	}
	return NULL;
}

doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd, uint32_t *mkey)
{
	if (mmap == NULL || pd == NULL || mkey == NULL)
		return null_reject(mmap == NULL ? "mmap" : pd == NULL ? "pd" : "mkey");
	if (!mmap->started) {
		SF_LOG_ERR("memory map is not started, so no device knows its memory: call doca_mmap_start first");
		return DOCA_ERROR_INVALID_VALUE;
	}
	bool is_real;
	struct doca_dev *dev = find_dev(mmap, pd, &is_real);
	if (dev != NULL)
		return memory_key((struct doca_mmap *)mmap, dev, mkey);
	if (!is_real)
		return software_reject(sf_dev_desc(mmap->devs[0].dev)->key);
	SF_LOG_ERR("no device of the memory map has this protection domain: add its device, or one opened from it");
	return DOCA_ERROR_NOT_FOUND;
}
