/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a topology file's JSON text. docs/topology.md describes the format. */
#include "topology/parse.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define NODE_NAME_MAX 63
#define ADDRESS_MAX 255
#define IBDEV_NAME_MAX 63
#define IFACE_NAME_MAX 63
#define GPU_NAME_MAX 63
#define KEY_PATH_MAX 4095
#define PORTS_MAX 11	    /* 18600-18699 */
#define CPUS_MAX 1024	    /* maximum that a UROM client can address */
#define ADDRESS_TEXT_MAX 64 /* characters of a MAC, IP or PCI address */
#define UPLINK_TEXT_MAX (NODE_NAME_MAX + ADDRESS_TEXT_MAX)
#define RATE_GBPS_MAX 3200
#define RATE_GBPS_DEFAULT 200
#define ENGINE_THREADS_MAX 64

/* Returns whether the text is a name that is safe in paths, keys and logs. */
static bool is_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return text[0] != '.' && text[0] != '-' && strspn(text, allowed) == strlen(text);
}

static bool read_name(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		      size_t len_max, const char **name)
{
	char quoted[SF_JSON_QUOTED_MAX];
	const char *text = NULL;

	if (!sf_json_string(json, object, path, key, required, len_max, &text))
		return false;
	if (text && !is_name(text))
		return sf_json_fail(json, path, key, "%s is not a name of letters, digits, '.', '_' and '-'",
				    sf_json_quoted(text, quoted));
	if (text)
		*name = text;
	return true;
}

static bool read_pci(struct sf_json *json, struct json_object *object, const char *path, char addr[SF_PCI_ADDR_SIZE])
{
	char quoted[SF_JSON_QUOTED_MAX];
	const char *text;

	if (!sf_json_string(json, object, path, "pci", true, ADDRESS_TEXT_MAX, &text))
		return false;
	if (sf_pci_addr_normalise(text, addr) != DOCA_SUCCESS)
		return sf_json_fail(json, path, "pci", "%s is not a PCI address such as 03:00.0 or 0000:03:00.0",
				    sf_json_quoted(text, quoted));
	return true;
}

/* ---- nodes ---- */

static bool parse_node(struct sf_json *json, struct json_object *value, const char *path, struct sf_node *node)
{
	const char *name, *kind, *host = NULL, *address = NULL, *ports = NULL;
	uint64_t port = SF_NODE_PORT, cpus = 0;
	char quoted[SF_JSON_QUOTED_MAX];

	if (!sf_json_object(json, value, path, "name, kind, host, address, port, ports, cpus") ||
	    !read_name(json, value, path, "name", true, NODE_NAME_MAX, &name) ||
	    !sf_json_string(json, value, path, "kind", true, NODE_NAME_MAX, &kind) ||
	    !read_name(json, value, path, "host", false, NODE_NAME_MAX, &host) ||
	    !sf_json_string(json, value, path, "address", false, ADDRESS_MAX, &address) ||
	    !sf_json_uint(json, value, path, "port", false, 1, UINT16_MAX, &port) ||
	    !sf_json_string(json, value, path, "ports", false, PORTS_MAX, &ports) ||
	    !sf_json_uint(json, value, path, "cpus", false, 1, CPUS_MAX, &cpus))
		return false;
	if (strcmp(kind, "host") && strcmp(kind, "dpu"))
		return sf_json_fail(json, path, "kind", "expected \"host\" or \"dpu\", found %s", sf_json_quoted(kind, quoted));
	node->kind = strcmp(kind, "dpu") ? SF_NODE_HOST : SF_NODE_DPU;
	if (host && node->kind != SF_NODE_DPU)
		return sf_json_fail(json, path, "host", "only a node of kind \"dpu\" has a host");
	if (cpus && node->kind != SF_NODE_DPU)
		return sf_json_fail(json, path, "cpus", "only a node of kind \"dpu\" has cpus");
	if (address && strspn(address, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:-_%") != strlen(address))
		return sf_json_fail(json, path, "address", "%s is not a host name or an IP address",
				    sf_json_quoted(address, quoted));
	if (ports && !sf_port_range_parse(ports, &node->ports))
		return sf_json_fail(json, path, "ports", "%s is not a range of ports such as 18600-18699",
				    sf_json_quoted(ports, quoted));
	if (ports && port >= node->ports.first && port <= node->ports.last)
		return sf_json_fail(json, path, "ports",
				    "%s includes %u, the port of `softfield node` (port): choose another range",
				    sf_json_quoted(ports, quoted), (unsigned)port);
	node->name = strdup(name);
	node->host = host ? strdup(host) : NULL;
	node->address = address ? strdup(address) : NULL;
	node->port = (uint16_t)port;
	node->cpus = (uint32_t)cpus;
	return (node->name && (node->host || !host) && (node->address || !address)) || sf_json_no_memory(json, path, NULL);
}

static bool check_hosts(struct sf_parse *parse)
{
	struct sf_topology *t = parse->topology;
	char path[SF_JSON_PATH_MAX];

	for (uint32_t i = 0; i < t->num_nodes; i++) {
		const struct sf_node *first = sf_topology_find_node(t, t->nodes[i].name);
		const struct sf_node *host = t->nodes[i].host ? sf_topology_find_node(t, t->nodes[i].host) : NULL;

		snprintf(path, sizeof(path), "nodes[%u]", i);
		if (first != &t->nodes[i])
			return sf_json_fail(&parse->json, path, "name", "\"%s\" is the name of nodes[%u] already", first->name,
					    (unsigned)(first - t->nodes));
		if (t->nodes[i].host && (!host || host->kind != SF_NODE_HOST))
			return sf_json_fail(&parse->json, path, "host", "no node of kind \"host\" is named \"%s\"",
					    t->nodes[i].host);
	}
	return true;
}

static bool parse_nodes(struct sf_parse *parse, struct json_object *root)
{
	struct sf_topology *t = parse->topology;
	struct json_object *array;
	char path[SF_JSON_PATH_MAX];

	if (!sf_json_array(&parse->json, root, "", "nodes", true, SF_TOPOLOGY_NODES_MAX, &array))
		return false;

	uint32_t len = (uint32_t)json_object_array_length(array);

	t->nodes = calloc(len, sizeof(*t->nodes));
	if (!t->nodes)
		return sf_json_no_memory(&parse->json, "", "nodes");
	for (t->num_nodes = 0; t->num_nodes < len;) {
		uint32_t i = t->num_nodes++;

		snprintf(path, sizeof(path), "nodes[%u]", i);
		if (!parse_node(&parse->json, json_object_array_get_idx(array, i), path, &t->nodes[i]))
			return false;
	}
	return check_hosts(parse);
}

static bool read_node(struct sf_parse *parse, struct json_object *object, const char *path, const struct sf_node **node)
{
	const char *name;

	if (!read_name(&parse->json, object, path, "node", true, NODE_NAME_MAX, &name))
		return false;
	*node = sf_topology_find_node(parse->topology, name);
	return *node || sf_json_fail(&parse->json, path, "node", "no node is named \"%s\"", name);
}

/* ---- devices ---- */

static bool parse_mac(struct sf_json *json, struct json_object *object, const char *path, struct sf_device *device, bool *has)
{
	char quoted[SF_JSON_QUOTED_MAX];
	const char *text = NULL;
	unsigned int byte[6];
	int end = -1;

	if (!sf_json_string(json, object, path, "mac", false, ADDRESS_TEXT_MAX, &text))
		return false;
	if (!text)
		return true;
	if (strlen(text) == 17 && strspn(text, "0123456789abcdefABCDEF:") == 17)
		sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3], &byte[4], &byte[5], &end);
	if (end != 17)
		return sf_json_fail(json, path, "mac", "%s is not a MAC address such as 02:5f:00:00:00:01",
				    sf_json_quoted(text, quoted));
	if (byte[0] & 1)
		return sf_json_fail(json, path, "mac", "%s is a multicast address, not a device's", sf_json_quoted(text, quoted));
	for (int i = 0; i < 6; i++)
		device->mac[i] = (uint8_t)byte[i];
	*has = true;
	return true;
}

static bool parse_ip(struct sf_json *json, struct json_object *object, const char *path, const char *key, int family,
		     uint8_t *addr, bool *has)
{
	char quoted[SF_JSON_QUOTED_MAX];
	const char *text = NULL;

	if (!sf_json_string(json, object, path, key, false, ADDRESS_TEXT_MAX, &text))
		return false;
	if (!text)
		return true;
	if (inet_pton(family, text, addr) != 1)
		return sf_json_fail(json, path, key, "%s is not an %s address", sf_json_quoted(text, quoted),
				    family == AF_INET ? "IPv4" : "IPv6");
	*has = true;
	return true;
}

/* Parses the keys that all kinds of functions share. */
static bool parse_function(struct sf_parse *parse, struct json_object *object, struct sf_device *device,
			   struct sf_device_source *source)
{
	struct sf_json *json = &parse->json;
	const char *path = source->path, *ibdev = "", *iface = "";
	uint64_t gbps = RATE_GBPS_DEFAULT, threads = 0;

	if (!read_name(json, object, path, "ibdev", false, IBDEV_NAME_MAX, &ibdev) ||
	    !read_name(json, object, path, "iface", false, IFACE_NAME_MAX, &iface) ||
	    !parse_mac(json, object, path, device, &source->has_mac) ||
	    !parse_ip(json, object, path, "ipv4", AF_INET, device->ipv4, &device->has_ipv4) ||
	    !parse_ip(json, object, path, "ipv6", AF_INET6, device->ipv6, &source->has_ipv6) ||
	    !sf_json_uint(json, object, path, "rate_gbps", false, 1, RATE_GBPS_MAX, &gbps) ||
	    !sf_json_uint(json, object, path, "engine_threads", false, 0, ENGINE_THREADS_MAX, &threads))
		return false;
	snprintf(device->ibdev, sizeof(device->ibdev), "%s", ibdev);
	snprintf(device->iface, sizeof(device->iface), "%s", iface);
	device->rate_bps = gbps * 1000000000;
	device->engine_threads = (uint32_t)threads;
	return true;
}

/* Appends a device and its source; the arrays have room for all devices of the file. */
static struct sf_device *new_device(struct sf_parse *parse, const struct sf_node *node, enum sf_function_kind kind,
				    struct sf_device_source **source)
{
	struct sf_device *device = &parse->topology->devices[parse->topology->num_devices];

	*source = &parse->sources[parse->topology->num_devices++];
	device->node = node;
	device->kind = kind;
	return device;
}

static bool parse_vf(struct sf_parse *parse, struct json_object *value, const struct sf_device *pf, const char *path,
		     uint32_t index)
{
	struct sf_device_source *source;
	struct sf_device *vf = new_device(parse, pf->node, SF_FUNCTION_VF, &source);

	snprintf(source->path, sizeof(source->path), "%.32s.vfs[%u]", path, index);
	vf->parent = pf;
	vf->vf_index = index;
	return sf_json_object(&parse->json, value, source->path,
			      "pci, ibdev, iface, mac, ipv4, ipv6, rate_gbps, engine_threads") &&
	       read_pci(&parse->json, value, source->path, vf->pci_addr) && parse_function(parse, value, vf, source);
}

static bool parse_sf(struct sf_parse *parse, struct json_object *value, const struct sf_device *pf, const char *path,
		     uint32_t index)
{
	struct sf_device_source *source;
	struct sf_device *sf = new_device(parse, pf->node, SF_FUNCTION_SF, &source);
	uint64_t sf_index = 0;

	snprintf(source->path, sizeof(source->path), "%.32s.sfs[%u]", path, index);
	sf->parent = pf;
	if (!sf_json_object(&parse->json, value, source->path,
			    "index, ibdev, iface, mac, ipv4, ipv6, rate_gbps, engine_threads") ||
	    !sf_json_uint(&parse->json, value, source->path, "index", true, 0, UINT32_MAX, &sf_index) ||
	    !parse_function(parse, value, sf, source))
		return false;
	sf->sf_index = (uint32_t)sf_index;
	memcpy(sf->pci_addr, pf->pci_addr, sizeof(sf->pci_addr)); /* an SF shares its PF's PCI function */
	return true;
}

static bool parse_children(struct sf_parse *parse, struct json_object *value, const struct sf_device *pf, const char *path)
{
	struct json_object *vfs = NULL, *sfs = NULL;

	json_object_object_get_ex(value, "vfs", &vfs);
	json_object_object_get_ex(value, "sfs", &sfs);
	if (vfs && sf_device_is_port(pf))
		return sf_json_fail(&parse->json, path, "vfs", "VFs belong to host functions, not to ports of a DPU");
	for (uint32_t i = 0; vfs && i < json_object_array_length(vfs); i++) {
		if (!parse_vf(parse, json_object_array_get_idx(vfs, i), pf, path, i))
			return false;
	}
	for (uint32_t i = 0; sfs && i < json_object_array_length(sfs); i++) {
		if (!parse_sf(parse, json_object_array_get_idx(sfs, i), pf, path, i))
			return false;
	}
	return true;
}

static bool parse_device(struct sf_parse *parse, struct json_object *value, uint32_t index)
{
	const struct sf_node *node;
	struct sf_device_source *source;
	struct sf_device *pf = new_device(parse, NULL, SF_FUNCTION_PF, &source);

	snprintf(source->path, sizeof(source->path), "devices[%u]", index);
	if (!sf_json_object(&parse->json, value, source->path,
			    "node, pci, ibdev, iface, mac, ipv4, ipv6, rate_gbps, engine_threads, vfs, sfs, uplink") ||
	    !read_node(parse, value, source->path, &node) || !read_pci(&parse->json, value, source->path, pf->pci_addr) ||
	    !parse_function(parse, value, pf, source) ||
	    !sf_json_string(&parse->json, value, source->path, "uplink", false, UPLINK_TEXT_MAX, &source->uplink))
		return false;
	pf->node = node;
	return parse_children(parse, value, pf, source->path);
}

/* Counts the devices in the array, with VFs and SFs. Checks only what it needs for that. */
static bool count_devices(struct sf_parse *parse, struct json_object *array, uint32_t *count)
{
	char path[SF_JSON_PATH_MAX];
	size_t total = json_object_array_length(array);

	for (uint32_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *value = json_object_array_get_idx(array, i), *vfs = NULL, *sfs = NULL;

		snprintf(path, sizeof(path), "devices[%u]", i);
		if (!json_object_is_type(value, json_type_object))
			continue; /* parse_device reports it */
		if (!sf_json_array(&parse->json, value, path, "vfs", false, SF_TOPOLOGY_DEVICES_MAX, &vfs) ||
		    !sf_json_array(&parse->json, value, path, "sfs", false, SF_TOPOLOGY_DEVICES_MAX, &sfs))
			return false;
		total += (vfs ? json_object_array_length(vfs) : 0) + (sfs ? json_object_array_length(sfs) : 0);
	}
	if (total > SF_TOPOLOGY_DEVICES_MAX)
		return sf_json_fail(&parse->json, "", "devices", "%zu devices including VFs and SFs; at most %d are possible",
				    total, SF_TOPOLOGY_DEVICES_MAX);
	*count = (uint32_t)total;
	return true;
}

static bool parse_devices(struct sf_parse *parse, struct json_object *root)
{
	struct sf_topology *t = parse->topology;
	struct json_object *array = NULL;
	uint32_t count = 0;

	if (!sf_json_array(&parse->json, root, "", "devices", false, SF_TOPOLOGY_DEVICES_MAX, &array))
		return false;
	if (!array)
		return true;
	if (!count_devices(parse, array, &count))
		return false;
	t->devices = calloc(count ? count : 1, sizeof(*t->devices));
	parse->sources = calloc(count ? count : 1, sizeof(*parse->sources));
	if (!t->devices || !parse->sources)
		return sf_json_no_memory(&parse->json, "", "devices");
	for (uint32_t i = 0; i < json_object_array_length(array); i++) {
		if (!parse_device(parse, json_object_array_get_idx(array, i), i))
			return false;
	}
	return sf_parse_uplinks(parse);
}

/* ---- GPUs ---- */

static bool parse_gpu(struct sf_parse *parse, struct json_object *value, const char *path, struct sf_gpu_desc *gpu)
{
	const char *name = "Softfield GPU";

	if (!sf_json_object(&parse->json, value, path, "node, pci, name") || !read_node(parse, value, path, &gpu->node) ||
	    !read_pci(&parse->json, value, path, gpu->pci_addr) ||
	    !sf_json_string(&parse->json, value, path, "name", false, GPU_NAME_MAX, &name))
		return false;
	if (gpu->node->kind != SF_NODE_HOST)
		return sf_json_fail(&parse->json, path, "node", "\"%s\" is a DPU; a GPU belongs to a host", gpu->node->name);
	for (const char *c = name; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return sf_json_fail(&parse->json, path, "name", "contains a control character");
	}
	snprintf(gpu->name, sizeof(gpu->name), "%s", name);
	return true;
}

static bool parse_gpus(struct sf_parse *parse, struct json_object *root)
{
	struct sf_topology *t = parse->topology;
	struct json_object *array = NULL;
	char path[SF_JSON_PATH_MAX];

	if (!sf_json_array(&parse->json, root, "", "gpus", false, SF_TOPOLOGY_GPUS_MAX, &array))
		return false;
	if (!array)
		return true;
	t->num_gpus = (uint32_t)json_object_array_length(array);
	t->gpus = calloc(t->num_gpus ? t->num_gpus : 1, sizeof(*t->gpus));
	if (!t->gpus)
		return sf_json_no_memory(&parse->json, "", "gpus");
	for (uint32_t i = 0; i < t->num_gpus; i++) {
		snprintf(path, sizeof(path), "gpus[%u]", i);
		if (!parse_gpu(parse, json_object_array_get_idx(array, i), path, &t->gpus[i]))
			return false;
	}
	return true;
}

/* ---- the file ---- */

static bool parse_key(struct sf_parse *parse, struct json_object *root)
{
	const char *key = NULL;
	bool tls = true;

	if (!sf_json_string(&parse->json, root, "", "key", false, KEY_PATH_MAX, &key))
		return false;
	if (!sf_json_bool(&parse->json, root, "", "tls", false, &tls))
		return false;
	if (!tls && !key)
		return sf_json_fail(&parse->json, "", "tls",
				    "false without a \"key\": name the file of the key that all machines have");
	parse->topology->key = key ? strdup(key) : NULL;
	parse->topology->is_bare = !tls;
	return parse->topology->key || !key || sf_json_no_memory(&parse->json, "", "key");
}

doca_error_t sf_topology_parse(const char *text, size_t len, struct sf_topology **topology, char **message)
{
	struct sf_parse parse = {.topology = calloc(1, sizeof(*parse.topology))};
	struct json_object *root = NULL;
	const char *description;
	doca_error_t result = DOCA_ERROR_BAD_CONFIG;

	*message = NULL;
	if (!parse.topology)
		return DOCA_ERROR_NO_MEMORY;
	if (len <= SF_TOPOLOGY_TEXT_MAX)
		root = sf_json_parse(&parse.json, SF_JSON_STRICT, text, len);
	else
		sf_json_fail(&parse.json, "", NULL, "longer than %d bytes", SF_TOPOLOGY_TEXT_MAX);
	if (root && sf_json_object(&parse.json, root, "", "description, nodes, devices, gpus, key, tls") &&
	    sf_json_string(&parse.json, root, "", "description", false, SF_TOPOLOGY_TEXT_MAX, &description) &&
	    parse_key(&parse, root) && parse_nodes(&parse, root) && parse_devices(&parse, root) && parse_gpus(&parse, root) &&
	    sf_parse_names(&parse) && sf_parse_check_unique(&parse)) {
		*topology = parse.topology;
		parse.topology = NULL;
		result = DOCA_SUCCESS;
	}
	if (parse.json.no_memory)
		result = DOCA_ERROR_NO_MEMORY;
	*message = parse.json.message;
	json_object_put(root);
	free(parse.sources);
	sf_topology_free(parse.topology);
	return result;
}

void sf_topology_free(struct sf_topology *topology)
{
	if (!topology)
		return;
	for (uint32_t i = 0; i < topology->num_nodes; i++) {
		free((char *)topology->nodes[i].name);
		free((char *)topology->nodes[i].host);
		free((char *)topology->nodes[i].address);
	}
	free((char *)topology->key);
	free(topology->nodes);
	free(topology->devices);
	free(topology->gpus);
	free(topology);
}
