/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of memory maps, buffers, inventories and pools. */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_dev.h>
#include <doca_mmap.h>

#include "support/sanitizers.h"
#include "support/slow.h"
#include "support/test_dev.h"

#define BYTES 4096

static uint8_t memory[BYTES];
static struct doca_dev *dpu, *host;

/* Not started. */
static struct doca_mmap *mmap_new(void *addr, size_t len, struct doca_dev *dev, uint32_t permissions)
{
	struct doca_mmap *mmap;

	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(softfield_validation_set_name(mmap, "pool"));
	CHECK_OK(doca_mmap_set_memrange(mmap, addr, len));
	CHECK_OK(doca_mmap_add_dev(mmap, dev));
	CHECK_OK(doca_mmap_set_permissions(mmap, permissions));
	return mmap;
}

static struct doca_mmap *mmap_started(void)
{
	struct doca_mmap *mmap = mmap_new(memory, sizeof(memory), host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);

	CHECK_OK(doca_mmap_start(mmap));
	return mmap;
}

/* ---- memory maps ---- */

static void range_missing(bool wrong)
{
	struct doca_mmap *mmap;

	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(doca_mmap_add_dev(mmap, host));
	if (!wrong)
		CHECK_OK(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	assert_int_equal(doca_mmap_start(mmap) == DOCA_SUCCESS, !wrong);
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void device_missing(bool wrong)
{
	struct doca_mmap *mmap;

	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	if (!wrong)
		CHECK_OK(doca_mmap_add_dev(mmap, host));
	assert_int_equal(doca_mmap_start(mmap) == DOCA_SUCCESS, !wrong);
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void permissions_set_late(bool wrong)
{
	struct doca_mmap *mmap = mmap_new(memory, sizeof(memory), host, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	if (wrong)
		CHECK_OK(doca_mmap_start(mmap));
	(void)doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	CHECK_OK(doca_mmap_start(mmap));
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void device_added_late(bool wrong)
{
	struct doca_mmap *mmap = mmap_new(memory, sizeof(memory), host, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	if (wrong)
		CHECK_OK(doca_mmap_start(mmap));
	(void)doca_mmap_add_dev(mmap, dpu);
	CHECK_OK(doca_mmap_start(mmap));
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void mmap_not_started(bool wrong)
{
	struct doca_mmap *mmap = mmap_new(memory, sizeof(memory), host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	const void *descriptor;
	size_t len;

	if (!wrong)
		CHECK_OK(doca_mmap_start(mmap));
	(void)doca_mmap_export_pci(mmap, host, &descriptor, &len);
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void buf_of_a_mmap_not_started(bool wrong)
{
	struct doca_mmap *mmap = mmap_new(memory, sizeof(memory), host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf = NULL;

	CHECK_OK(doca_buf_inventory_create(1, &inventory));
	CHECK_OK(doca_buf_inventory_start(inventory));
	if (!wrong)
		CHECK_OK(doca_mmap_start(mmap));
	if (doca_buf_inventory_buf_get_by_addr(inventory, mmap, memory, 64, &buf) == DOCA_SUCCESS)
		CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_buf_inventory_destroy(inventory));
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void missing_right(bool wrong)
{
	struct doca_mmap *mmap = mmap_new(memory, sizeof(memory), host,
					  wrong ? DOCA_ACCESS_FLAG_LOCAL_READ_WRITE : DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	const void *descriptor;
	size_t len;

	CHECK_OK(doca_mmap_start(mmap));
	(void)doca_mmap_export_pci(mmap, host, &descriptor, &len);
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void export_for_another_device(bool wrong)
{
	struct doca_mmap *mmap = mmap_started();
	const void *descriptor;
	size_t len;

	(void)doca_mmap_export_pci(mmap, wrong ? dpu : host, &descriptor, &len);
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void mmap_destroyed_before_its_buf(bool wrong)
{
	struct doca_mmap *mmap = mmap_started();
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_create(1, &inventory));
	CHECK_OK(doca_buf_inventory_start(inventory));
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(inventory, mmap, memory, 64, &buf));
	if (wrong)
		assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_buf_inventory_destroy(inventory));
	CHECK_OK(doca_mmap_destroy(mmap));
}

/* new char(size) for new char[size]: one byte, and whatever the heap rounds it up to. */
static void one_byte_for_many(bool wrong)
{
	const size_t size = 1000;
	uint8_t *bytes = malloc(wrong ? 1 : size);
	struct doca_mmap *mmap = mmap_new(bytes, size, host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);

	CHECK_OK(doca_mmap_start(mmap));
	CHECK_OK(doca_mmap_destroy(mmap));
	free(bytes);
}

/* Parts of a block, and aligned blocks, are valid. */
static void range_in_a_freed_block(bool wrong)
{
	const size_t size = 2000;
	uint8_t *bytes = malloc(size), *behind = malloc(size); /* so that it does not merge with the free rest of the heap */
	uint8_t *aligned = aligned_alloc(64, 1024);
	uintptr_t addr = (uintptr_t)bytes;

	assert_true(behind != NULL && aligned != NULL);
	if (wrong)
		free(bytes);
	struct doca_mmap *mmap = mmap_new((void *)(addr + 64), size - 64, host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	CHECK_OK(doca_mmap_start(mmap));
	CHECK_OK(doca_mmap_destroy(mmap));
	mmap = mmap_new(aligned, 1024, host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	CHECK_OK(doca_mmap_start(mmap));
	CHECK_OK(doca_mmap_destroy(mmap));
	if (!wrong)
		free(bytes);
	free(behind);
	free(aligned);
}

static void memory_never_exported(bool wrong)
{
	struct doca_mmap *mmap = mmap_started(), *imported = NULL;
	const void *descriptor;
	uint8_t bytes[BYTES];
	size_t len;

	CHECK_OK(doca_mmap_export_pci(mmap, host, &descriptor, &len));
	memset(bytes, 0, sizeof(bytes));
	if (!wrong)
		memcpy(bytes, descriptor, len);
	if (doca_mmap_create_from_export(NULL, bytes, wrong ? 200 : len, dpu, &imported) == DOCA_SUCCESS)
		CHECK_OK(doca_mmap_destroy(imported));
	CHECK_OK(doca_mmap_destroy(mmap));
}

/* The eight bytes of the magic come before the version. */
static void version_mismatch(bool wrong)
{
	struct doca_mmap *mmap = mmap_started(), *imported = NULL;
	const void *descriptor;
	uint8_t bytes[BYTES];
	size_t len;

	CHECK_OK(doca_mmap_export_pci(mmap, host, &descriptor, &len));
	memcpy(bytes, descriptor, len);
	if (wrong)
		bytes[8] = 1;
	if (doca_mmap_create_from_export(NULL, bytes, len, dpu, &imported) == DOCA_SUCCESS)
		CHECK_OK(doca_mmap_destroy(imported));
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void imported_where_it_does_not_reach(bool wrong)
{
	struct doca_dev *other = test_dev_open_pci("03:00.1");
	struct doca_mmap *mmap = mmap_started(), *imported = NULL;
	const void *descriptor;
	size_t len;

	CHECK_OK(doca_mmap_export_pci(mmap, host, &descriptor, &len));
	if (doca_mmap_create_from_export(NULL, descriptor, len, wrong ? other : dpu, &imported) == DOCA_SUCCESS)
		CHECK_OK(doca_mmap_destroy(imported));
	CHECK_OK(doca_mmap_destroy(mmap));
	CHECK_OK(doca_dev_close(other));
}

/* ---- buffers ---- */

struct bufs {
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
};

static struct bufs bufs_new(uint32_t num)
{
	struct bufs bufs = {.mmap = mmap_started()};

	CHECK_OK(doca_buf_inventory_create(num, &bufs.inventory));
	CHECK_OK(softfield_validation_set_name(bufs.inventory, "bufs"));
	CHECK_OK(doca_buf_inventory_start(bufs.inventory));
	return bufs;
}

static void bufs_free(struct bufs *bufs)
{
	CHECK_OK(doca_buf_inventory_destroy(bufs->inventory));
	CHECK_OK(doca_mmap_destroy(bufs->mmap));
}

static void data_past_the_end(bool wrong)
{
	struct bufs bufs = bufs_new(1);
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(bufs.inventory, bufs.mmap, memory, 64, &buf));
	CHECK_OK(softfield_validation_set_name(buf, "request"));
	CHECK_OK(doca_buf_set_data(buf, memory + 32, wrong ? 33 : 32));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_free(&bufs);
}

static void data_length_past_the_end(bool wrong)
{
	struct bufs bufs = bufs_new(1);
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(bufs.inventory, bufs.mmap, memory, 64, &buf));
	CHECK_OK(doca_buf_set_data_len(buf, wrong ? 100 : 64));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_free(&bufs);
}

static void double_free_of_a_buf(bool wrong)
{
	struct bufs bufs = bufs_new(1);
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(bufs.inventory, bufs.mmap, memory, 64, &buf));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	if (wrong)
		assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_ERROR_BAD_STATE);
	bufs_free(&bufs);
}

static void wrong_address(bool wrong)
{
	static uint8_t elsewhere[64];
	struct bufs bufs = bufs_new(1);
	struct doca_buf *buf;

	if (doca_buf_inventory_buf_get_by_addr(bufs.inventory, bufs.mmap, wrong ? elsewhere : memory, 64, &buf) == DOCA_SUCCESS)
		CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_free(&bufs);
}

static void inventory_not_started(bool wrong)
{
	struct doca_mmap *mmap = mmap_started();
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_create(1, &inventory));
	if (!wrong)
		CHECK_OK(doca_buf_inventory_start(inventory));
	if (doca_buf_inventory_buf_get_by_addr(inventory, mmap, memory, 64, &buf) == DOCA_SUCCESS)
		CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_buf_inventory_destroy(inventory));
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void empty_inventory(bool wrong)
{
	struct bufs bufs = bufs_new(1);
	struct doca_buf *first, *second = NULL;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(bufs.inventory, bufs.mmap, memory, 64, &first));
	if (!wrong)
		CHECK_OK(doca_buf_dec_refcount(first, NULL));
	if (doca_buf_inventory_buf_get_by_addr(bufs.inventory, bufs.mmap, memory, 64, &second) != DOCA_SUCCESS)
		second = first;
	CHECK_OK(doca_buf_dec_refcount(second, NULL));
	bufs_free(&bufs);
}

static void empty_buf_pool(bool wrong)
{
	struct doca_mmap *mmap = mmap_started();
	struct doca_buf_pool *pool;
	struct doca_buf *first, *second = NULL;

	CHECK_OK(doca_buf_pool_create(1, 64, mmap, &pool));
	CHECK_OK(doca_buf_pool_start(pool));
	CHECK_OK(doca_buf_pool_buf_alloc(pool, &first));
	if (!wrong)
		CHECK_OK(doca_buf_dec_refcount(first, NULL));
	if (doca_buf_pool_buf_alloc(pool, &second) != DOCA_SUCCESS)
		second = first;
	CHECK_OK(doca_buf_dec_refcount(second, NULL));
	CHECK_OK(doca_buf_pool_stop(pool));
	CHECK_OK(doca_buf_pool_destroy(pool));
	CHECK_OK(doca_mmap_destroy(mmap));
}

static void inventory_destroyed_before_its_bufs(bool wrong)
{
	struct bufs bufs = bufs_new(1);
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(bufs.inventory, bufs.mmap, memory, 64, &buf));
	if (wrong)
		assert_int_equal(doca_buf_inventory_destroy(bufs.inventory), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	bufs_free(&bufs);
}

static const struct scenario scenarios[] = {
	SCENARIO(range_missing, "SF-MMAP-001: mmap (0x): doca_mmap_start: it has no memory range; fix: call "
				"doca_mmap_set_memrange and doca_mmap_add_dev before doca_mmap_start"),
	SCENARIO(device_missing, "SF-MMAP-001: mmap (0x): doca_mmap_start: it has no device; fix: call doca_mmap_set_memrange "
				 "and doca_mmap_add_dev before doca_mmap_start"),
	SCENARIO(permissions_set_late, "SF-MMAP-002: mmap \"pool\" (0x): doca_mmap_set_permissions: it is started already, and "
				       "its permissions cannot change; fix: move the call before doca_mmap_start"),
	SCENARIO(device_added_late, "SF-MMAP-002: mmap \"pool\" (0x): doca_mmap_add_dev: it is started already; fix: move the "
				    "call before doca_mmap_start"),
	SCENARIO(mmap_not_started, "SF-MMAP-003: mmap \"pool\" (0x): doca_mmap_export_pci: it is not started; fix: call "
				   "doca_mmap_start first, and keep it started while it is used"),
	SCENARIO(buf_of_a_mmap_not_started,
		 "SF-MMAP-003: mmap \"pool\" (0x): doca_buf_inventory_buf_get_by_args: it is not started, so no buf can lie in "
		 "it; fix: call doca_mmap_start first, and keep it started while it is used"),
	SCENARIO(missing_right, "SF-MMAP-004: mmap \"pool\" (0x): doca_mmap_export_pci: it has no PCI right in its permissions, "
				"which are 0x1; fix: give the right in doca_mmap_set_permissions, on the side named"),
	SCENARIO(export_for_another_device, "SF-MMAP-005: mmap \"pool\" (0x): doca_mmap_export_pci: it does not have device "
					    "0000:03:00.0; fix: call doca_mmap_add_dev with that device before doca_mmap_start"),
	SCENARIO(mmap_destroyed_before_its_buf,
		 "SF-MMAP-006: mmap \"pool\" (0x): doca_mmap_destroy: 1 of its bufs are in use; fix: release its buffers "
		 "(doca_buf_dec_refcount), and destroy the consumers that were made with it"),
	SCENARIO(memory_never_exported,
		 "SF-MMAP-008: mmap: doca_mmap_create_from_export: the descriptor of 200 bytes is not one of a memory map; fix: "
		 "export on the owner's side (doca_mmap_export_pci, doca_mmap_export_rdma), and pass on all bytes unchanged"),
	SCENARIO(version_mismatch,
		 "SF-PEER-001: peer: doca_mmap_create_from_export: the export descriptor of 224 bytes is of version 1, and 2 is "
		 "understood; fix: install the same Softfield on both sides, and restart both"),
	SCENARIO(imported_where_it_does_not_reach,
		 "SF-MMAP-009: mmap: doca_mmap_create_from_export: device dpu0/0000:03:00.1 does not reach memory of device "
		 "host0/0000:d8:00.0, dpu0/0000:03:00.0 does; fix: open the device that the report names, and import with that"),
	SCENARIO(data_past_the_end, "SF-BUF-001: buf \"request\" (0x): doca_buf_set_data: data of 33 bytes at 0x passes its end: "
				    "it has 64 bytes at 0x; fix: give a shorter length, or a larger buffer"),
	SCENARIO(data_length_past_the_end, "SF-BUF-001: buf (0x): doca_buf_set_data_len: data of 100 bytes at 0x passes its end: "
					   "it has 64 bytes at 0x; fix: give a shorter length, or a larger buffer"),
	SCENARIO(double_free_of_a_buf, "SF-BUF-002: buf (0x): doca_buf_dec_refcount: it was released already; fix: count one "
				       "doca_buf_dec_refcount for each doca_buf_inc_refcount and each buffer taken"),
	SCENARIO(wrong_address,
		 "SF-BUF-003: mmap \"pool\" (0x): doca_buf_inventory_buf_get_by_args: a buf of 64 bytes at 0x is not inside its "
		 "4096 bytes at 0x; fix: take the address and length from the range of doca_mmap_set_memrange"),
	SCENARIO(inventory_not_started, "SF-BUF-004: buf inventory (0x): doca_buf_inventory_buf_get_by_args: it is not started; "
					"fix: call doca_buf_inventory_start, or doca_buf_pool_start, first"),
	SCENARIO(empty_inventory, "SF-BUF-005: buf inventory \"bufs\" (0x): doca_buf_inventory_buf_get_by_args: all of its bufs "
				  "are out: 1; fix: release buffers (doca_buf_dec_refcount), or make it larger"),
	SCENARIO(empty_buf_pool, "SF-BUF-005: buf pool (0x): doca_buf_pool_buf_alloc: all of its bufs are out: 1; fix: release "
				 "buffers (doca_buf_dec_refcount), or make it larger"),
	SCENARIO(inventory_destroyed_before_its_bufs, "SF-BUF-006: buf inventory \"bufs\" (0x): doca_buf_inventory_destroy: 1 of "
						      "its bufs are out; fix: release them (doca_buf_dec_refcount) first"),
	/* last, because they need the heap of glibc, which AddressSanitizer replaces */
	SCENARIO(range_in_a_freed_block,
		 "SF-MMAP-007: mmap \"pool\" (0x): doca_mmap_start: its range of 1936 bytes at 0x lies in memory that was freed; "
		 "fix: allocate as many bytes as doca_mmap_set_memrange is given, and free them after doca_mmap_destroy"),
	SCENARIO(one_byte_for_many,
		 "SF-MMAP-007: mmap \"pool\" (0x): doca_mmap_start: its range has 1000 bytes at 0x, and the block of the heap "
		 "there ends after 24; fix: allocate as many bytes as doca_mmap_set_memrange is given, and free them after "
		 "doca_mmap_destroy"),
};

int main(void)
{
	dpu = test_dev_open_pci("03:00.0");
	host = test_dev_open_pci("d8:00.0");
	const bool has_heap = !HAS_ASAN && !slow_machine(); /* glibc's, in a mapping that the kernel names */
	int failed = scenarios_run("memory", scenarios, sizeof(scenarios) / sizeof(scenarios[0]) - (has_heap ? 0 : 2));

	CHECK_OK(doca_dev_close(dpu));
	CHECK_OK(doca_dev_close(host));
	return failed;
}
