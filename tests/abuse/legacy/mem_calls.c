/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices and memory maps of DOCA 2.2. Functions that today's API shares are called only as far as the states need them. */
#include <sys/mman.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_rdma_bridge.h>

#include "legacy.h"

/* ---- devices ---- */

static void create_list(void)
{
	struct doca_devinfo **list;
	uint32_t num;

	if (!has_room(DEV_LIST))
		return;
	struct doca_devinfo ***place = or_null(&list);
	uint32_t *count = or_null(&num);

	expect_if(true);
	if (CALL(doca_devinfo_list_create, place, count) != DOCA_SUCCESS)
		return;
	uint64_t id = object_add(DEV_LIST, list)->id;

	for (uint32_t i = 0; i < num && object_room(DEVINFO); i++)
		object_add(DEVINFO, list[i])->of = id;
}

static void destroy_list(void)
{
	struct doca_devinfo **list = pick(DEV_LIST);

	expect_if(true);
	if (CALL(doca_devinfo_list_destroy, list) != DOCA_SUCCESS)
		return;
	object_drop_of(DEVINFO, object_find(DEV_LIST, list)->id);
	object_drop(DEV_LIST, list);
}

static struct doca_devinfo *any_info(void)
{
	struct object *dev = object_any(DEV);

	return or_null(dev != NULL ? doca_dev_as_devinfo(dev->pointer) : NULL);
}

static void dev_open(void)
{
	struct doca_dev *dev;
	struct object *list = object_any(DEV_LIST);

	if (!has_room(DEV) || list == NULL)
		return;
	struct doca_devinfo *info = or_null(((struct doca_devinfo **)list->pointer)[0]);

	if (CALL(doca_dev_open, info, &dev) == DOCA_SUCCESS)
		object_add(DEV, dev);
}

static void dev_close(void)
{
	struct doca_dev *dev = pick_or_none(DEV);

	if (CALL(doca_dev_close, dev) == DOCA_SUCCESS && dev != NULL)
		object_drop(DEV, dev);
}

static void rep_list(void)
{
	struct doca_devinfo_rep **list;
	uint32_t num;

	if (!has_room(REP_LIST))
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_devinfo_rep ***place = or_null(&list);
	uint32_t *count = or_null(&num);
	int filter = (int)random_below(6);

	if (CALL(doca_devinfo_rep_list_create, dev, filter, place, count) == DOCA_SUCCESS)
		object_add(REP_LIST, list);
}

static void rep_destroy_list(void)
{
	struct doca_devinfo_rep **list = pick(REP_LIST);

	expect_if(true);
	if (CALL(doca_devinfo_rep_list_destroy, list) == DOCA_SUCCESS)
		object_drop(REP_LIST, list);
}

static void rep_close(void)
{
	struct doca_dev_rep *rep = pick_or_none(REP);

	if (CALL(doca_dev_rep_close, rep) == DOCA_SUCCESS && rep != NULL)
		object_drop(REP, rep);
}

static void is_equal(void)
{
	uint8_t equal;
	struct doca_devinfo *info = any_info();
	char *text = or_null(chance(4) ? "an address" : "03:00.0");
	uint8_t *place = or_null(&equal);

	refuse_if(text != NULL && text[0] == 'a');
	CALL(doca_devinfo_get_is_pci_addr_equal, info, text, place);
}

static void rep_is_equal(void)
{
	uint8_t equal;
	struct object *rep = object_any(REP);
	struct doca_devinfo_rep *info = or_null(rep != NULL ? doca_dev_rep_as_devinfo(rep->pointer) : NULL);
	char *text = or_null(chance(4) ? "an address" : "03:00.0");
	uint8_t *place = or_null(&equal);

	refuse_if(text != NULL && text[0] == 'a');
	CALL(doca_devinfo_rep_get_is_pci_addr_equal, info, text, place);
}

#define DEV_GETTER(name, function, type)                                                                                         \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		type value;                                                                                                      \
		struct doca_devinfo *info = any_info();                                                                          \
		type *place = or_null(&value);                                                                                   \
		expect_if(true);                                                                                                 \
		CALL(function, info, place);                                                                                     \
	}
DEV_GETTER(hotplug, doca_devinfo_get_is_hotplug_manager_supported, uint8_t)
DEV_GETTER(exports, doca_devinfo_get_is_mmap_export_dpu_supported, uint8_t)
DEV_GETTER(imports, doca_devinfo_get_is_mmap_from_export_dpu_supported, uint8_t)
DEV_GETTER(lists_all, doca_devinfo_rep_get_is_list_all_supported, uint8_t)
DEV_GETTER(lists_net, doca_devinfo_rep_get_is_list_net_supported, uint8_t)
DEV_GETTER(lists_emulated, doca_devinfo_rep_get_is_list_emulated_supported, uint8_t)
DEV_GETTER(dma_list_len, doca_dma_get_max_list_buf_num_elem, uint32_t)
DEV_GETTER(dma_size, doca_dma_get_max_buf_size, uint64_t)
DEV_GETTER(sha_list_len, doca_sha_get_max_list_buf_num_elem, uint32_t)
DEV_GETTER(sha_size, doca_sha_get_max_src_buffer_size, uint64_t)

#define DEV_ASK(name, function)                                                                                                  \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_devinfo *info = any_info();                                                                          \
		CALL(function, info);                                                                                            \
	}
DEV_ASK(sha_hardware, doca_sha_get_hardware_supported)
DEV_ASK(event_imports, doca_sync_event_get_create_from_export_supported)
DEV_ASK(event_exports, doca_sync_event_get_export_to_dpu_supported)
DEV_ASK(event_to_dpa, doca_sync_event_get_export_to_dpa_supported)
DEV_ASK(event_to_gpu, doca_sync_event_get_export_to_gpu_supported)

#define JOB_ASK(name, function, enumeration, first, num)                                                                         \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_devinfo *info = any_info();                                                                          \
		int type = first - 1 + (int)random_below(num + 2);                                                               \
		refuse_if(type < (int)(first) || type >= (int)(first) + num);                                                    \
		CALL(function, info, (enum enumeration)type);                                                                    \
	}
JOB_ASK(dma_job, doca_dma_job_get_supported, doca_dma_job_types, DOCA_DMA_JOB_MEMCPY, 1)
JOB_ASK(sha_job, doca_sha_job_get_supported, doca_sha_job_type, DOCA_SHA_JOB_SHA1, 6)
JOB_ASK(event_job, doca_sync_event_job_get_supported, doca_sync_event_job_types, DOCA_SYNC_EVENT_JOB_WAIT_GT, 4)

static void sha_min_dst(void)
{
	uint32_t value;
	struct doca_devinfo *info = any_info();
	uint32_t *place = or_null(&value);
	int type = DOCA_SHA_JOB_SHA1 - 1 + (int)random_below(8);
	bool is_right = type >= DOCA_SHA_JOB_SHA1 && type <= DOCA_SHA_JOB_SHA512_PARTIAL;

	refuse_if(!is_right);
	expect_if(is_right);
	CALL(doca_sha_get_min_dst_buffer_size, info, (enum doca_sha_job_type)type, place);
}

static void get_pd(void)
{
	struct ibv_pd *pd;
	struct doca_dev *dev = pick(DEV);
	struct ibv_pd **place = or_null(&pd);

	CALL(doca_dev_get_pd, dev, place);
}

static void open_from_pd(void)
{
	struct doca_dev *dev;
	struct ibv_pd *pd = or_null(memory);
	struct doca_dev **place = or_null(&dev);

	CALL(doca_dev_open_from_pd, pd, place);
}

static void get_mkey(void)
{
	uint32_t mkey;
	struct doca_buf *buf = pick(BUF);
	struct doca_dev *dev = pick(DEV);
	uint32_t *place = or_null(&mkey);

	CALL(doca_buf_get_mkey, buf, dev, place);
}

static void dev_prepare(void)
{
	struct doca_devinfo **list;
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint32_t num;

	if (CALL(doca_devinfo_list_create, &list, &num) != DOCA_SUCCESS)
		return;
	for (uint32_t i = 0; i < num && i < 4; i++) {
		if (CALL(doca_dev_open, list[chance(2) ? 0 : i], &dev) == DOCA_SUCCESS)
			object_add(DEV, dev);
	}
	CALL(doca_devinfo_list_destroy, list);
	if (CALL(doca_devinfo_rep_list_create, object_any(DEV)->pointer, DOCA_DEV_REP_FILTER_NET, &reps, &num) != DOCA_SUCCESS)
		return;
	if (doca_dev_rep_open(reps[0], &rep) == DOCA_SUCCESS)
		object_add(REP, rep);
	CALL(doca_devinfo_rep_list_destroy, reps);
}

static const struct call dev_calls[] = {
	{"doca_devinfo_list_create", create_list, 2},
	{"doca_devinfo_list_destroy", destroy_list, 1, true},
	{"doca_dev_open", dev_open, 2},
	{"doca_dev_close", dev_close, 1, true},
	{"doca_devinfo_rep_list_create", rep_list, 2},
	{"doca_devinfo_rep_list_destroy", rep_destroy_list, 1, true},
	{"doca_dev_rep_close", rep_close, 1, true},
	{"doca_devinfo_get_is_pci_addr_equal", is_equal},
	{"doca_devinfo_rep_get_is_pci_addr_equal", rep_is_equal},
	{"doca_devinfo_get_is_hotplug_manager_supported", hotplug},
	{"doca_devinfo_get_is_mmap_export_dpu_supported", exports},
	{"doca_devinfo_get_is_mmap_from_export_dpu_supported", imports},
	{"doca_devinfo_rep_get_is_list_all_supported", lists_all},
	{"doca_devinfo_rep_get_is_list_net_supported", lists_net},
	{"doca_devinfo_rep_get_is_list_emulated_supported", lists_emulated},
	{"doca_dma_get_max_list_buf_num_elem", dma_list_len},
	{"doca_dma_get_max_buf_size", dma_size},
	{"doca_sha_get_max_list_buf_num_elem", sha_list_len},
	{"doca_sha_get_max_src_buffer_size", sha_size},
	{"doca_sha_get_min_dst_buffer_size", sha_min_dst},
	{"doca_sha_get_hardware_supported", sha_hardware},
	{"doca_sync_event_get_create_from_export_supported", event_imports},
	{"doca_sync_event_get_export_to_dpu_supported", event_exports},
	{"doca_sync_event_get_export_to_dpa_supported", event_to_dpa},
	{"doca_sync_event_get_export_to_gpu_supported", event_to_gpu},
	{"doca_dma_job_get_supported", dma_job},
	{"doca_sha_job_get_supported", sha_job},
	{"doca_sync_event_job_get_supported", event_job},
	{"doca_dev_get_pd", get_pd},
	{"doca_dev_open_from_pd", open_from_pd},
	{"doca_buf_get_mkey", get_mkey},
};
const struct group old_dev_group = GROUP(dev_calls, dev_prepare);

/* ---- memory maps ---- */

static void create(void)
{
	union doca_data data = {.u64 = 3};
	struct doca_mmap *mmap;

	if (!has_room(MMAP))
		return;
	struct doca_mmap **place = or_null(&mmap);

	expect_if(true);
	if (CALL(doca_mmap_create, chance(2) ? &data : NULL, place) == DOCA_SUCCESS)
		object_add(MMAP, mmap);
}

static void destroy(void)
{
	struct doca_mmap *mmap = pick(MMAP);

	refuse_if(mmap != NULL && object_find(MMAP, mmap)->users > 0);
	if (CALL(doca_mmap_destroy, mmap) == DOCA_SUCCESS)
		object_drop(MMAP, mmap);
}

static void start(void)
{
	struct doca_mmap *mmap = pick(MMAP);

	CALL(doca_mmap_start, mmap);
}

static void stop(void)
{
	struct doca_mmap *mmap = pick(MMAP);

	refuse_if(mmap != NULL && object_find(MMAP, mmap)->users > 0);
	CALL(doca_mmap_stop, mmap);
}

static void dev_add(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);

	CALL(doca_mmap_dev_add, mmap, dev);
}

static void dev_rm(void)
{
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);

	CALL(doca_mmap_dev_rm, mmap, dev);
}

static void set_range(void)
{
	uint8_t *addr;
	size_t len;
	struct doca_mmap *mmap = pick(MMAP);

	random_range(&addr, &len);
	CALL(doca_mmap_set_memrange, mmap, addr, len);
}

static void set_permissions(void)
{
	struct doca_mmap *mmap = pick(MMAP);

	CALL(doca_mmap_set_permissions, mmap, random_below(70));
}

static void set_dmabuf(void)
{
	static int fd = -1;
	struct doca_mmap *mmap = pick(MMAP);
	int given = chance(6) ? -1 : chance(6) ? STDIN_FILENO : fd;
	size_t offset = chance(6) ? 7 : 0, len = chance(6) ? 0 : 4096;

	if (fd < 0) {
		fd = memfd_create("abuse", MFD_CLOEXEC);
		if (ftruncate(fd, 8192) != 0)
			return;
		given = fd;
	}
	refuse_if(given < 0 || offset != 0 || len == 0);
	CALL(doca_mmap_set_dmabuf_memrange, mmap, given, offset, len);
}

static void export_dpu(void)
{
	const void *descriptor;
	size_t len;
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_dev *dev = pick(DEV);
	const void **place = or_null(&descriptor);
	size_t *size = or_null(&len);

	CALL(doca_mmap_export_dpu, mmap, dev, place, size);
}

CALL_GETTER(get_user_data, doca_mmap_get_user_data, MMAP, struct doca_mmap, union doca_data, true)
CALL_GETTER(get_max_devices, doca_mmap_get_max_num_devices, MMAP, struct doca_mmap, uint32_t, true)
CALL_GETTER(get_num_bufs, doca_mmap_get_num_bufs, MMAP, struct doca_mmap, uint32_t, true)
CALL_GETTER(get_exported, doca_mmap_get_exported, MMAP, struct doca_mmap, uint8_t, true)
CALL_GETTER(get_from_export, doca_mmap_get_from_export, MMAP, struct doca_mmap, uint8_t, true)

static void mmap_prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_mmap *mmap;

	if (CALL(doca_mmap_create, NULL, &mmap) != DOCA_SUCCESS)
		return;
	object_add(MMAP, mmap);
	CALL(doca_mmap_set_memrange, mmap, memory, MEMORY_SIZE);
	if (dev != NULL)
		CALL(doca_mmap_dev_add, mmap, dev->pointer);
	CALL(doca_mmap_set_permissions, mmap, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
	CALL(doca_mmap_start, mmap);
}

static const struct call mmap_calls[] = {
	{"doca_mmap_create", create, 2},
	{"doca_mmap_destroy", destroy, 1, true},
	{"doca_mmap_start", start, 2},
	{"doca_mmap_stop", stop},
	{"doca_mmap_dev_add", dev_add, 3},
	{"doca_mmap_dev_rm", dev_rm},
	{"doca_mmap_set_memrange", set_range, 2},
	{"doca_mmap_set_permissions", set_permissions},
	{"doca_mmap_set_dmabuf_memrange", set_dmabuf},
	{"doca_mmap_export_dpu", export_dpu, 2},
	{"doca_mmap_get_user_data", get_user_data},
	{"doca_mmap_get_max_num_devices", get_max_devices},
	{"doca_mmap_get_num_bufs", get_num_bufs},
	{"doca_mmap_get_exported", get_exported},
	{"doca_mmap_get_from_export", get_from_export},
};
const struct group old_mmap_group = GROUP(mmap_calls, mmap_prepare);
