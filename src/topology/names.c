/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills in what a topology file leaves out. The result depends on the file alone, so all processes that read it get the same
 * names.
 */
#include <inttypes.h>
#include <string.h>

#include "base/little.h"
#include "topology/parse.h"

#define VHCA_ID_FIRST 1

static bool is_local(const struct sf_node *node)
{
	return !node->address;
}

/* Nodes whose devices one process may see together share one namespace of ibdev names. */
static bool seen_together(const struct sf_node *a, const struct sf_node *b)
{
	return a == b || (is_local(a) && is_local(b));
}

/* Splits a PCI address in normal form into numbers. */
static void split_pci(const char *addr, unsigned int *domain, unsigned int *bus, unsigned int *slot, unsigned int *function)
{
	sscanf(addr, "%4x:%2x:%2x.%1x", domain, bus, slot, function);
}

/* The index of a PF (on a DPU: port) among those of its node. */
static unsigned int pf_number(const struct sf_topology *t, const struct sf_device *pf)
{
	unsigned int number = 0;

	for (const struct sf_device *d = t->devices; d < pf; d++)
		number += d->node == pf->node && d->kind == SF_FUNCTION_PF;
	return number;
}

static void name_key(struct sf_device *d)
{
	int len = snprintf(d->key, sizeof(d->key), "%s/%s", d->node->name, d->pci_addr);

	if (d->kind == SF_FUNCTION_SF)
		snprintf(d->key + len, sizeof(d->key) - (size_t)len, "/sf%u", d->sf_index);
}

static void name_vuid(struct sf_device *d)
{
	unsigned int domain, bus, slot, function;
	const struct sf_device *pf = d->parent ? d->parent : d;
	const uint64_t hash = sf_checksum(SF_CHECKSUM_BEGIN, d->key, strlen(d->key));

	split_pci(pf->pci_addr, &domain, &bus, &slot, &function);
	int len = snprintf(d->vuid, sizeof(d->vuid), "SFLD%016" PRIX64 "S0D%uF%u", hash, slot, function);

	if (d->kind == SF_FUNCTION_VF)
		snprintf(d->vuid + len, sizeof(d->vuid) - (size_t)len, "VF%u", d->vf_index);
	else if (d->kind == SF_FUNCTION_SF)
		snprintf(d->vuid + len, sizeof(d->vuid) - (size_t)len, "SF%u", d->sf_index);
}

/* Interface names as the kernel's: p0 on a DPU, enp216s0f0np0, enp216s0f0v1 and enp3s0f0s4 elsewhere. */
static void name_iface(const struct sf_topology *t, struct sf_device *d)
{
	unsigned int domain, bus, slot, function;
	const struct sf_device *pf = d->parent ? d->parent : d;
	char base[40];

	if (d->iface[0])
		return;
	if (sf_device_is_port(d)) {
		snprintf(d->iface, sizeof(d->iface), "p%u", pf_number(t, d));
		return;
	}
	split_pci(pf->pci_addr, &domain, &bus, &slot, &function);
	if (domain)
		snprintf(base, sizeof(base), "enP%up%us%uf%u", domain, bus, slot, function);
	else
		snprintf(base, sizeof(base), "enp%us%uf%u", bus, slot, function);
	if (d->kind == SF_FUNCTION_PF)
		snprintf(d->iface, sizeof(d->iface), "%snp%u", base, function);
	else
		snprintf(d->iface, sizeof(d->iface), "%s%c%u", base, d->kind == SF_FUNCTION_VF ? 'v' : 's',
			 d->kind == SF_FUNCTION_VF ? d->vf_index : d->sf_index);
}

/* Representor names as a BlueField's: pf0hpf, pf0vf1, c1pf0sf4 for an SF of the host, pf0sf4 for an SF of the DPU. */
static void name_rep_iface(const struct sf_topology *t, struct sf_device *d)
{
	unsigned int port;

	if (!d->uplink)
		return;
	port = pf_number(t, d->uplink);
	d->rep_pf_index = port;
	if (d->kind == SF_FUNCTION_PF)
		snprintf(d->rep_iface, sizeof(d->rep_iface), "pf%uhpf", port);
	else if (d->kind == SF_FUNCTION_VF)
		snprintf(d->rep_iface, sizeof(d->rep_iface), "pf%uvf%u", port, d->vf_index);
	else
		snprintf(d->rep_iface, sizeof(d->rep_iface), "%spf%usf%u", d->node->kind == SF_NODE_HOST ? "c1" : "", port,
			 d->sf_index);
}

static bool ibdev_taken(const struct sf_topology *t, const struct sf_node *node, const char *name)
{
	for (uint32_t i = 0; i < t->num_devices; i++) {
		if (seen_together(t->devices[i].node, node) && !strcmp(t->devices[i].ibdev, name))
			return true;
	}
	return false;
}

/* The number only increases from one generated name to the next, so a thousand devices are fast. */
static void name_ibdev(const struct sf_parse *parse, struct sf_device *d, struct sf_device_source *source)
{
	const struct sf_topology *t = parse->topology;
	char name[sizeof(d->ibdev)];
	uint32_t number = 0;

	if (d->ibdev[0])
		return;
	for (uint32_t i = 0; &t->devices[i] < d; i++) {
		if (parse->sources[i].ibdev_next > number && seen_together(t->devices[i].node, d->node))
			number = parse->sources[i].ibdev_next;
	}
	do
		snprintf(name, sizeof(name), "mlx5_%u", number++);
	while (ibdev_taken(t, d->node, name));
	memcpy(d->ibdev, name, sizeof(name));
	source->ibdev_next = number;
}

static bool mac_taken(const struct sf_parse *parse, const uint8_t mac[6])
{
	for (uint32_t i = 0; i < parse->topology->num_devices; i++) {
		if (parse->sources[i].has_mac && !memcmp(parse->topology->devices[i].mac, mac, 6))
			return true;
	}
	return false;
}

/* A locally administered address, numbered by order in the file. */
static void name_mac(const struct sf_parse *parse, struct sf_device *d, struct sf_device_source *source)
{
	uint32_t number = (uint32_t)(d - parse->topology->devices) + 1;

	while (!source->has_mac) {
		const uint8_t mac[6] = {
			0x02, 0x5f, (uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number};

		number++;
		if (mac_taken(parse, mac))
			continue;
		memcpy(d->mac, mac, sizeof(mac));
		source->has_mac = true;
	}
}

/* The link-local address derived from the MAC. */
static void name_ipv6(struct sf_device *d, struct sf_device_source *source)
{
	const uint8_t *mac = d->mac;
	const uint8_t addr[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};

	if (!source->has_ipv6)
		memcpy(d->ipv6, addr, sizeof(addr));
}

bool sf_parse_names(struct sf_parse *parse)
{
	struct sf_topology *t = parse->topology;

	for (uint32_t i = 0; i < t->num_devices; i++) {
		struct sf_device *d = &t->devices[i];

		d->vhca_id = (uint16_t)(VHCA_ID_FIRST + i);
		name_key(d);
		name_vuid(d);
		name_iface(t, d);
		name_rep_iface(t, d);
		name_ibdev(parse, d, &parse->sources[i]);
		name_mac(parse, d, &parse->sources[i]);
		name_ipv6(d, &parse->sources[i]);
	}
	return true;
}

/* ---- duplicates ---- */

/* The key in which two devices clash, or NULL. */
static const char *names_clash(const struct sf_device *a, const struct sf_device *b)
{
	if (!strcmp(a->key, b->key))
		return a->kind == SF_FUNCTION_SF ? "index" : "pci";
	if (seen_together(a->node, b->node) && !strcmp(a->ibdev, b->ibdev))
		return "ibdev";
	if (a->node == b->node && !strcmp(a->iface, b->iface))
		return "iface";
	if (!memcmp(a->mac, b->mac, sizeof(a->mac)))
		return "mac";
	if (a->has_ipv4 && b->has_ipv4 && !memcmp(a->ipv4, b->ipv4, sizeof(a->ipv4)))
		return "ipv4";
	if (!memcmp(a->ipv6, b->ipv6, sizeof(a->ipv6)))
		return "ipv6";
	return NULL;
}

static bool check_devices(struct sf_parse *parse)
{
	const struct sf_topology *t = parse->topology;

	for (uint32_t i = 1; i < t->num_devices; i++) {
		for (uint32_t j = 0; j < i; j++) {
			const char *what = names_clash(&t->devices[i], &t->devices[j]);

			if (what)
				return sf_json_fail(&parse->json, parse->sources[i].path, what,
						    "the same as %s.%s; choose another", parse->sources[j].path, what);
		}
	}
	return true;
}

static bool check_gpus(struct sf_parse *parse)
{
	const struct sf_topology *t = parse->topology;
	char path[SF_JSON_PATH_MAX];

	for (uint32_t i = 0; i < t->num_gpus; i++) {
		snprintf(path, sizeof(path), "gpus[%u]", i);
		for (uint32_t j = 0; j < t->num_devices; j++) {
			if (t->devices[j].node == t->gpus[i].node && !strcmp(t->devices[j].pci_addr, t->gpus[i].pci_addr))
				return sf_json_fail(&parse->json, path, "pci", "the same as %s.pci; choose another",
						    parse->sources[j].path);
		}
		for (uint32_t j = 0; j < i; j++) {
			if (t->gpus[j].node == t->gpus[i].node && !strcmp(t->gpus[j].pci_addr, t->gpus[i].pci_addr))
				return sf_json_fail(&parse->json, path, "pci", "the same as gpus[%u].pci; choose another", j);
		}
	}
	return true;
}

bool sf_parse_check_unique(struct sf_parse *parse)
{
	return check_devices(parse) && check_gpus(parse);
}
