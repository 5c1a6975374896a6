/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions, errors, devices, bufs and flags of the 1.5 API. */
#include <stdlib.h>

#include "legacy/fixture.h"

#include <doca_argp.h>
#include <doca_compat.h>
#include <doca_config.h>
#include <doca_version.h>

#if defined(DOCA_ARCH_DPU) == defined(DOCA_ARCH_HOST)
#error "a program is built for one of both"
#endif

static void errors_have_names_and_texts(void **state)
{
	doca_error_t first = DOCA_SUCCESS;

	(void)state;
	assert_string_equal(doca_get_error_name(DOCA_ERROR_UNEXPECTED), "DOCA_ERROR_UNEXPECTED");
	assert_true(strlen(doca_get_error_string(DOCA_ERROR_IO_FAILED)) > 0);
	assert_non_null(doca_get_error_string((doca_error_t)12345));
	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_AGAIN);
	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_NO_MEMORY);
	assert_int_equal(first, DOCA_ERROR_AGAIN);
}

static void the_version_is_1_5(void **state)
{
	(void)state;
	assert_string_equal(doca_version(), "1.5.0055");
	assert_true(DOCA_VERSION_EQ_CURRENT(1, 5, 55));
	assert_true(DOCA_VERSION_LTE_CURRENT(1, 3, 0));
	assert_false(DOCA_VERSION_LTE_CURRENT(2, 2, 0));
	assert_non_null(doca_version_runtime());
}

static void addresses_are_numbers(void **state)
{
	struct doca_dev *dpu = open_device("03:00.0"), *host = open_device("d8:00.0");
	struct doca_pci_bdf bdf, again;

	(void)state;
	assert_ok(doca_devinfo_get_pci_addr(doca_dev_as_devinfo(dpu), &bdf));
	assert_int_equal(bdf.bus, 3);
	assert_int_equal(bdf.device, 0);
	assert_int_equal(bdf.function, 0);
	assert_int_equal(bdf.raw, 3);
	assert_ok(doca_devinfo_property_get(doca_dev_as_devinfo(host), DOCA_DEVINFO_PROPERTY_PCI_ADDR, (uint8_t *)&bdf,
					    sizeof(bdf)));
	assert_int_equal(bdf.bus, 0xd8);
	assert_int_equal(doca_devinfo_property_get(doca_dev_as_devinfo(host), DOCA_DEVINFO_PROPERTY_PCI_ADDR, (uint8_t *)&bdf, 1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(
		doca_devinfo_property_get(doca_dev_as_devinfo(host), (enum doca_devinfo_property)1, (uint8_t *)&bdf, sizeof(bdf)),
		DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_pci_addr(doca_dev_as_devinfo(dpu), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_pci_addr(NULL, &again), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dev_close(dpu));
	assert_ok(doca_dev_close(host));
}

static uint32_t num_reps(struct doca_dev *dev, int filter)
{
	struct doca_devinfo_rep **reps;
	uint32_t num;

	assert_ok(doca_devinfo_rep_list_create(dev, filter, &reps, &num));
	assert_ok(doca_devinfo_rep_list_destroy(reps));
	return num;
}

static void representors_are_filtered(void **state)
{
	struct doca_dev *dpu = open_device("03:00.0"), *host = open_device("d8:00.0");
	struct doca_devinfo_rep **reps;
	enum doca_pci_func_type type;
	struct doca_pci_bdf bdf;
	uint32_t num;
	uint8_t flag = 2;

	(void)state;
	assert_int_equal(num_reps(dpu, DOCA_DEV_REP_FILTER_NET), num_reps(dpu, DOCA_DEV_REP_FILTER_ALL));
	assert_true(num_reps(dpu, DOCA_DEV_REP_FILTER_NET | DOCA_DEV_REP_FILTER_NVME) > 0);
	assert_int_equal(num_reps(dpu, DOCA_DEV_REP_FILTER_NVME), 0);
	assert_int_equal(num_reps(dpu, DOCA_DEV_REP_FILTER_VIRTIO_FS | DOCA_DEV_REP_FILTER_VIRTIO_NET), 0);
	assert_int_equal(num_reps(dpu, DOCA_DEV_REP_FILTER_VIRTIO_BLK), 0);
	assert_int_equal(doca_devinfo_rep_list_create(dpu, 1 << 6, &reps, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_list_create(host, DOCA_DEV_REP_FILTER_ALL, &reps, &num), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_devinfo_rep_list_create(dpu, DOCA_DEV_REP_FILTER_NET, &reps, &num));
	assert_ok(doca_devinfo_rep_get_pci_addr(reps[0], &bdf));
	assert_int_equal(bdf.bus, 0xd8);
	assert_int_equal(doca_devinfo_rep_get_pci_addr(reps[0], NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_rep_get_pci_func_type(reps[0], &type));
	assert_int_equal(type, DOCA_PCI_FUNC_PF);
	assert_ok(doca_devinfo_rep_list_destroy(reps));
	assert_ok(doca_devinfo_rep_get_is_list_nvme_supported(doca_dev_as_devinfo(host), &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_devinfo_get_is_mmap_export_supported(doca_dev_as_devinfo(host), &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_devinfo_get_is_mmap_from_export_supported(doca_dev_as_devinfo(dpu), &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_dev_close(dpu));
	assert_ok(doca_dev_close(host));
}

static void bufs_have_places_and_lists(void **state)
{
	struct fixture f;
	uint16_t refcount;
	uint32_t key;
	void *head;
	size_t len;
	bool last;

	(void)state;
	fixture_open(&f, 1);
	struct doca_buf *buf = room_at(&f, 256, 100), *other = room_at(&f, 1024, 10);

	assert_ok(doca_buf_get_head(buf, &head));
	assert_ptr_equal(head, f.memory + 256);
	assert_ok(doca_buf_get_len(buf, &len));
	assert_int_equal(len, 100);
	assert_ok(doca_buf_get_refcount(buf, &refcount));
	assert_int_equal(refcount, 1);
	assert_ok(doca_buf_list_chain(buf, other));
	assert_ok(doca_buf_list_is_last(buf, &last));
	assert_false(last);
	/* A software device has no keys. */
	assert_int_equal(doca_buf_get_lkey(buf, f.dev, DOCA_ACCESS_LOCAL_WRITE | DOCA_ACCESS_REMOTE_READ, &key),
			 DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_buf_get_lkey(buf, f.dev, 16, &key), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_lkey(NULL, f.dev, DOCA_ACCESS_LOCAL_READ, &key), DOCA_ERROR_INVALID_VALUE);
	release(buf);
	fixture_close(&f);
}

static void inventories_have_extensions(void **state)
{
	struct doca_buf_inventory *inventory;
	union doca_data data = {.u64 = 3};

	(void)state;
	assert_ok(doca_buf_inventory_create(&data, 4, DOCA_BUF_EXTENSION_LINKED_LIST, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_stop(inventory));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_int_equal(doca_buf_inventory_create(NULL, 4, 2, &inventory), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_create(NULL, 4, 0, NULL), DOCA_ERROR_INVALID_VALUE);
}

static doca_error_t set_number(void *value, void *config)
{
	*(int *)config = *(const int *)value;
	return DOCA_SUCCESS;
}

static void flags_are_parsed(void **state)
{
	char *argv[] = {"legacy15", "--size", "64", NULL};
	struct doca_argp_param *param;
	int size = 0;

	(void)state;
	assert_ok(doca_argp_init("legacy15", &size));
	assert_ok(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, "s");
	doca_argp_param_set_long_name(param, "size");
	doca_argp_param_set_description(param, "A size");
	doca_argp_param_set_callback(param, set_number);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_mandatory(param);
	assert_ok(doca_argp_register_param(param));
	assert_ok(doca_argp_start(3, argv));
	assert_int_equal(size, 64);
	assert_ok(doca_argp_destroy());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_names_and_texts),
		cmocka_unit_test(the_version_is_1_5),
		cmocka_unit_test(addresses_are_numbers),
		cmocka_unit_test(representors_are_filtered),
		cmocka_unit_test(bufs_have_places_and_lists),
		cmocka_unit_test(inventories_have_extensions),
		cmocka_unit_test(flags_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
