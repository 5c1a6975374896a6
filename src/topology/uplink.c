/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the DPU port that a function is behind. */
#include <string.h>

#include "topology/parse.h"

static const struct sf_device *find_port(const struct sf_topology *t, const char *node, size_t node_len, const char *pci)
{
	for (uint32_t i = 0; i < t->num_devices; i++) {
		const struct sf_device *d = &t->devices[i];

		if (d->kind == SF_FUNCTION_PF && strlen(d->node->name) == node_len && !memcmp(d->node->name, node, node_len) &&
		    !strcmp(d->pci_addr, pci))
			return d;
	}
	return NULL;
}

static bool resolve_uplink(struct sf_parse *parse, struct sf_device *pf, const struct sf_device_source *source)
{
	struct sf_topology *t = parse->topology;
	const char *slash = strchr(source->uplink, '/');
	char quoted[SF_JSON_QUOTED_MAX], pci[SF_PCI_ADDR_SIZE];

	sf_json_quoted(source->uplink, quoted);
	if (pf->node->kind != SF_NODE_HOST)
		return sf_json_fail(&parse->json, source->path, "uplink", "only a host's function has an uplink");
	if (!slash || sf_pci_addr_normalise(slash + 1, pci) != DOCA_SUCCESS)
		return sf_json_fail(&parse->json, source->path, "uplink", "expected NODE/PCI, such as dpu0/03:00.0, found %s",
				    quoted);

	const struct sf_device *port = find_port(t, source->uplink, (size_t)(slash - source->uplink), pci);

	if (!port || !sf_device_is_port(port))
		return sf_json_fail(&parse->json, source->path, "uplink", "no port of a DPU is at %s", quoted);
	if (!port->node->host || strcmp(port->node->host, pf->node->name))
		return sf_json_fail(&parse->json, source->path, "uplink", "the host of DPU \"%s\" is %s, not \"%s\"",
				    port->node->name, port->node->host ? port->node->host : "not given", pf->node->name);
	for (uint32_t i = 0; i < t->num_devices; i++) {
		if (t->devices[i].uplink == port)
			return sf_json_fail(&parse->json, source->path, "uplink", "%s is the uplink of %s already", quoted,
					    parse->sources[i].path);
	}
	pf->uplink = port;
	return true;
}

bool sf_parse_uplinks(struct sf_parse *parse)
{
	struct sf_topology *t = parse->topology;

	for (uint32_t i = 0; i < t->num_devices; i++) {
		if (parse->sources[i].uplink && !resolve_uplink(parse, &t->devices[i], &parse->sources[i]))
			return false;
	}
	for (uint32_t i = 0; i < t->num_devices; i++) {
		const struct sf_device *parent = t->devices[i].parent;

		if (parent)
			t->devices[i].uplink = sf_device_is_port(parent) ? parent : parent->uplink;
	}
	return true;
}
