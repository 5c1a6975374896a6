/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps: their lifetime, their devices, and the libraries' view of them. Attributes are in mmap_attr.c. */
#include "mem/mmap.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "core/dev.h"
#include "core/gpu.h"
#include "mem/mkey.h"
#include "mem/mmap_checks.h"
#include "mem/mmap_private.h"
#include "validation/validation.h"

/* ---- making and unmaking ---- */

struct doca_mmap *sf_mmap_new(void)
{
	struct doca_mmap *mmap = calloc(1, sizeof(*mmap));

	if (mmap != NULL)
		mmap->devs = calloc(SF_MMAP_DEVICES_DEFAULT, sizeof(*mmap->devs));
	if (mmap == NULL || mmap->devs == NULL) {
		SF_LOG_ERR("no memory for a memory map");
		free(mmap);
		return NULL;
	}
	sf_mmap_set_live(mmap, (void *)UINTPTR_MAX, 0);
	mmap->max_devs = SF_MMAP_DEVICES_DEFAULT;
	mmap->permissions = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	pthread_mutex_init(&mmap->lock, NULL);
	return mmap;
}

void sf_mmap_free(struct doca_mmap *mmap)
{
	assert(mmap->holds == 0);
	for (uint32_t i = 0; i < mmap->num_devs; i++)
		sf_dev_release(mmap->devs[i].dev);
	pthread_mutex_destroy(&mmap->lock);
	free(mmap->origin);
	free(mmap->devs);
	free(mmap);
}

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	if (mmap == NULL) {
		SF_LOG_ERR("mmap is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_mmap *created = sf_mmap_new();
	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	sf_object_add(created, "mmap", NULL);
	*mmap = created;
	return DOCA_SUCCESS;
}

/* Returns NOT_PERMITTED, logged, while bufs or a library use the memory. */
static doca_error_t check_unused(struct doca_mmap *mmap, const char *what)
{
	if (mmap->num_bufs != 0) {
		SF_LOG_ERR("memory map cannot be %s while %u bufs of it are in use: release those first", what, mmap->num_bufs);
		SF_BROKEN(MMAP_006, mmap, NULL, "%u of its bufs are in use", mmap->num_bufs);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	pthread_mutex_lock(&mmap->lock);
	uint32_t holds = mmap->holds;
	pthread_mutex_unlock(&mmap->lock);
	if (holds != 0) {
		SF_LOG_ERR("memory map cannot be %s while %u contexts use it: stop those first", what, holds);
		SF_BROKEN(MMAP_006, mmap, NULL, "%u contexts use it", holds);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

static void region_forget(struct sf_region **region)
{
	if (*region != NULL)
		sf_region_close(*region);
	*region = NULL;
}

/* From here on a peer's next access fails, even one in flight. */
static void exports_end(struct sf_mmap_dev *entry)
{
	for (int kind = 0; kind < SF_MMAP_EXPORTS; kind++) {
		region_forget(&entry->exports[kind].region);
		free(entry->exports[kind].descriptor);
		entry->exports[kind].descriptor = NULL;
	}
}

static void bounces_forget(const struct doca_mmap *mmap, struct sf_mmap_dev *entry)
{
	for (int written = 0; written < 2; written++) {
		if (entry->bounce[written] != NULL)
			munmap(entry->bounce[written], mmap->len);
		entry->bounce[written] = NULL;
	}
}

static void devices_forget_memory(struct doca_mmap *mmap)
{
	pthread_mutex_lock(&mmap->lock);
	for (uint32_t i = 0; i < mmap->num_devs; i++) {
		struct sf_mmap_dev *entry = &mmap->devs[i];

		region_forget(&entry->here);
		bounces_forget(mmap, entry);
		region_forget(&entry->region);
		exports_end(entry);
		if (entry->mkey != SF_MKEY_NONE)
			sf_mkey_destroy(entry->mkey);
		entry->mkey = SF_MKEY_NONE;
	}
	pthread_mutex_unlock(&mmap->lock);
}

static void mmap_end(struct doca_mmap *mmap)
{
	sf_mmap_set_live(mmap, (void *)UINTPTR_MAX, 0);
	devices_forget_memory(mmap);
	mmap->exported[SF_MMAP_EXPORT_RDMA] = false;
	mmap->started = false;
	mmap->head.id = 0;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	if (mmap == NULL) {
		SF_LOG_ERR("mmap is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_unused(mmap, "destroyed");
	if (result != DOCA_SUCCESS)
		return result;
	if (mmap->started)
		mmap_end(mmap);
	/* Last, when nothing here points to the memory any more: the callback frees the memory. */
	doca_mmap_memrange_free_cb_t *free_cb = mmap->free_due ? mmap->free_cb : NULL;
	void *addr = mmap->addr, *cookie = mmap->free_cookie;
	sf_object_remove(mmap);
	size_t len = mmap->len;
	sf_mmap_free(mmap);
	if (free_cb != NULL)
		free_cb(addr, len, cookie);
	return DOCA_SUCCESS;
}

/* ---- start and stop ---- */

static doca_error_t check_startable(const struct doca_mmap *mmap)
{
	if (mmap->from_export || sf_mmap_is_exported(mmap)) {
		SF_LOG_ERR("memory map was %s", mmap->from_export
							? "made from an export, and cannot be started again: import it again"
							: "exported, and is started already");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!mmap->started && !mmap->has_range) {
		SF_LOG_ERR("memory map has no memory: call doca_mmap_set_memrange before doca_mmap_start");
		SF_BROKEN(MMAP_001, mmap, "doca_mmap_start", "it has no memory range");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!mmap->started && mmap->num_devs == 0) {
		SF_LOG_ERR("memory map has no device: call doca_mmap_add_dev before doca_mmap_start");
		SF_BROKEN(MMAP_001, mmap, "doca_mmap_start", "it has no device");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

void sf_mmap_set_started(struct doca_mmap *mmap)
{
	static _Atomic uint64_t last_id;

	mmap->head.id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
	sf_mmap_set_live(mmap, mmap->addr, mmap->len);
	mmap->started = true;
	mmap->was_started = true;
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	if (mmap == NULL) {
		SF_LOG_ERR("mmap is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_startable(mmap);
	if (result != DOCA_SUCCESS || mmap->started)
		return result;
	mmap->is_gpu_memory = sf_gpu_owns_address != NULL && sf_gpu_owns_address(mmap->addr);
	if (sf_validation_is_on)
		sf_mmap_check_block(mmap);
	sf_mmap_set_started(mmap);
	mmap->free_due = mmap->free_cb != NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	if (mmap == NULL) {
		SF_LOG_ERR("mmap is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	bool pci_import = mmap->from_export && (mmap->permissions & sf_mmap_export_flags(SF_MMAP_EXPORT_RDMA)) == 0;
	if (pci_import || mmap->exported[SF_MMAP_EXPORT_PCI]) {
		/* Not an error: published programs stop an exported memory map before they destroy it. */
		SF_LOG_INFO("memory map was %s PCI and cannot be stopped, only destroyed",
			    pci_import ? "made from an export over" : "exported over");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	doca_error_t result = check_unused(mmap, "stopped");
	if (result == DOCA_SUCCESS && mmap->started)
		mmap_end(mmap);
	return result;
}

/* ---- devices ---- */

struct sf_mmap_dev *sf_mmap_dev_find(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < mmap->num_devs; i++) {
		if (mmap->devs[i].dev == dev)
			return &mmap->devs[i];
	}
	return NULL;
}

/* Checks for both calls below: the arguments, and that the mmap may still change its devices. */
static doca_error_t check_devs_change(const struct doca_mmap *mmap, const struct doca_dev *dev, const char *what)
{
	if (mmap == NULL || dev == NULL) {
		SF_LOG_ERR("%s is NULL: cannot %s", mmap == NULL ? "mmap" : "dev", what);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->started) {
		SF_LOG_ERR("memory map is started: %s before that, or after doca_mmap_stop", what);
		SF_BROKEN(MMAP_002, mmap, NULL, "it is started already");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = check_devs_change(mmap, dev, "add a device");

	if (result != DOCA_SUCCESS)
		return result;
	if (sf_mmap_dev_find(mmap, dev) != NULL) {
		SF_LOG_ERR("memory map has device %s already", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_ALREADY_EXIST;
	}
	if (mmap->num_devs == mmap->max_devs) {
		SF_LOG_ERR("memory map has %u devices, which is its maximum: raise it with doca_mmap_set_max_num_devices",
			   mmap->num_devs);
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_dev_hold(dev);
	assert(mmap->num_devs < mmap->max_devs);
	mmap->devs[mmap->num_devs++] = (struct sf_mmap_dev){.dev = dev};
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = check_devs_change(mmap, dev, "remove a device");

	if (result != DOCA_SUCCESS)
		return result;
	struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, dev);
	if (entry == NULL) {
		SF_LOG_ERR("memory map does not have device %s", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_NOT_FOUND;
	}
	sf_dev_release(entry->dev);
	assert(mmap->num_devs > 0);
	*entry = mmap->devs[--mmap->num_devs];
	return DOCA_SUCCESS;
}

/* ---- what libraries see ---- */

doca_error_t sf_mmap_hold(struct doca_mmap *mmap)
{
	if (!mmap->started) {
		SF_LOG_ERR("memory map is not started: call doca_mmap_start first");
		SF_BROKEN(MMAP_003, mmap, NULL, "it is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	pthread_mutex_lock(&mmap->lock);
	mmap->holds++;
	pthread_mutex_unlock(&mmap->lock);
	return DOCA_SUCCESS;
}

void sf_mmap_release(struct doca_mmap *mmap)
{
	pthread_mutex_lock(&mmap->lock);
	assert(mmap->holds > 0);
	mmap->holds--;
	pthread_mutex_unlock(&mmap->lock);
}

uint32_t sf_mmap_permissions(const struct doca_mmap *mmap)
{
	return mmap->permissions;
}

bool sf_mmap_has_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	return sf_mmap_dev_find(mmap, dev) != NULL;
}

bool sf_mmap_contains(const struct doca_mmap *mmap, const void *addr, size_t len)
{
	return mmap->started && sf_mmap_is_live(mmap, addr, len);
}

bool sf_mmap_is_gpu_memory(const struct doca_mmap *mmap)
{
	return mmap->is_gpu_memory;
}

uint32_t sf_mmap_rights(uint32_t permissions)
{
	uint32_t rights = 0;

	if (permissions & (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ))
		rights |= SF_RIGHT_READ;
	if (permissions & (DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE))
		rights |= SF_RIGHT_WRITE;
	if (permissions & (DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))
		rights |= SF_RIGHT_ATOMIC;
	return rights;
}

static doca_error_t region_open(const struct doca_mmap *mmap, struct sf_mmap_dev *entry)
{
	struct sf_domain *domain;
	doca_error_t result = sf_dev_domain(entry->dev, &domain);

	if (result != DOCA_SUCCESS)
		return result;
	return sf_region_register(domain, mmap->addr, mmap->len, sf_mmap_rights(mmap->permissions), &entry->region);
}

doca_error_t sf_mmap_region(struct doca_mmap *mmap, struct doca_dev *dev, struct sf_region **region)
{
	struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, dev);

	if (entry == NULL) {
		SF_LOG_ERR("memory map does not have device %s: add it with doca_mmap_add_dev before start",
			   sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!mmap->started) {
		SF_LOG_ERR("memory map is not started: call doca_mmap_start first");
		return DOCA_ERROR_BAD_STATE;
	}
	if (mmap->is_gpu_memory) {
		SF_LOG_ERR("memory map is GPU memory, which only kernels can access");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	doca_error_t result = DOCA_SUCCESS;
	pthread_mutex_lock(&mmap->lock);
	if (entry->region == NULL)
		result = region_open(mmap, entry);
	if (result == DOCA_SUCCESS)
		*region = entry->region;
	pthread_mutex_unlock(&mmap->lock);
	return result;
}

/* The kernel allocates the pages on first access. */
static void *bounce_make(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* With the lock. */
static doca_error_t bounce_get(const struct doca_mmap *mmap, struct sf_mmap_dev *entry, bool written, uint8_t **addr)
{
	void **bounce = &entry->bounce[written];

	if (*bounce == NULL) {
		void *made = bounce_make(mmap->len);

		if (made == MAP_FAILED) {
			SF_LOG_ERR_LIMITED(
				"no memory for a bounce buffer of %zu bytes: imported memory at %p cannot be mapped, because "
				"it is not whole pages of its owner, or is reached by a network",
				mmap->len, mmap->addr);
			return DOCA_ERROR_NO_MEMORY;
		}
		*bounce = made;
	}
	*addr = *bounce;
	return DOCA_SUCCESS;
}

/* With the lock. */
static doca_error_t here_get(const struct doca_mmap *mmap, struct sf_mmap_dev *entry, bool written, struct sf_mmap_here *here)
{
	void *mapped;

	here->bounced = sf_region_map(entry->region, &mapped) != DOCA_SUCCESS;
	if (here->bounced)
		return bounce_get(mmap, entry, written, &here->addr);
	here->addr = mapped;
	return DOCA_SUCCESS;
}

doca_error_t sf_mmap_find_here(struct doca_mmap *mmap, struct doca_dev *dev, bool written, struct sf_mmap_here *here)
{
	struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, dev);

	if (entry == NULL || !mmap->from_export)
		return DOCA_ERROR_NOT_FOUND;
	pthread_mutex_lock(&mmap->lock);
	doca_error_t result = here_get(mmap, entry, written, here);
	pthread_mutex_unlock(&mmap->lock);
	return result;
}

doca_error_t sf_mmap_here_region(struct doca_mmap *mmap, struct doca_dev *dev, struct sf_region **region)
{
	struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, dev);
	struct sf_mmap_here here;

	if (entry == NULL || !mmap->from_export)
		return DOCA_ERROR_NOT_FOUND;
	pthread_mutex_lock(&mmap->lock);
	doca_error_t result = here_get(mmap, entry, true, &here);
	if (result == DOCA_SUCCESS && entry->here == NULL)
		result = sf_region_register(entry->region->domain, here.addr, mmap->len, 0, &entry->here);
	if (result == DOCA_SUCCESS)
		*region = entry->here;
	pthread_mutex_unlock(&mmap->lock);
	return result;
}

doca_error_t doca_mmap_get_mkey(struct doca_mmap *mmap, struct doca_dev *dev, uint32_t *mkey)
{
	if (mmap == NULL || dev == NULL || mkey == NULL) {
		SF_LOG_ERR("mmap, dev or mkey is NULL: a memory key needs all three");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, dev);
	if (entry == NULL) {
		SF_LOG_ERR("memory map does not have device %s", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!mmap->started) {
		SF_LOG_ERR("memory map is not started and has no memory key: call doca_mmap_start first");
		return DOCA_ERROR_BAD_STATE;
	}
	doca_error_t result = DOCA_SUCCESS;
	pthread_mutex_lock(&mmap->lock);
	if (entry->mkey == SF_MKEY_NONE)
		result = sf_mkey_create((uintptr_t)mmap->addr, mmap->len, &entry->mkey);
	if (result == DOCA_SUCCESS)
		*mkey = entry->mkey;
	pthread_mutex_unlock(&mmap->lock);
	return result;
}
