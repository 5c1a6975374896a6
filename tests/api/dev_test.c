/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices and representors of the default topology. */
#include <ctype.h>
#include <net/if.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/dev.h"
#include "support/child.h"

static struct doca_devinfo **list;
static uint32_t list_len;

static int create_list(void **state)
{
	return doca_devinfo_create_list(&list, &list_len) != DOCA_SUCCESS;
}

static int destroy_list(void **state)
{
	return doca_devinfo_destroy_list(list) != DOCA_SUCCESS;
}

static struct doca_devinfo *info(const char *pci)
{
	uint8_t is_equal = 0;

	for (uint32_t i = 0; i < list_len; i++) {
		assert_int_equal(doca_devinfo_is_equal_pci_addr(list[i], pci, &is_equal), DOCA_SUCCESS);
		if (is_equal)
			return list[i];
	}
	fail_msg("no device %s", pci);
	return NULL;
}

static struct doca_dev *open_dev(const char *pci)
{
	struct doca_dev *dev = NULL;

	assert_int_equal(doca_dev_open(info(pci), &dev), DOCA_SUCCESS);
	assert_non_null(dev);
	return dev;
}

/* ---- lists and properties ---- */

static void a_process_without_a_node_lists_every_device(void **state)
{
	static const char *const expected[] = {"0000:03:00.0", "0000:03:00.1", "0000:d8:00.0",
					       "0000:d8:00.2", "0000:d8:00.3", "0000:d8:00.1"};
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];

	assert_int_equal(list_len, 6);
	for (uint32_t i = 0; i < list_len; i++) {
		assert_int_equal(doca_devinfo_get_pci_addr_str(list[i], addr), DOCA_SUCCESS);
		assert_string_equal(addr, expected[i]);
	}
}

static void lists_are_snapshots_of_their_own(void **state)
{
	struct doca_devinfo **other;
	struct doca_dev *dev;
	uint32_t other_len;
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];

	assert_int_equal(doca_devinfo_create_list(&other, &other_len), DOCA_SUCCESS);
	assert_int_equal(other_len, list_len);
	assert_ptr_not_equal(other, list);
	assert_ptr_not_equal(other[0], list[0]);
	assert_int_equal(doca_dev_open(other[0], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(other), DOCA_SUCCESS);

	/* The device outlives the list that it came from, and so does its info. */
	assert_int_equal(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), addr), DOCA_SUCCESS);
	assert_string_equal(addr, "0000:03:00.0");
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void pci_addresses_compare_in_both_spellings(void **state)
{
	struct doca_devinfo *d8 = info("d8:00.0");
	uint8_t is_equal = 7;

	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "0000:D8:00.0", &is_equal), DOCA_SUCCESS);
	assert_int_equal(is_equal, 1);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "D8:00.0", &is_equal), DOCA_SUCCESS);
	assert_int_equal(is_equal, 1);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "0001:d8:00.0", &is_equal), DOCA_SUCCESS);
	assert_int_equal(is_equal, 0);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "d8:00.1", &is_equal), DOCA_SUCCESS);
	assert_int_equal(is_equal, 0);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "d8:00", &is_equal), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "0:d8:00.0", &is_equal), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "mlx5_0", &is_equal), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(d8, "", &is_equal), DOCA_ERROR_INVALID_VALUE);
}

static void properties_of_a_device(void **state)
{
	struct doca_devinfo *port = info("03:00.0");
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	enum doca_pci_func_type type;
	uint64_t rate;
	uint32_t sf_index;
	uint16_t id, other_id, lid;

	assert_int_equal(doca_devinfo_get_ibdev_name(port, ibdev, sizeof(ibdev)), DOCA_SUCCESS);
	assert_string_equal(ibdev, "mlx5_0");
	assert_int_equal(doca_devinfo_get_iface_name(port, iface, sizeof(iface)), DOCA_SUCCESS);
	assert_string_equal(iface, "p0");
	assert_int_equal(doca_devinfo_get_mac_addr(port, mac, sizeof(mac)), DOCA_SUCCESS);
	assert_int_equal(mac[0], 0x02);
	assert_int_equal(doca_devinfo_get_ipv6_addr(port, ipv6, sizeof(ipv6)), DOCA_SUCCESS);
	assert_int_equal(ipv6[0], 0xfe);
	assert_int_equal(doca_devinfo_get_ipv4_addr(port, ipv4, sizeof(ipv4)), DOCA_SUCCESS);
	assert_int_equal(ipv4[3], 2);
	assert_int_equal(doca_devinfo_get_ipv4_addr(info("d8:00.2"), ipv4, sizeof(ipv4)), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_devinfo_get_lid(port, &lid), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_devinfo_get_active_rate(port, &rate), DOCA_SUCCESS);
	assert_int_equal(rate, UINT64_C(200000000000));
	assert_int_equal(doca_devinfo_get_vhca_id(port, &id), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_get_vhca_id(info("03:00.1"), &other_id), DOCA_SUCCESS);
	assert_int_not_equal(id, other_id);
	assert_int_equal(doca_devinfo_get_pci_func_type(port, &type), DOCA_SUCCESS);
	assert_int_equal(type, DOCA_PCI_FUNC_TYPE_PF);
	assert_int_equal(doca_devinfo_get_pci_func_type(info("d8:00.2"), &type), DOCA_SUCCESS);
	assert_int_equal(type, DOCA_PCI_FUNC_TYPE_VF);
	assert_int_equal(doca_devinfo_get_sf_index(port, &sf_index), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_devinfo_get_uplink_ib_port(port, &id), DOCA_SUCCESS);
	assert_int_equal(id, 1);
	assert_int_equal(doca_devinfo_get_data_direct_pci_dev(port, ibdev), DOCA_ERROR_NOT_FOUND);
	assert_string_equal(ibdev, "mlx5_0"); /* unchanged */
}

static void interfaces_without_a_kernel_have_no_index(void **state)
{
	uint32_t index = 99;

	if (if_nametoindex("p0") == 0) {
		assert_int_equal(doca_devinfo_get_iface_index(info("03:00.0"), &index), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(index, 99);
	}
	assert_int_equal(doca_devinfo_get_iface_index(info("03:00.0"), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_iface_index(NULL, &index), DOCA_ERROR_INVALID_VALUE);
}

static void small_buffers_are_rejected_unchanged(void **state)
{
	struct doca_devinfo *port = info("03:00.0");
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE] = "untouched";
	uint8_t bytes[DOCA_DEVINFO_IPV6_ADDR_SIZE];

	assert_int_equal(doca_devinfo_get_ibdev_name(port, text, DOCA_DEVINFO_IBDEV_NAME_SIZE - 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_iface_name(port, text, DOCA_DEVINFO_IFACE_NAME_SIZE - 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_mac_addr(port, bytes, DOCA_DEVINFO_MAC_ADDR_SIZE - 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_ipv6_addr(port, bytes, DOCA_DEVINFO_IPV6_ADDR_SIZE - 1), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(text, "untouched");
}

static void capabilities_of_ports_and_host_functions(void **state)
{
	typedef doca_error_t (*cap_fn)(const struct doca_devinfo *, uint8_t *);
	static const struct {
		cap_fn get;
		int on_port, on_host;
	} caps[] = {
		{doca_devinfo_cap_is_hotplug_manager_supported, 0, 0},
		{doca_devinfo_cap_is_notification_moderation_supported, 0, 0},
		{doca_devinfo_cap_is_accelerate_resource_reclaim_supported, 0, 0},
		{doca_devinfo_rep_cap_is_filter_all_supported, 1, 0},
		{doca_devinfo_rep_cap_is_filter_net_supported, 1, 0},
		{doca_devinfo_rep_cap_is_filter_emulated_supported, 1, 0},
	};

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		uint8_t value = 9;

		assert_int_equal(caps[i].get(info("03:00.0"), &value), DOCA_SUCCESS);
		assert_int_equal(value, caps[i].on_port);
		assert_int_equal(caps[i].get(info("d8:00.0"), &value), DOCA_SUCCESS);
		assert_int_equal(value, caps[i].on_host);
		assert_int_equal(caps[i].get(NULL, &value), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(caps[i].get(info("03:00.0"), NULL), DOCA_ERROR_INVALID_VALUE);
	}
}

static void null_arguments_are_rejected(void **state)
{
	struct doca_devinfo *port = info("03:00.0"), **devs;
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t byte;
	uint32_t len;

	assert_int_equal(doca_devinfo_create_list(NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_create_list(&devs, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_create_list(NULL, 0, &reps, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_open(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_open(port, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_close(NULL), DOCA_SUCCESS);
	assert_int_equal(doca_dev_rep_open(NULL, &rep), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_rep_close(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_accelerate_resource_reclaim(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_dev_as_devinfo(NULL));
	assert_null(doca_dev_rep_as_devinfo(NULL));
	assert_int_equal(doca_devinfo_get_pci_addr_str(port, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_is_equal_pci_addr(port, NULL, &byte), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_get_iface_name(NULL, text, sizeof(text)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_get_vuid(NULL, text, sizeof(text)), DOCA_ERROR_INVALID_VALUE);
}

/* ---- open and close ---- */

static void opens_are_counted(void **state)
{
	struct doca_dev *first = open_dev("03:00.0"), *second = open_dev("0000:03:00.0"), *other = open_dev("03:00.1");

	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, other);
	assert_int_equal(doca_dev_close(first), DOCA_SUCCESS);
	assert_string_equal(sf_dev_desc(second)->key, "dpu0/0000:03:00.0");
	assert_int_equal(doca_dev_close(second), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(other), DOCA_SUCCESS);
}

static void a_device_in_use_cannot_be_closed(void **state)
{
	struct doca_dev *dev = open_dev("d8:00.0");

	sf_dev_hold(dev);
	assert_ptr_equal(open_dev("d8:00.0"), dev);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS); /* not the last open */
	assert_int_equal(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	sf_dev_release(dev);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void reclaim_is_not_supported(void **state)
{
	struct doca_dev *dev = open_dev("d8:00.0");

	assert_int_equal(doca_dev_accelerate_resource_reclaim(dev), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void a_device_has_one_domain(void **state)
{
	struct doca_dev *dev = open_dev("d8:00.0");
	struct sf_domain *first = NULL, *second = NULL;

	assert_int_equal(sf_dev_domain(dev, &first), DOCA_SUCCESS);
	assert_int_equal(sf_dev_domain(dev, &second), DOCA_SUCCESS);
	assert_non_null(first);
	assert_ptr_equal(first, second);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

#define THREADS 4
#define ROUNDS 2000

static void *open_and_close(void *arg)
{
	intptr_t failures = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct doca_dev *dev;

		failures += doca_dev_open(arg, &dev) != DOCA_SUCCESS;
		sf_dev_hold(dev);
		sf_dev_release(dev);
		/* Another thread may still hold it. */
		while (doca_dev_close(dev) == DOCA_ERROR_IN_USE)
			;
	}
	return (void *)failures;
}

static void threads_may_open_the_same_device(void **state)
{
	pthread_t threads[THREADS];
	void *failures;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, info("d8:00.1")), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failures), 0);
		assert_null(failures);
	}
}

/* ---- representors ---- */

static uint32_t count_reps(struct doca_dev *dev, int filter)
{
	struct doca_devinfo_rep **reps = NULL;
	uint32_t len = 99;

	assert_int_equal(doca_devinfo_rep_create_list(dev, filter, &reps, &len), DOCA_SUCCESS);
	assert_non_null(reps);
	assert_int_equal(doca_devinfo_rep_destroy_list(reps), DOCA_SUCCESS);
	return len;
}

static struct doca_dev_rep *open_rep(struct doca_dev *dev, const char *pci)
{
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep = NULL;
	uint32_t len;
	uint8_t is_equal;

	assert_int_equal(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &len), DOCA_SUCCESS);
	for (uint32_t i = 0; i < len && !rep; i++) {
		assert_int_equal(doca_devinfo_rep_is_equal_pci_addr(reps[i], pci, &is_equal), DOCA_SUCCESS);
		if (is_equal)
			assert_int_equal(doca_dev_rep_open(reps[i], &rep), DOCA_SUCCESS);
	}
	assert_int_equal(doca_devinfo_rep_destroy_list(reps), DOCA_SUCCESS);
	assert_non_null(rep);
	return rep;
}

static void filters_choose_representors(void **state)
{
	struct doca_dev *p0 = open_dev("03:00.0"), *p1 = open_dev("03:00.1");

	assert_int_equal(count_reps(p0, DOCA_DEVINFO_REP_FILTER_ALL), 3);
	assert_int_equal(count_reps(p0, DOCA_DEVINFO_REP_FILTER_NET), 3);
	assert_int_equal(count_reps(p0, DOCA_DEVINFO_REP_FILTER_EMULATED), 0);
	assert_int_equal(count_reps(p0, DOCA_DEVINFO_REP_FILTER_NET | DOCA_DEVINFO_REP_FILTER_EMULATED), 3);
	assert_int_equal(count_reps(p1, DOCA_DEVINFO_REP_FILTER_NET), 1);
	assert_int_equal(doca_dev_close(p0), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(p1), DOCA_SUCCESS);
}

static void wrong_representor_lists_are_rejected(void **state)
{
	struct doca_dev *host = open_dev("d8:00.0"), *port = open_dev("03:00.0");
	struct doca_devinfo_rep **reps;
	uint32_t len;

	assert_int_equal(doca_devinfo_rep_create_list(host, DOCA_DEVINFO_REP_FILTER_NET, &reps, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_devinfo_rep_create_list(port, 1, &reps, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_create_list(port, 1 << 3, &reps, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_create_list(port, -1, &reps, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_create_list(port, 0, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_create_list(port, 0, &reps, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dev_close(host), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(port), DOCA_SUCCESS);
}

static void properties_of_a_representor(void **state)
{
	struct doca_dev *port = open_dev("03:00.0");
	struct doca_dev_rep *rep = open_rep(port, "d8:00.2");
	struct doca_devinfo_rep *rep_info = doca_dev_rep_as_devinfo(rep);
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE], addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;
	uint16_t id, function_id;
	uint8_t is_hotplug = 9;

	assert_int_equal(doca_devinfo_rep_get_pci_addr_str(rep_info, addr), DOCA_SUCCESS);
	assert_string_equal(addr, "0000:d8:00.2");
	assert_int_equal(doca_devinfo_rep_get_vuid(rep_info, vuid, sizeof(vuid)), DOCA_SUCCESS);
	assert_true(strlen(vuid) > 20);
	for (const char *c = vuid; *c; c++)
		assert_true(isupper((unsigned char)*c) || isdigit((unsigned char)*c));
	assert_int_equal(doca_devinfo_rep_get_vuid(rep_info, vuid, sizeof(vuid) - 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_devinfo_rep_get_iface_name(rep_info, iface, sizeof(iface)), DOCA_SUCCESS);
	assert_string_equal(iface, "pf0vf0");
	assert_int_equal(doca_devinfo_rep_get_pci_func_type(rep_info, &type), DOCA_SUCCESS);
	assert_int_equal(type, DOCA_PCI_FUNC_TYPE_VF);
	assert_int_equal(doca_devinfo_rep_get_is_hotplug(rep_info, &is_hotplug), DOCA_SUCCESS);
	assert_int_equal(is_hotplug, 0);
	assert_int_equal(doca_devinfo_rep_get_vhca_id(rep_info, &id), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_get_vhca_id(info("d8:00.2"), &function_id), DOCA_SUCCESS);
	assert_int_equal(id, function_id);
	assert_string_equal(sf_dev_rep_desc(rep)->key, "host0/0000:d8:00.2");
	assert_ptr_equal(sf_dev_rep_dev(rep), port);
	assert_int_equal(doca_dev_rep_close(rep), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(port), DOCA_SUCCESS);
}

static void representor_opens_are_counted_and_holds_respected(void **state)
{
	struct doca_dev *port = open_dev("03:00.0");
	struct doca_dev_rep *first = open_rep(port, "d8:00.0"), *second = open_rep(port, "0000:D8:00.0");

	assert_ptr_equal(first, second);
	sf_dev_rep_hold(first);
	assert_int_equal(doca_dev_rep_close(first), DOCA_SUCCESS);
	assert_int_equal(doca_dev_rep_close(first), DOCA_ERROR_IN_USE);
	sf_dev_rep_release(first);
	assert_int_equal(doca_dev_rep_close(first), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(port), DOCA_SUCCESS);
}

/* Programs close the device and its representors in any order. */
static void a_representor_outlives_its_devices_close(void **state)
{
	struct doca_dev *port = open_dev("03:00.0");
	struct doca_dev_rep *rep = open_rep(port, "d8:00.0");
	struct doca_devinfo_rep **reps;
	uint32_t len;

	assert_int_equal(doca_devinfo_rep_create_list(port, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &len), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(port), DOCA_SUCCESS);
	assert_string_equal(sf_dev_desc(sf_dev_rep_dev(rep))->key, "dpu0/0000:03:00.0");
	assert_int_equal(doca_dev_close(port), DOCA_ERROR_INVALID_VALUE); /* one close too many */
	assert_ptr_equal(open_dev("03:00.0"), port);			  /* the same device as before */
	assert_int_equal(doca_dev_close(port), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_rep_destroy_list(reps), DOCA_SUCCESS);
	assert_int_equal(doca_dev_rep_close(rep), DOCA_SUCCESS);
}

/* ---- what a node has ---- */

static const char *folder_of_topologies;

static void use_core_guide(const char *node)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/core-guide.json", folder_of_topologies);
	setenv("SOFTFIELD_TOPOLOGY", path, 1);
	if (node)
		setenv("SOFTFIELD_NODE", node, 1);
	else
		unsetenv("SOFTFIELD_NODE");
}

static void core_guide_host_body(void)
{
	struct doca_devinfo **devs;
	uint32_t len;

	use_core_guide("host");
	CHECK_OK(doca_devinfo_create_list(&devs, &len));
	CHECK(len == 5);
	for (uint32_t i = 0; i < len; i++)
		CHECK(sf_devinfo_desc(devs[i])->node->kind == SF_NODE_HOST);
	CHECK_OK(doca_devinfo_destroy_list(devs));
}

static const struct doca_devinfo_rep *rep_named(struct doca_devinfo_rep **reps, uint32_t num, const char *wanted)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];

	for (uint32_t i = 0; i < num; i++) {
		CHECK_OK(doca_devinfo_rep_get_iface_name(reps[i], iface, sizeof(iface)));
		if (!strcmp(iface, wanted))
			return reps[i];
	}
	CHECK(false);
	return NULL;
}

#define NONE UINT32_MAX

static void check_indices(const struct doca_devinfo_rep *rep, uint32_t host, uint32_t pf, uint32_t vf, uint32_t sf, uint32_t vfs)
{
	const struct {
		doca_error_t (*get)(const struct doca_devinfo_rep *, uint32_t *);
		uint32_t expected;
		doca_error_t missing;
	} indices[] = {
		{doca_devinfo_rep_get_host_index, host, DOCA_ERROR_DRIVER},
		{doca_devinfo_rep_get_pf_index, pf, DOCA_ERROR_DRIVER},
		{doca_devinfo_rep_get_vf_index, vf, DOCA_ERROR_DRIVER},
		{doca_devinfo_rep_get_sf_index, sf, DOCA_ERROR_DRIVER},
		{doca_devinfo_rep_get_total_vfs, vfs, DOCA_ERROR_NOT_PERMITTED},
	};
	uint8_t is_uplink = 9;

	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
		uint32_t value = NONE;

		CHECK(indices[i].get(rep, &value) == (indices[i].expected == NONE ? indices[i].missing : DOCA_SUCCESS));
		CHECK(value == indices[i].expected);
		CHECK(indices[i].get(NULL, &value) == DOCA_ERROR_INVALID_VALUE);
		CHECK(indices[i].get(rep, NULL) == DOCA_ERROR_INVALID_VALUE);
	}
	CHECK_OK(doca_devinfo_rep_get_is_uplink_representor(rep, &is_uplink));
	CHECK(is_uplink == 0);
}

/* An SF of the port itself, the host's PF and its VFs. */
static void indices_of_representors_body(void)
{
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE], pf_vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	const struct doca_devinfo_rep *pf, *vf;
	struct doca_devinfo **devs;
	struct doca_devinfo_rep **reps;
	struct doca_dev *dev;
	uint32_t len, num;
	uint16_t port;

	use_core_guide("dpu");
	CHECK_OK(doca_devinfo_create_list(&devs, &len));
	CHECK_OK(doca_dev_open(devs[0], &dev));
	CHECK_OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num));
	CHECK(num == 4);
	pf = rep_named(reps, num, "pf0hpf");
	vf = rep_named(reps, num, "pf0vf1");
	check_indices(rep_named(reps, num, "pf0sf0"), NONE, 0, NONE, 0, NONE);
	check_indices(pf, 0, 0, NONE, NONE, 2);
	check_indices(rep_named(reps, num, "pf0vf0"), 0, 0, 0, NONE, NONE);
	check_indices(vf, 0, 0, 1, NONE, NONE);
	for (uint32_t i = 0; i < num; i++) {
		CHECK_OK(doca_devinfo_rep_get_ib_port(reps[i], &port));
		CHECK(port == i + 2);
	}
	CHECK_OK(doca_devinfo_rep_get_vuid(pf, vuid, sizeof(vuid)));
	CHECK_OK(doca_devinfo_rep_get_pf_vuid((struct doca_devinfo_rep *)(uintptr_t)pf, pf_vuid, sizeof(pf_vuid)));
	CHECK(!strcmp(vuid, pf_vuid));
	memset(pf_vuid, 0, sizeof(pf_vuid));
	CHECK_OK(doca_devinfo_rep_get_pf_vuid((struct doca_devinfo_rep *)(uintptr_t)vf, pf_vuid, sizeof(pf_vuid)));
	CHECK(!strcmp(vuid, pf_vuid));
	CHECK(doca_devinfo_rep_get_pf_vuid(reps[0], pf_vuid, sizeof(pf_vuid) - 1) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_devinfo_rep_get_data_direct_pci_dev(reps[0], vuid) == DOCA_ERROR_NOT_FOUND);
	CHECK(doca_devinfo_rep_get_data_direct_pci_dev(reps[0], NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_rep_destroy_list(reps));
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_devinfo_destroy_list(devs));
}

/* A topology file may name an interface of the kernel. */
static void interface_of_the_kernel_body(void)
{
	static const char text[] = "{\"nodes\": [{\"name\": \"host\", \"kind\": \"host\"}],"
				   "\"devices\": [{\"node\": \"host\", \"pci\": \"0b:00.0\", \"iface\": \"lo\"}]}";
	char path[] = "/tmp/dev_test.XXXXXX";
	int fd = mkstemp(path);
	struct doca_devinfo **devs;
	uint32_t len, index = 0;

	CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	close(fd);
	setenv("SOFTFIELD_TOPOLOGY", path, 1);
	CHECK_OK(doca_devinfo_create_list(&devs, &len));
	unlink(path);
	CHECK_OK(doca_devinfo_get_iface_index(devs[0], &index));
	CHECK(index != 0 && index == if_nametoindex("lo"));
	CHECK_OK(doca_devinfo_destroy_list(devs));
}

/* Two ports and two SFs; each port has its own half of them. */
static void core_guide_dpu_body(void)
{
	struct doca_devinfo **devs;
	struct doca_devinfo_rep **reps;
	struct doca_dev *dev;
	uint32_t len, len_rep, sf_index, sfs = 0, all_reps = 0;
	enum doca_pci_func_type type;

	use_core_guide("dpu");
	CHECK_OK(doca_devinfo_create_list(&devs, &len));
	CHECK(len == 4);
	for (uint32_t i = 0; i < len; i++) {
		CHECK_OK(doca_devinfo_get_pci_func_type(devs[i], &type));
		CHECK_OK(doca_dev_open(devs[i], &dev));
		doca_error_t result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &len_rep);

		if (type == DOCA_PCI_FUNC_TYPE_SF) {
			sfs++;
			CHECK_OK(doca_devinfo_get_sf_index(devs[i], &sf_index));
			CHECK(sf_index == 0);
			CHECK(result == DOCA_ERROR_NOT_SUPPORTED);
		} else {
			CHECK(result == DOCA_SUCCESS);
			all_reps += len_rep;
			CHECK_OK(doca_devinfo_rep_destroy_list(reps));
		}
		CHECK_OK(doca_dev_close(dev));
	}
	CHECK(sfs == 2 && all_reps == 7);
	CHECK_OK(doca_devinfo_destroy_list(devs));
}

static void no_devices_body(void)
{
	struct doca_devinfo **devs;
	uint32_t len;

	setenv("SOFTFIELD_NODE", "nowhere", 1);
	CHECK(doca_devinfo_create_list(&devs, &len) == DOCA_ERROR_NOT_FOUND);
	setenv("SOFTFIELD_TOPOLOGY", "/nonexistent", 1);
	CHECK(doca_devinfo_create_list(&devs, &len) == DOCA_ERROR_NOT_FOUND);
}

#define CHILD_TEST(name)                                                                                                         \
	static void name(void **state)                                                                                           \
	{                                                                                                                        \
		assert_int_equal(run_in_child(name##_body), 0);                                                                  \
	}

CHILD_TEST(core_guide_host)
CHILD_TEST(core_guide_dpu)
CHILD_TEST(indices_of_representors)
CHILD_TEST(interface_of_the_kernel)
CHILD_TEST(no_devices)

int main(int argc, char **argv)
{
	const struct CMUnitTest children[] = {
		cmocka_unit_test(core_guide_host),
		cmocka_unit_test(core_guide_dpu),
		cmocka_unit_test(indices_of_representors),
		cmocka_unit_test(interface_of_the_kernel),
		cmocka_unit_test(no_devices),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_without_a_node_lists_every_device),
		cmocka_unit_test(lists_are_snapshots_of_their_own),
		cmocka_unit_test(pci_addresses_compare_in_both_spellings),
		cmocka_unit_test(properties_of_a_device),
		cmocka_unit_test(interfaces_without_a_kernel_have_no_index),
		cmocka_unit_test(small_buffers_are_rejected_unchanged),
		cmocka_unit_test(capabilities_of_ports_and_host_functions),
		cmocka_unit_test(null_arguments_are_rejected),
		cmocka_unit_test(opens_are_counted),
		cmocka_unit_test(a_device_in_use_cannot_be_closed),
		cmocka_unit_test(reclaim_is_not_supported),
		cmocka_unit_test(a_device_has_one_domain),
		cmocka_unit_test(threads_may_open_the_same_device),
		cmocka_unit_test(filters_choose_representors),
		cmocka_unit_test(wrong_representor_lists_are_rejected),
		cmocka_unit_test(properties_of_a_representor),
		cmocka_unit_test(representor_opens_are_counted_and_holds_respected),
		cmocka_unit_test(a_representor_outlives_its_devices_close),
	};

	if (argc != 2)
		return 2;
	folder_of_topologies = argv[1];
	unsetenv("SOFTFIELD_TOPOLOGY");
	unsetenv("SOFTFIELD_NODE");
	setenv("SOFTFIELD_FABRIC", "loop", 1); /* the smallest provider */

	/* First, before this process reads a topology. */
	int failures = cmocka_run_group_tests_name("nodes", children, NULL, NULL);

	return failures + cmocka_run_group_tests_name("devices", tests, create_list, destroy_list);
}
