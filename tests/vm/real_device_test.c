/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A real RDMA device as a DOCA program sees it: it is listed under its own name, the bridge returns its protection domain and
 * keys, and two RDMA instances communicate over it. Skips without such a device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <doca_rdma_bridge.h>

#include "support/rdma_rig.h"
#include "topology/sysfs.h"

#define SIZE (1 << 20)

static char name[64]; /* the device's name in the kernel */

static struct doca_dev *open_real(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	uint32_t num;

	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		assert_int_equal(doca_devinfo_get_ibdev_name(list[i], ibdev, sizeof(ibdev)), DOCA_SUCCESS);
		if (strcmp(ibdev, name) == 0)
			assert_int_equal(doca_dev_open(list[i], &dev), DOCA_SUCCESS);
	}
	doca_devinfo_destroy_list(list);
	return dev;
}

static void the_device_is_listed_under_its_name(void **state)
{
	struct doca_dev *dev = open_real();

	assert_non_null(dev);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void the_bridge_gives_the_protection_domain(void **state)
{
	struct doca_dev *dev = open_real();
	struct ibv_pd *pd, *again;

	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_SUCCESS);
	assert_string_equal(pd->context->device->name, name);
	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, &again), DOCA_SUCCESS);
	assert_ptr_equal(pd, again);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void the_bridge_gives_keys_of_memory(void **state)
{
	struct doca_dev *dev = open_real();
	struct doca_buf_inventory *inventory;
	char *memory = aligned_alloc(4096, SIZE);
	struct doca_mmap *mmap;
	struct doca_buf *buf;
	struct ibv_pd *pd;
	uint32_t of_buf, of_mmap;

	memset(memory, 1, SIZE);
	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(1, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(inventory, mmap, memory, 64, &buf), DOCA_SUCCESS);

	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_buf_mkey(buf, dev, &of_buf), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &of_mmap), DOCA_SUCCESS);
	assert_int_equal(of_buf, of_mmap);
	assert_int_not_equal(of_buf, 0);

	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	free(memory);
}

/* Real devices come first in the list, so both instances use the one with index 0. */
static void instances_talk_over_the_device(void **state)
{
	struct doca_rdma_connection *ab, *ba;
	const void *a_details, *b_details, *descriptor;
	struct doca_buf *bufs[6];
	size_t a_size, b_size, len;
	struct rdma_rig a, b;
	struct ibv_pd *pd;

	rdma_rig_prepare(&a, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_prepare(&b, 0, SIZE, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_rdma_bridge_get_dev_pd(a.dev, &pd)); /* a software device has none */
	CHECK_OK(doca_mmap_export_rdma(b.mmap, b.dev, &descriptor, &len));
	rdma_rig_import(&a, descriptor, len);
	rdma_rig_start(&a);
	rdma_rig_start(&b);
	CHECK_OK(doca_rdma_export(a.rdma, &a_details, &a_size, &ab));
	CHECK_OK(doca_rdma_export(b.rdma, &b_details, &b_size, &ba));
	CHECK_OK(doca_rdma_connect(a.rdma, b_details, b_size, ab));
	CHECK_OK(doca_rdma_connect(b.rdma, a_details, a_size, ba));

	for (size_t i = 0; i < SIZE; i++)
		a.memory[i] = (uint8_t)(i * 7 + (i >> 9));
	bufs[0] = rig_room(&b, 0, 5000);
	bufs[1] = rig_source(&a, 100, 5000);
	CHECK_OK(rig_receive(&b, bufs[0], 1));
	CHECK_OK(rig_send(&a, ab, bufs[1], 2));
	RDMA_RIG_WAIT(&a, &b, a.num_good == 1 && b.num_received == 1);
	assert_memory_equal(b.memory, a.memory + 100, 5000);

	bufs[2] = rig_source(&a, 7, 300000);
	bufs[3] = rig_remote_room(&a, 10001, 300000);
	CHECK_OK(rig_write(&a, ab, bufs[2], bufs[3], 3));
	RDMA_RIG_WAIT(&a, &b, a.num_good == 2);
	assert_memory_equal(b.memory + 10001, a.memory + 7, 300000);

	*(uint64_t *)(b.memory + 512 * 1024) = 41;
	bufs[4] = rig_remote_room(&a, 512 * 1024, 8);
	bufs[5] = rig_room(&a, 512 * 1024, 8);
	CHECK_OK(rig_cas(&a, ab, bufs[4], bufs[5], 41, 42, 4));
	RDMA_RIG_WAIT(&a, &b, a.num_good == 3);
	assert_int_equal(*(uint64_t *)(b.memory + 512 * 1024), 42);
	assert_int_equal(*(uint64_t *)(a.memory + 512 * 1024), 41);
	assert_int_equal(a.num_failed + b.num_failed, 0);

	for (int i = 0; i < 6; i++)
		rig_put(bufs[i]);
	rdma_rig_stop(&a);
	rdma_rig_stop(&b);
	rdma_rig_fini(&a);
	rdma_rig_fini(&b);
}

/* A program's own protection domain becomes that of the device opened from it. */
static void a_device_opens_from_a_protection_domain(void **state)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW);
	struct ibv_device **(*get_device_list)(int *);
	struct ibv_context *(*open_device)(struct ibv_device *);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *);
	struct ibv_device **list;
	struct ibv_pd *pd = NULL, *own;
	struct doca_dev *dev;
	int num;

	*(void **)&get_device_list = dlsym(library, "ibv_get_device_list");
	*(void **)&open_device = dlsym(library, "ibv_open_device");
	*(void **)&alloc_pd = dlsym(library, "ibv_alloc_pd");
	list = get_device_list(&num);
	for (int i = 0; i < num && pd == NULL; i++) {
		if (strcmp(list[i]->name, name) == 0)
			pd = alloc_pd(open_device(list[i]));
	}
	assert_non_null(pd);
	assert_int_equal(doca_rdma_bridge_open_dev_from_pd(pd, &dev), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_bridge_get_dev_pd(dev, &own), DOCA_SUCCESS);
	assert_ptr_equal(own, pd);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS); /* the protection domain lives as long as the process */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_device_is_listed_under_its_name),
		cmocka_unit_test(the_bridge_gives_the_protection_domain),
		cmocka_unit_test(the_bridge_gives_keys_of_memory),
		cmocka_unit_test(instances_talk_over_the_device),
		cmocka_unit_test(a_device_opens_from_a_protection_domain),
	};
	struct sf_real_device devices[SF_REAL_DEVICES_MAX];

	unsetenv("SOFTFIELD_FABRIC");
	if (sf_sysfs_rdma("", devices) == 0)
		return 77;
	memcpy(name, devices[0].name, sizeof(name));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
