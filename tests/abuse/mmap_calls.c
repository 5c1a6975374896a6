/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps. A map's flag: thread safety was enabled, so bufs are not counted. */
#include <doca_mmap.h>
#include <unistd.h>

#include "abuse.h"

/* Without counting, the program must keep a map as long as its bufs. */
static bool must_stay(const struct doca_mmap *mmap)
{
	const struct object *object = mmap != NULL ? object_find(MMAP, mmap) : NULL;

	return object != NULL && (object->kept > 0 || (object->users > 0 && object->flag));
}

static void create(void)
{
	struct doca_mmap *mmap;

	if (!has_room(MMAP))
		return;
	struct doca_mmap **place = or_null(&mmap);

	expect_if(true);
	if (CALL(doca_mmap_create, place) == DOCA_SUCCESS)
		object_add(MMAP, mmap);
}

static void destroy(void)
{
	struct doca_mmap *mmap = pick(MMAP);

	if (must_stay(mmap))
		return;
	refuse_if(mmap != NULL && object_find(MMAP, mmap)->users > 0);
	if (CALL(doca_mmap_destroy, mmap) == DOCA_SUCCESS)
		object_drop(MMAP, mmap);
}

static void start(void)
{
	struct doca_mmap *object = pick(MMAP);

	CALL(doca_mmap_start, object);
}

static void stop(void)
{
	struct doca_mmap *mmap = pick(MMAP);

	if (must_stay(mmap))
		return;
	refuse_if(mmap != NULL && object_find(MMAP, mmap)->users > 0);
	CALL(doca_mmap_stop, mmap);
}

static void add_dev(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);

	CALL(doca_mmap_add_dev, mmap, dev);
}

static void rm_dev(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);

	CALL(doca_mmap_rm_dev, mmap, dev);
}

/* ---- exports ---- */

#define EXPORT(name, function)                                                                                                   \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		const void *descriptor;                                                                                          \
		size_t len;                                                                                                      \
		struct doca_mmap *mmap = pick(MMAP);                                                                             \
		struct doca_dev *dev = pick(DEV);                                                                                \
		const void **place = or_null(&descriptor);                                                                       \
		size_t *size = or_null(&len);                                                                                    \
		CALL(function, mmap, dev, place, size);                                                                          \
	}
EXPORT(export_pci, doca_mmap_export_pci)
EXPORT(export_rdma, doca_mmap_export_rdma)

/* Uses a descriptor of an existing map, whole or damaged, or bytes that are no descriptor. */
static void create_from_export(void)
{
	uint8_t copy[4096];
	const void *descriptor = memory;
	size_t len = random_below(64);
	union doca_data data = {.u64 = 1};
	struct doca_mmap *mmap;
	struct object *exporter = object_any(MMAP), *exporter_dev = object_any(DEV);

	if (!has_room(MMAP))
		return;
	if (exporter != NULL && exporter_dev != NULL)
		(void)doca_mmap_export_pci(exporter->pointer, exporter_dev->pointer, &descriptor, &len);
	if (len > sizeof(copy))
		len = sizeof(copy);
	for (size_t i = 0; i < len; i++)
		copy[i] = ((const uint8_t *)descriptor)[i];
	if (len > 0 && chance(3))
		copy[random_below((uint32_t)len)] ^= (uint8_t)(1 + random_below(255));
	if (len > 0 && chance(6))
		len = random_below((uint32_t)len);
	const void *bytes = or_null(copy);
	struct doca_dev *dev = pick(DEV);
	struct doca_mmap **place = or_null(&mmap);

	if (CALL(doca_mmap_create_from_export, chance(2) ? &data : NULL, bytes, len, dev, place) == DOCA_SUCCESS)
		object_add(MMAP, mmap);
}

static void dpa_handle(void)
{
	doca_dpa_dev_mmap_t handle;
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);
	doca_dpa_dev_mmap_t *place = or_null(&handle);

	refuse_if(true);
	CALL(doca_mmap_dev_get_dpa_handle, mmap, dev, place);
}

static void get_mkey(void)
{
	uint32_t mkey;
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);
	uint32_t *place = or_null(&mkey);

	CALL(doca_mmap_get_mkey, mmap, dev, place);
}

/* ---- attributes ---- */

static void set_memrange(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	uint8_t *addr = or_null(memory + random_below(4096));
	size_t len = chance(8) ? 0 : chance(8) ? SIZE_MAX : MEMORY_SIZE - 4096;

	refuse_if(len == 0 || len == SIZE_MAX);
	CALL(doca_mmap_set_memrange, mmap, addr, len);
}

static void set_dmabuf(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	int fd = chance(2) ? STDERR_FILENO : -1;

	refuse_if(fd < 0);
	CALL(doca_mmap_set_dmabuf_memrange, mmap, fd, chance(4) ? NULL : memory, 0, MEMORY_SIZE);
}

static void set_dpa(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dpa *dpa = or_null(memory); /* there is none, and the argument is never accessed */

	refuse_if(true);
	CALL(doca_mmap_set_dpa_memrange, mmap, dpa, 4096, 4096);
}

static void get_memrange(void)
{
	void *addr;
	size_t len;
	struct doca_mmap *mmap = pick(MMAP);
	void **place = or_null(&addr);
	size_t *size = or_null(&len);

	CALL(doca_mmap_get_memrange, mmap, place, size);
}

static void freed(void *addr, size_t len, void *cookie) {}

static void set_free_cb(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	doca_mmap_memrange_free_cb_t *cb = or_null(freed);

	CALL(doca_mmap_set_free_cb, mmap, cb, NULL);
}

#define GETTER(name, function, type) CALL_GETTER(name, function, MMAP, struct doca_mmap, type, true)
GETTER(get_user_data, doca_mmap_get_user_data, union doca_data)
GETTER(get_max_devs, doca_mmap_get_max_num_devices, uint32_t)
GETTER(get_num_bufs, doca_mmap_get_num_bufs, uint32_t)
GETTER(get_exported, doca_mmap_get_exported, uint8_t)
GETTER(get_from_export, doca_mmap_get_from_export, uint8_t)

static void set_max_devs(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	uint32_t number = chance(4) ? UINT32_MAX : random_below(9);

	refuse_if(number == 0 || number == UINT32_MAX);
	CALL(doca_mmap_set_max_num_devices, mmap, number);
}

static void set_permissions(void)
{
	static const uint32_t masks[] = {0,
					 DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
					 DOCA_ACCESS_FLAG_PCI_READ_ONLY,
					 DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
					 DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE,
					 DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE,
					 UINT32_MAX};
	struct doca_mmap *mmap = pick(MMAP);
	uint32_t i = random_below(sizeof(masks) / sizeof(masks[0]));

	refuse_if(i >= 5);
	CALL(doca_mmap_set_permissions, mmap, masks[i]);
}

static void set_user_data(void)
{
	struct doca_mmap *object = pick(MMAP);

	CALL(doca_mmap_set_user_data, object, (union doca_data){.u64 = 7});
}

static void enable_thread_safety(void)
{
	struct doca_mmap *mmap = chance(4) ? pick(MMAP) : or_null(NULL);

	if (CALL(doca_mmap_enable_thread_safety, mmap) == DOCA_SUCCESS)
		object_find(MMAP, mmap)->flag = true;
}

static void set_token(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);
	uint8_t *token = or_null(memory);
	size_t size = chance(4) ? 33 : random_below(33);

	refuse_if(size == 0 || size > 32);
	CALL(doca_mmap_set_export_access_token, mmap, dev, token, size);
}

static void cap_token(void)
{
	size_t size;
	struct doca_devinfo *info = pick(DEVINFO);
	size_t *place = or_null(&size);

	expect_if(true);
	CALL(doca_mmap_cap_get_max_export_access_token_size, info, place);
}

#define CAPABILITY(name, function)                                                                                               \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		uint8_t value;                                                                                                   \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		uint8_t *place = or_null(&value);                                                                                \
		CALL(function, info, place);                                                                                     \
	}
CAPABILITY(cap_export, doca_mmap_cap_is_export_pci_supported)
CAPABILITY(cap_import, doca_mmap_cap_is_create_from_export_pci_supported)

static void prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_mmap *mmap;

	if (dev == NULL || CALL(doca_mmap_create, &mmap) != DOCA_SUCCESS)
		return;
	object_add(MMAP, mmap);
	CALL(doca_mmap_add_dev, mmap, dev->pointer);
	CALL(doca_mmap_set_memrange, mmap, memory, MEMORY_SIZE);
	CALL(doca_mmap_set_permissions, mmap,
	     chance(2) ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
	CALL(doca_mmap_start, mmap);
}

static const struct call calls[] = {
	{"doca_mmap_create", create, 3},
	{"doca_mmap_destroy", destroy, 1, true},
	{"doca_mmap_start", start},
	{"doca_mmap_stop", stop, 1, true},
	{"doca_mmap_add_dev", add_dev, 2},
	{"doca_mmap_rm_dev", rm_dev},
	{"doca_mmap_export_pci", export_pci},
	{"doca_mmap_export_rdma", export_rdma, 2},
	{"doca_mmap_create_from_export", create_from_export},
	{"doca_mmap_dev_get_dpa_handle", dpa_handle},
	{"doca_mmap_get_mkey", get_mkey},
	{"doca_mmap_set_memrange", set_memrange, 2},
	{"doca_mmap_set_dmabuf_memrange", set_dmabuf},
	{"doca_mmap_set_dpa_memrange", set_dpa},
	{"doca_mmap_get_memrange", get_memrange},
	{"doca_mmap_set_free_cb", set_free_cb},
	{"doca_mmap_get_user_data", get_user_data},
	{"doca_mmap_get_max_num_devices", get_max_devs},
	{"doca_mmap_get_num_bufs", get_num_bufs},
	{"doca_mmap_get_exported", get_exported},
	{"doca_mmap_get_from_export", get_from_export},
	{"doca_mmap_set_max_num_devices", set_max_devs},
	{"doca_mmap_set_permissions", set_permissions, 2},
	{"doca_mmap_set_user_data", set_user_data},
	{"doca_mmap_enable_thread_safety", enable_thread_safety},
	{"doca_mmap_set_export_access_token", set_token, 2},
	{"doca_mmap_cap_get_max_export_access_token_size", cap_token},
	{"doca_mmap_cap_is_export_pci_supported", cap_export},
	{"doca_mmap_cap_is_create_from_export_pci_supported", cap_import},
};
const struct group mmap_group = GROUP(calls, prepare);
