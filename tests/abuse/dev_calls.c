/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices and representors. */
#include <doca_dev.h>

#include "abuse.h"

struct doca_dev *dev_add(const char *pci)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint8_t is_equal;
	uint32_t num;

	if (!object_room(DEV) || doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS)
		return NULL;
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		if (doca_devinfo_is_equal_pci_addr(list[i], pci, &is_equal) == DOCA_SUCCESS && is_equal &&
		    doca_dev_open(list[i], &dev) == DOCA_SUCCESS)
			object_add(DEV, dev);
	}
	CALL(doca_devinfo_destroy_list, list);
	return dev;
}

static void create_list(void)
{
	struct doca_devinfo **list;
	uint32_t num;

	if (object_count(DEV_LIST) >= 2 || is_ending())
		return;
	struct doca_devinfo ***place = or_null(&list);
	uint32_t *count = or_null(&num);

	expect_if(true);
	if (CALL(doca_devinfo_create_list, place, count) != DOCA_SUCCESS)
		return;
	uint64_t id = object_add(DEV_LIST, list)->id;

	for (uint32_t i = 0; i < num && has_room(DEVINFO); i++)
		object_add(DEVINFO, list[i])->of = id;
}

static void destroy_list(void)
{
	struct doca_devinfo **list = pick(DEV_LIST);

	if (CALL(doca_devinfo_destroy_list, list) != DOCA_SUCCESS)
		return;
	object_drop_of(DEVINFO, object_find(DEV_LIST, list)->id);
	object_drop(DEV_LIST, list);
}

static void dev_open(void)
{
	struct doca_dev *dev;

	if (!has_room(DEV))
		return;
	struct doca_devinfo *info = pick(DEVINFO);
	struct doca_dev **place = or_null(&dev);

	expect_if(true);
	if (CALL(doca_dev_open, info, place) == DOCA_SUCCESS)
		object_add(DEV, dev);
}

static void dev_close(void)
{
	struct doca_dev *dev = pick_or_none(DEV); /* NULL, too: the call then succeeds */

	expect_if(dev == NULL);
	if (CALL(doca_dev_close, dev) == DOCA_SUCCESS && dev != NULL)
		object_drop(DEV, dev);
}

static void reclaim(void)
{
	struct doca_dev *object = pick(DEV);

	CALL(doca_dev_accelerate_resource_reclaim, object);
}

static void dev_as_devinfo(void)
{
	(void)CALL_VALUE(doca_dev_as_devinfo, (struct doca_dev *)pick(DEV));
}

/* The info of an open device or of a list, or NULL. */
static struct doca_devinfo *any_info(void)
{
	struct object *dev = chance(2) ? object_any(DEV) : NULL;

	return dev != NULL ? doca_dev_as_devinfo(dev->pointer) : pick(DEVINFO);
}

/* Numeric properties: the arguments are the device and the output. */
#define GETTER(name, function, type)                                                                                             \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		type value;                                                                                                      \
		struct doca_devinfo *info = any_info();                                                                          \
		type *place = or_null(&value);                                                                                   \
		CALL(function, info, place);                                                                                     \
	}
GETTER(get_lid, doca_devinfo_get_lid, uint16_t)
GETTER(get_rate, doca_devinfo_get_active_rate, uint64_t)
GETTER(get_vhca, doca_devinfo_get_vhca_id, uint16_t)
GETTER(get_type, doca_devinfo_get_pci_func_type, enum doca_pci_func_type)
GETTER(get_sf, doca_devinfo_get_sf_index, uint32_t)
GETTER(get_ib_port, doca_devinfo_get_uplink_ib_port, uint16_t)
GETTER(get_iface_index, doca_devinfo_get_iface_index, uint32_t)
GETTER(cap_hotplug, doca_devinfo_cap_is_hotplug_manager_supported, uint8_t)
GETTER(cap_moderation, doca_devinfo_cap_is_notification_moderation_supported, uint8_t)
GETTER(cap_reclaim, doca_devinfo_cap_is_accelerate_resource_reclaim_supported, uint8_t)
GETTER(cap_all, doca_devinfo_rep_cap_is_filter_all_supported, uint8_t)
GETTER(cap_net, doca_devinfo_rep_cap_is_filter_net_supported, uint8_t)
GETTER(cap_emulated, doca_devinfo_rep_cap_is_filter_emulated_supported, uint8_t)

/* Properties in bytes: the arguments are the device, the output and its size, which may be too small. */
#define BYTES_GETTER(name, function, type, right)                                                                                \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		type value[256];                                                                                                 \
		struct doca_devinfo *info = any_info();                                                                          \
		type *place = or_null(value);                                                                                    \
		uint32_t size = chance(3) ? random_below(right) : right;                                                         \
		refuse_if(size < (right));                                                                                       \
		CALL(function, info, place, size);                                                                               \
	}
BYTES_GETTER(get_ipv4, doca_devinfo_get_ipv4_addr, uint8_t, DOCA_DEVINFO_IPV4_ADDR_SIZE)
BYTES_GETTER(get_ipv6, doca_devinfo_get_ipv6_addr, uint8_t, DOCA_DEVINFO_IPV6_ADDR_SIZE)
BYTES_GETTER(get_mac, doca_devinfo_get_mac_addr, uint8_t, DOCA_DEVINFO_MAC_ADDR_SIZE)
BYTES_GETTER(get_iface, doca_devinfo_get_iface_name, char, DOCA_DEVINFO_IFACE_NAME_SIZE)
BYTES_GETTER(get_ibdev, doca_devinfo_get_ibdev_name, char, DOCA_DEVINFO_IBDEV_NAME_SIZE)

static void get_pci(void)
{
	char text[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_devinfo *info = any_info();
	char *place = or_null(text);

	expect_if(true);
	CALL(doca_devinfo_get_pci_addr_str, info, place);
}

static void get_data_direct(void)
{
	char text[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_devinfo *info = any_info();
	char *place = or_null(text);

	refuse_if(true);
	CALL(doca_devinfo_get_data_direct_pci_dev, info, place);
}

static char *any_address(bool *is_right)
{
	static char *const texts[] = {"0000:03:00.0", "d8:00.0", "03:00.1", "", "no address", "0000:03:00.0.0", "g3:00.0"};
	uint32_t i = random_below(sizeof(texts) / sizeof(texts[0]));

	*is_right = i < 3;
	return texts[i];
}

static void is_equal(void)
{
	uint8_t equal;
	bool is_right;
	struct doca_devinfo *info = any_info();
	char *text = or_null(any_address(&is_right));
	uint8_t *place = or_null(&equal);

	refuse_if(!is_right);
	expect_if(is_right);
	CALL(doca_devinfo_is_equal_pci_addr, info, text, place);
}

/* ---- representors ---- */

static void create_rep_list(void)
{
	struct doca_devinfo_rep **list;
	uint32_t num;
	int filter = (int)random_below(6) - 1;

	if (object_count(REP_LIST) >= 2 || is_ending())
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_devinfo_rep ***place = or_null(&list);
	uint32_t *count = or_null(&num);

	if (CALL(doca_devinfo_rep_create_list, dev, filter, place, count) != DOCA_SUCCESS)
		return;
	uint64_t id = object_add(REP_LIST, list)->id;

	for (uint32_t i = 0; i < num && has_room(REPINFO); i++)
		object_add(REPINFO, list[i])->of = id;
}

static void destroy_rep_list(void)
{
	struct doca_devinfo_rep **list = pick(REP_LIST);

	if (CALL(doca_devinfo_rep_destroy_list, list) != DOCA_SUCCESS)
		return;
	object_drop_of(REPINFO, object_find(REP_LIST, list)->id);
	object_drop(REP_LIST, list);
}

static void rep_open(void)
{
	struct doca_dev_rep *rep;

	if (!has_room(REP))
		return;
	struct doca_devinfo_rep *info = pick(REPINFO);
	struct doca_dev_rep **place = or_null(&rep);

	if (CALL(doca_dev_rep_open, info, place) == DOCA_SUCCESS)
		object_add(REP, rep);
}

static void rep_close(void)
{
	struct doca_dev_rep *rep = pick(REP);

	if (CALL(doca_dev_rep_close, rep) == DOCA_SUCCESS)
		object_drop(REP, rep);
}

static void rep_as_devinfo(void)
{
	(void)CALL_VALUE(doca_dev_rep_as_devinfo, (struct doca_dev_rep *)pick(REP));
}

static struct doca_devinfo_rep *any_rep_info(void)
{
	struct object *rep = chance(2) ? object_any(REP) : NULL;

	return rep != NULL ? doca_dev_rep_as_devinfo(rep->pointer) : pick(REPINFO);
}

#define REP_GETTER(name, function, type)                                                                                         \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		type value;                                                                                                      \
		struct doca_devinfo_rep *info = any_rep_info();                                                                  \
		type *place = or_null(&value);                                                                                   \
		expect_if(true);                                                                                                 \
		CALL(function, info, place);                                                                                     \
	}
REP_GETTER(rep_type, doca_devinfo_rep_get_pci_func_type, enum doca_pci_func_type)
REP_GETTER(rep_hotplug, doca_devinfo_rep_get_is_hotplug, uint8_t)
REP_GETTER(rep_vhca, doca_devinfo_rep_get_vhca_id, uint16_t)

REP_GETTER(rep_ib_port, doca_devinfo_rep_get_ib_port, uint16_t)
REP_GETTER(rep_host, doca_devinfo_rep_get_host_index, uint32_t) /* the default topology has no SF of the DPU */
REP_GETTER(rep_pf, doca_devinfo_rep_get_pf_index, uint32_t)
REP_GETTER(rep_is_uplink, doca_devinfo_rep_get_is_uplink_representor, uint8_t)

/* Properties that not every function has. */
#define REP_SOME_GETTER(name, function)                                                                                          \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		uint32_t value;                                                                                                  \
		struct doca_devinfo_rep *info = any_rep_info();                                                                  \
		uint32_t *place = or_null(&value);                                                                               \
		CALL(function, info, place);                                                                                     \
	}
REP_SOME_GETTER(rep_iface_index, doca_devinfo_rep_get_iface_index)
REP_SOME_GETTER(rep_vf, doca_devinfo_rep_get_vf_index)
REP_SOME_GETTER(rep_sf, doca_devinfo_rep_get_sf_index)
REP_SOME_GETTER(rep_total_vfs, doca_devinfo_rep_get_total_vfs)

static void rep_data_direct(void)
{
	char text[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	struct doca_devinfo_rep *info = any_rep_info();
	char *place = or_null(text);

	refuse_if(true);
	CALL(doca_devinfo_rep_get_data_direct_pci_dev, info, place);
}

static void rep_pci(void)
{
	char text[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	struct doca_devinfo_rep *info = any_rep_info();
	char *place = or_null(text);

	expect_if(true);
	CALL(doca_devinfo_rep_get_pci_addr_str, info, place);
}

#define REP_VUID(name, function)                                                                                                 \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		char text[256];                                                                                                  \
		struct doca_devinfo_rep *info = any_rep_info();                                                                  \
		char *place = or_null(text);                                                                                     \
		uint32_t size = chance(3) ? random_below(DOCA_DEVINFO_REP_VUID_SIZE) : DOCA_DEVINFO_REP_VUID_SIZE;               \
		refuse_if(size < DOCA_DEVINFO_REP_VUID_SIZE);                                                                    \
		CALL(function, info, place, size);                                                                               \
	}
REP_VUID(rep_vuid, doca_devinfo_rep_get_vuid)
REP_VUID(rep_pf_vuid, doca_devinfo_rep_get_pf_vuid)

static void rep_iface(void)
{
	char text[512];
	struct doca_devinfo_rep *info = any_rep_info();
	char *place = or_null(text);

	CALL(doca_devinfo_rep_get_iface_name, info, place, chance(3) ? random_below(8) : DOCA_DEVINFO_IFACE_NAME_SIZE);
}

static void rep_is_equal(void)
{
	uint8_t equal;
	bool is_right;
	struct doca_devinfo_rep *info = any_rep_info();
	char *text = or_null(any_address(&is_right));
	uint8_t *place = or_null(&equal);

	refuse_if(!is_right);
	expect_if(is_right);
	CALL(doca_devinfo_rep_is_equal_pci_addr, info, text, place);
}

static void prepare(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	if (CALL(doca_devinfo_create_list, &list, &num) != DOCA_SUCCESS)
		return;
	for (uint32_t i = 0; i < num && i < 4; i++) {
		if (CALL(doca_dev_open, list[chance(2) ? 0 : i], &dev) == DOCA_SUCCESS)
			object_add(DEV, dev);
	}
	CALL(doca_devinfo_destroy_list, list);
}

static const struct call calls[] = {
	{"doca_devinfo_create_list", create_list, 4},
	{"doca_devinfo_destroy_list", destroy_list, 1, true},
	{"doca_dev_open", dev_open, 6},
	{"doca_dev_close", dev_close, 2, true},
	{"doca_dev_accelerate_resource_reclaim", reclaim},
	{"doca_dev_as_devinfo", dev_as_devinfo},
	{"doca_devinfo_get_lid", get_lid},
	{"doca_devinfo_get_active_rate", get_rate},
	{"doca_devinfo_get_vhca_id", get_vhca},
	{"doca_devinfo_get_pci_func_type", get_type},
	{"doca_devinfo_get_sf_index", get_sf},
	{"doca_devinfo_get_uplink_ib_port", get_ib_port},
	{"doca_devinfo_get_iface_index", get_iface_index},
	{"doca_devinfo_get_data_direct_pci_dev", get_data_direct},
	{"doca_devinfo_cap_is_hotplug_manager_supported", cap_hotplug},
	{"doca_devinfo_cap_is_notification_moderation_supported", cap_moderation},
	{"doca_devinfo_cap_is_accelerate_resource_reclaim_supported", cap_reclaim},
	{"doca_devinfo_rep_cap_is_filter_all_supported", cap_all},
	{"doca_devinfo_rep_cap_is_filter_net_supported", cap_net},
	{"doca_devinfo_rep_cap_is_filter_emulated_supported", cap_emulated},
	{"doca_devinfo_get_ipv4_addr", get_ipv4},
	{"doca_devinfo_get_ipv6_addr", get_ipv6},
	{"doca_devinfo_get_mac_addr", get_mac},
	{"doca_devinfo_get_iface_name", get_iface},
	{"doca_devinfo_get_ibdev_name", get_ibdev},
	{"doca_devinfo_get_pci_addr_str", get_pci},
	{"doca_devinfo_is_equal_pci_addr", is_equal},
	{"doca_devinfo_rep_create_list", create_rep_list, 2},
	{"doca_devinfo_rep_destroy_list", destroy_rep_list, 1, true},
	{"doca_dev_rep_open", rep_open, 2},
	{"doca_dev_rep_close", rep_close, 1, true},
	{"doca_dev_rep_as_devinfo", rep_as_devinfo},
	{"doca_devinfo_rep_get_pci_func_type", rep_type},
	{"doca_devinfo_rep_get_is_hotplug", rep_hotplug},
	{"doca_devinfo_rep_get_vhca_id", rep_vhca},
	{"doca_devinfo_rep_get_pci_addr_str", rep_pci},
	{"doca_devinfo_rep_get_ib_port", rep_ib_port},
	{"doca_devinfo_rep_get_host_index", rep_host},
	{"doca_devinfo_rep_get_pf_index", rep_pf},
	{"doca_devinfo_rep_get_is_uplink_representor", rep_is_uplink},
	{"doca_devinfo_rep_get_iface_index", rep_iface_index},
	{"doca_devinfo_rep_get_vf_index", rep_vf},
	{"doca_devinfo_rep_get_sf_index", rep_sf},
	{"doca_devinfo_rep_get_total_vfs", rep_total_vfs},
	{"doca_devinfo_rep_get_data_direct_pci_dev", rep_data_direct},
	{"doca_devinfo_rep_get_pf_vuid", rep_pf_vuid},
	{"doca_devinfo_rep_get_vuid", rep_vuid},
	{"doca_devinfo_rep_get_iface_name", rep_iface},
	{"doca_devinfo_rep_is_equal_pci_addr", rep_is_equal},
};
const struct group dev_group = GROUP(calls, prepare);
