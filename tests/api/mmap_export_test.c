/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps that are exported and imported: the rules in one process, the memory between two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "base/little.h"
#include "mmap_fixture.h"
#include "mem/mmap.h"
#include "mem/mmap_descriptor.h"
#include "support/check.h"
#include "support/test_dev.h"

static int exportable_setup(void **state)
{
	struct fixture *f;
	int error = setup(state);

	f = *state;
	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_SUCCESS);
	return error;
}

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	const void *desc;
	uint8_t supported;
	size_t len;

	assert_int_equal(doca_mmap_export_pci(NULL, f->dev, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_pci(f->mmap, NULL, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, NULL, 1, f->dev, &mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, f, 1, NULL, &mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, f, 1, f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_cap_is_export_pci_supported(NULL, &supported), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(f->dev), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_cap_is_create_from_export_pci_supported(NULL, &supported), DOCA_ERROR_INVALID_VALUE);
}

static void capabilities_say_yes(void **state)
{
	struct fixture *f = *state;
	uint8_t supported = 0;

	assert_int_equal(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(f->dev), &supported), DOCA_SUCCESS);
	assert_int_equal(supported, 1);
	supported = 0;
	assert_int_equal(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(f->dev), &supported),
			 DOCA_SUCCESS);
	assert_int_equal(supported, 1);
}

static void export_is_rejected(void **state)
{
	struct fixture *f = *state;
	const void *desc;
	uint8_t exported = 1;
	size_t len;

	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED); /* not started */
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev2, &desc, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED); /* no RDMA right */
	assert_int_equal(doca_mmap_get_exported(f->mmap, &exported), DOCA_SUCCESS);
	assert_int_equal(exported, 0);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
}

static void exported_map_stays_started(void **state)
{
	struct fixture *f = *state;
	const void *desc, *again;
	uint8_t exported = 0;
	size_t len, again_len;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &again, &again_len), DOCA_SUCCESS);
	assert_ptr_equal(desc, again);
	assert_int_equal(len, again_len);
	assert_int_equal(doca_mmap_get_exported(f->mmap, &exported), DOCA_SUCCESS);
	assert_int_equal(exported, 1);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, 0), DOCA_ERROR_BAD_STATE);
}

static void export_for_rdma_ends_with_the_stop(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *imported, *again;
	uint8_t first[SF_MMAP_DESCRIPTOR_MAX];
	const void *desc;
	uint8_t exported = 1;
	size_t len;

	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	memcpy(first, desc, len);
	assert_int_equal(doca_mmap_create_from_export(NULL, first, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_exported(f->mmap, &exported), DOCA_SUCCESS);
	assert_int_equal(exported, 0);
	assert_int_equal(doca_mmap_create_from_export(NULL, first, len, f->dev, &again), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, first, sizeof(first), f->dev, &again), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, f->dev, &again), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(again), DOCA_SUCCESS);
}

static void import_for_rdma_ends_with_its_stop(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *imported, *again;
	uint8_t still_exported = 0;
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, f->dev, &again), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(imported), DOCA_ERROR_NOT_PERMITTED);
	assert_false(sf_mmap_contains(imported, f->memory, 1));
	assert_true(sf_mmap_contains(again, f->memory, 1)); /* the other imports are not affected */
	assert_int_equal(doca_mmap_get_exported(f->mmap, &still_exported), DOCA_SUCCESS);
	assert_int_equal(still_exported, 1);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(again), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(imported), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
}

/* A DPU exports a host's memory to the network. */
static void an_import_over_pci_is_exported_for_rdma(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *imported, *remote, *again;
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX];
	const void *desc;
	void *addr;
	size_t len, size;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(imported, f->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_rdma(imported, f->dev2, &desc, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_export_rdma(imported, f->dev, &desc, &len), DOCA_SUCCESS);
	memcpy(bytes, desc, len);
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev2, &remote), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_memrange(remote, &addr, &size), DOCA_SUCCESS);
	assert_ptr_equal(addr, f->memory);
	assert_int_equal(sf_mmap_permissions(remote),
			 DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC);
	assert_int_equal(doca_mmap_export_rdma(remote, f->dev2, &desc, &size), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS); /* the DPU's import is not needed any more */
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev2, &again), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(again), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS); /* when the owner ends, so does every import */
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev2, &again), DOCA_ERROR_NOT_PERMITTED);
	f->mmap = NULL;
	assert_int_equal(doca_mmap_destroy(remote), DOCA_SUCCESS);
}

static void import_may_become_thread_safe(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *imported;
	struct doca_buf *buf;
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(1, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(inventory, imported, f->memory, 1, &buf), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_enable_thread_safety(imported), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_enable_thread_safety(imported), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
}

static void export_for_rdma_stays_while_bufs_are_out(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	const void *desc;
	void *addr;
	size_t len;

	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_memrange(f->mmap, &addr, &len), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(1, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(inventory, f->mmap, addr, 1, &buf), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
}

/* A kernel of the peer must know whether its writes may be reordered. The flag alone permits nothing. */
static void relaxed_ordering_is_passed_on(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *imported;
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, desc, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(sf_mmap_permissions(imported), DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
}

static void damaged_descriptor_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX + 1] = {0};
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	memcpy(bytes, desc, len);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(doca_mmap_create_from_export(NULL, bytes, cut, f->dev, &mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len + 1, f->dev, &mmap), DOCA_ERROR_INVALID_VALUE);
	for (size_t at = 0; at < len; at++) {
		bytes[at] ^= 0x10;
		assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev, &mmap), DOCA_ERROR_INVALID_VALUE);
		bytes[at] ^= 0x10;
	}
}

static void started_descriptor(struct fixture *f, struct sf_mmap_descriptor *descriptor)
{
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(sf_mmap_descriptor_unpack(desc, len, descriptor), DOCA_SUCCESS);
}

/* A well-formed descriptor whose owner has other memory there. */
static void wrong_descriptor_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct sf_mmap_descriptor descriptor;
	struct doca_mmap *mmap;
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX];
	size_t len;

	started_descriptor(f, &descriptor);
	descriptor.len *= 2;
	len = sf_mmap_descriptor_pack(&descriptor, bytes);
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev, &mmap), DOCA_ERROR_INVALID_VALUE);
}

static void import_is_ready_and_has_no_setters(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	struct doca_buf *buf;
	union doca_data data = {.u64 = 21};
	const void *desc;
	uint8_t from_export = 0;
	size_t len;
	void *addr;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(&data, desc, len, f->dev, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_from_export(mmap, &from_export), DOCA_SUCCESS);
	assert_int_equal(from_export, 1);
	data.u64 = 0;
	assert_int_equal(doca_mmap_get_user_data(mmap, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 21);
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	assert_ptr_equal(addr, f->memory);
	assert_int_equal(len, SIZE);
	assert_int_equal(sf_mmap_permissions(mmap), DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory, SIZE), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_permissions(mmap, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_add_dev(mmap, f->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export_pci(mmap, f->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_inventory_create(1, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(inventory, mmap, f->memory + 100, 100, &buf), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void import_of_a_destroyed_map_is_not_permitted(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX];
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	memcpy(bytes, desc, len);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	f->mmap = NULL;
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev, &mmap), DOCA_ERROR_NOT_PERMITTED);
}

/* ---- access tokens ---- */

#define TOKEN_AT 24 /* offset in a descriptor of shm */

/* Starts, exports for RDMA, copies the descriptor, and stops. */
static size_t export_once(struct fixture *f, uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX])
{
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	memcpy(bytes, desc, len);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, bytes, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	return len;
}

static const uint8_t *key_in(const uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX])
{
	return bytes + SF_MMAP_DESCRIPTOR_HEADER + TOKEN_AT;
}

static int token_setup(void **state)
{
	int error = setup(state);

	assert_int_equal(doca_mmap_set_permissions(((struct fixture *)*state)->mmap, DOCA_ACCESS_FLAG_RDMA_READ), DOCA_SUCCESS);
	return error;
}

static void token_is_the_key_of_the_export(void **state)
{
	struct fixture *f = *state;
	static const uint8_t one[32] = "one", other[32] = "one and another";
	uint8_t none[2][SF_MMAP_DESCRIPTOR_MAX], same[2][SF_MMAP_DESCRIPTOR_MAX], longer[SF_MMAP_DESCRIPTOR_MAX],
		another[SF_MMAP_DESCRIPTOR_MAX];

	for (int i = 0; i < 2; i++)
		export_once(f, none[i]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, one, 3), DOCA_SUCCESS);
		export_once(f, same[i]);
	}
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, one, 4), DOCA_SUCCESS);
	export_once(f, longer);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, other, sizeof(other)), DOCA_SUCCESS);
	export_once(f, another);
	assert_memory_not_equal(key_in(none[0]), key_in(none[1]), 16);
	assert_memory_equal(key_in(same[0]), key_in(same[1]), 16);
	assert_memory_not_equal(key_in(same[0]), key_in(longer), 16);
	assert_memory_not_equal(key_in(same[0]), key_in(another), 16);
}

/* Imports the descriptor with another token: well-formed. */
static doca_error_t import_with_key(struct fixture *f, const uint8_t *bytes, size_t len, const uint8_t *key)
{
	struct sf_mmap_descriptor descriptor;
	uint8_t region[SF_DESCRIPTOR_MAX], forged[SF_MMAP_DESCRIPTOR_MAX];
	struct doca_mmap *mmap;

	assert_int_equal(sf_mmap_descriptor_unpack(bytes, len, &descriptor), DOCA_SUCCESS);
	memcpy(region, descriptor.region, descriptor.region_len);
	memcpy(region + TOKEN_AT, key, 16);
	size_t end = descriptor.region_len - sizeof(uint64_t);
	sf_put_le64(region + end, sf_checksum(SF_CHECKSUM_BEGIN, region, end));
	descriptor.region = region;
	len = sf_mmap_descriptor_pack(&descriptor, forged);
	doca_error_t result = doca_mmap_create_from_export(NULL, forged, len, f->dev2, &mmap);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	return result;
}

static void import_needs_the_token(void **state)
{
	struct fixture *f = *state;
	uint8_t wrong[SF_MMAP_DESCRIPTOR_MAX], key[16];
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, (const uint8_t *)"wrong", 5), DOCA_SUCCESS);
	export_once(f, wrong);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, (const uint8_t *)"right", 5), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	memcpy(key, key_in(desc), sizeof(key));
	assert_int_equal(import_with_key(f, desc, len, key), DOCA_SUCCESS);
	assert_int_equal(import_with_key(f, desc, len, key_in(wrong)), DOCA_ERROR_NOT_PERMITTED);
	key[15] ^= 1;
	assert_int_equal(import_with_key(f, desc, len, key), DOCA_ERROR_NOT_PERMITTED);
}

static void token_is_rejected(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *imported;
	uint8_t token[64] = {1}, bytes[SF_MMAP_DESCRIPTOR_MAX];
	const void *desc;
	size_t len, max;

	assert_int_equal(doca_mmap_cap_get_max_export_access_token_size(NULL, &max), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_cap_get_max_export_access_token_size(doca_dev_as_devinfo(f->dev), NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_cap_get_max_export_access_token_size(doca_dev_as_devinfo(f->dev), &max), DOCA_SUCCESS);
	assert_true(max < sizeof(token));
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, token, max), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, token, max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, token, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_export_access_token(NULL, f->dev, token, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, NULL, token, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev2, token, 1), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_export_access_token(f->mmap, f->dev, token, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_export_rdma(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	memcpy(bytes, desc, len);
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev, &imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_export_access_token(imported, f->dev, token, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
}

/* ---- which device reaches the memory of which ---- */

static doca_error_t import_across(struct fixture *f, const char *from, const char *to, uint32_t permissions)
{
	struct doca_dev *exporter = test_dev_open_pci(from), *importer = test_dev_open_pci(to);
	struct doca_mmap *mmap, *imported;
	const void *desc;
	size_t len;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, exporter), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory, SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, permissions), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	if (permissions & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
		assert_int_equal(doca_mmap_export_pci(mmap, exporter, &desc, &len), DOCA_SUCCESS);
	else
		assert_int_equal(doca_mmap_export_rdma(mmap, exporter, &desc, &len), DOCA_SUCCESS);
	doca_error_t result = doca_mmap_create_from_export(NULL, desc, len, importer, &imported);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(exporter), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(importer), DOCA_SUCCESS);
	return result;
}

/* The default topology: d8:00.0 with VFs d8:00.2 and .3 is behind port 03:00.0, d8:00.1 behind 03:00.1. */
static void pci_memory_is_reached_through_the_port_only(void **state)
{
	static const struct {
		const char *from, *to;
		doca_error_t result;
	} pairs[] = {
		{"d8:00.0", "03:00.0", DOCA_SUCCESS},
		{"d8:00.2", "03:00.0", DOCA_SUCCESS},
		{"d8:00.3", "03:00.0", DOCA_SUCCESS},
		{"d8:00.1", "03:00.1", DOCA_SUCCESS},
		{"03:00.0", "d8:00.0", DOCA_SUCCESS},
		{"d8:00.0", "d8:00.0", DOCA_SUCCESS},
		{"d8:00.0", "03:00.1", DOCA_ERROR_NOT_PERMITTED},
		{"d8:00.1", "03:00.0", DOCA_ERROR_NOT_PERMITTED},
		{"d8:00.0", "d8:00.1", DOCA_ERROR_NOT_PERMITTED},
		{"03:00.0", "03:00.1", DOCA_ERROR_NOT_PERMITTED},
		{"d8:00.0", "d8:00.2", DOCA_ERROR_NOT_PERMITTED},
		{"03:00.0", "d8:00.1", DOCA_ERROR_NOT_PERMITTED},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_int_equal(import_across(*state, pairs[i].from, pairs[i].to, DOCA_ACCESS_FLAG_PCI_READ_WRITE),
				 pairs[i].result);
}

static void rdma_memory_is_reached_from_any_device(void **state)
{
	assert_int_equal(import_across(*state, "d8:00.0", "03:00.1", DOCA_ACCESS_FLAG_RDMA_READ), DOCA_SUCCESS);
	assert_int_equal(import_across(*state, "03:00.0", "d8:00.3", DOCA_ACCESS_FLAG_RDMA_WRITE), DOCA_SUCCESS);
}

static void descriptor_of_an_unknown_device_is_not_permitted(void **state)
{
	struct fixture *f = *state;
	struct sf_mmap_descriptor descriptor;
	struct doca_mmap *mmap;
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX];
	size_t len;

	started_descriptor(f, &descriptor);
	strcpy(descriptor.device, "host9/0000:00:00.0");
	len = sf_mmap_descriptor_pack(&descriptor, bytes);
	assert_int_equal(doca_mmap_create_from_export(NULL, bytes, len, f->dev, &mmap), DOCA_ERROR_NOT_PERMITTED);
}

/* ---- two processes ---- */

/* The other node: reads what the exporter wrote, and writes a reply. */
static void importer(int socket)
{
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX];
	struct doca_dev *dev = test_dev_open(0);
	struct doca_mmap *mmap;
	struct sf_region *region;
	void *here;
	ssize_t len = recv(socket, bytes, sizeof(bytes), 0);

	CHECK(len > 0);
	CHECK(doca_mmap_create_from_export(NULL, bytes, (size_t)len, dev, &mmap) == DOCA_SUCCESS);
	CHECK(sf_mmap_region(mmap, dev, &region) == DOCA_SUCCESS);
	CHECK(region->imported);
	CHECK(sf_region_map(region, &here) == DOCA_SUCCESS);
	CHECK(strcmp((char *)here + 5000, "question") == 0);
	strcpy((char *)here + 9000, "answer");
	CHECK(send(socket, "", 1, 0) == 1);
	CHECK(recv(socket, bytes, 1, 0) == 1);
	CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
	_exit(0);
}

static int sockets[2];
static pid_t child;

static void memory_is_shared_between_two_processes(void **state)
{
	struct fixture *f = *state;
	const void *desc;
	size_t len;
	char byte;
	int status;

	strcpy(f->memory + 5000, "question");
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(f->mmap, f->dev, &desc, &len), DOCA_SUCCESS);
	assert_int_equal(send(sockets[0], desc, len, 0), len);
	if (recv(sockets[0], &byte, 1, 0) == 1) {
		assert_string_equal(f->memory + 9000, "answer");
		assert_int_equal(send(sockets[0], &byte, 1, 0), 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_string_equal(f->memory + 9000, "answer");
}

#define T(name) cmocka_unit_test_setup_teardown(name, exportable_setup, teardown)
#define T_TOKEN(name) cmocka_unit_test_setup_teardown(name, token_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(memory_is_shared_between_two_processes),
		T(null_arguments),
		T(capabilities_say_yes),
		T(export_is_rejected),
		T(exported_map_stays_started),
		T(export_for_rdma_ends_with_the_stop),
		T(import_for_rdma_ends_with_its_stop),
		T(an_import_over_pci_is_exported_for_rdma),
		T(import_may_become_thread_safe),
		T(export_for_rdma_stays_while_bufs_are_out),
		T(relaxed_ordering_is_passed_on),
		T(damaged_descriptor_is_invalid),
		T(wrong_descriptor_is_invalid),
		T(import_is_ready_and_has_no_setters),
		T(import_of_a_destroyed_map_is_not_permitted),
		T_TOKEN(token_is_the_key_of_the_export),
		T_TOKEN(import_needs_the_token),
		T_TOKEN(token_is_rejected),
		T(pci_memory_is_reached_through_the_port_only),
		T(rdma_memory_is_reached_from_any_device),
		T(descriptor_of_an_unknown_device_is_not_permitted),
	};

	/* Forked before this process has threads. The importer waits for the descriptor, and ends when the sockets close. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		close(sockets[0]);
		importer(sockets[1]);
	}
	close(sockets[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
