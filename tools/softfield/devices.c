/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield devices: the devices that a program started here would see, software and hardware. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/control/nodes.h"
#include "json_writer.h"
#include "table.h"
#include "tool.h"
#include "topology/sysfs.h"

#define ANSWER_SIZE 40
#define ANSWER_LIMIT_NS UINT64_C(1000000000) /* for the services of all machines, which are queried in parallel */

struct view {
	const struct sf_topology *t;
	bool has_asked;
	enum sf_node_state states[SF_TOPOLOGY_NODES_MAX]; /* of the nodes that have an address, if they were queried */
	const struct sf_node *real_node;		  /* the node that shows the machine's real devices, or NULL */
	struct sf_real_device gpus[SF_REAL_DEVICES_MAX], rdma[SF_REAL_DEVICES_MAX];
	uint32_t num_gpus, num_rdma;
};

/* A device's attributes as text. */
struct device_text {
	char mac[18], ipv4[INET_ADDRSTRLEN], ipv6[INET6_ADDRSTRLEN], rate[24], type[24];
};

static const char *kind_name(const struct sf_node *node)
{
	return node->kind == SF_NODE_DPU ? "dpu" : "host";
}

static void device_describe(const struct sf_device *d, struct device_text *text)
{
	static const char *const types[] = {[SF_FUNCTION_PF] = "pf", [SF_FUNCTION_VF] = "vf", [SF_FUNCTION_SF] = "sf"};
	const uint8_t *m = d->mac;

	snprintf(text->mac, sizeof(text->mac), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	text->ipv4[0] = '\0';
	if (d->has_ipv4)
		inet_ntop(AF_INET, d->ipv4, text->ipv4, sizeof(text->ipv4));
	inet_ntop(AF_INET6, d->ipv6, text->ipv6, sizeof(text->ipv6));
	snprintf(text->rate, sizeof(text->rate), "%llu Gb/s", (unsigned long long)(d->rate_bps / 1000000000));
	if (d->kind == SF_FUNCTION_SF)
		snprintf(text->type, sizeof(text->type), "sf %u", d->sf_index);
	else
		snprintf(text->type, sizeof(text->type), "%s", types[d->kind]);
}

/* Returns the host with this machine's PCI bus: this process's node, else the first local host. */
static const struct sf_node *find_real_node(const struct sf_topology *t)
{
	for (uint32_t i = 0; i < t->num_nodes; i++) {
		if (t->nodes[i].kind == SF_NODE_HOST && sf_topology_sees(t, &t->nodes[i]))
			return &t->nodes[i];
	}
	return NULL;
}

static bool is_real_gpu(const struct view *view, const struct sf_gpu_desc *gpu)
{
	for (uint32_t i = 0; i < view->num_gpus; i++) {
		if (gpu->node == view->real_node && !strcmp(gpu->pci_addr, view->gpus[i].pci_addr))
			return true;
	}
	return false;
}

/* ---- table ---- */

static bool was_asked(const struct view *view, uint32_t node)
{
	return view->has_asked && view->t->nodes[node].address;
}

/* Why a service that was reached does not answer, or NULL. */
static const char *reason_of(enum sf_node_state state)
{
	if (state == SF_NODE_REFUSED)
		return "the keys differ";
	return state == SF_NODE_OTHER ? "only one side uses TLS" : NULL;
}

static void answer_text(char text[ANSWER_SIZE], enum sf_node_state state)
{
	const char *reason = reason_of(state);

	snprintf(text, ANSWER_SIZE, "%s%s%s", state == SF_NODE_ANSWERED ? "yes" : "no", reason ? ": " : "", reason ? reason : "");
}

static void print_nodes(const struct view *view)
{
	struct table *table = table_create((const char *[]){"NAME", "KIND", "HOST", "ADDRESS", "ANSWERS", NULL});
	const struct sf_topology *t = view->t;

	for (uint32_t i = 0; i < t->num_nodes; i++) {
		char answer[ANSWER_SIZE];

		if (was_asked(view, i))
			answer_text(answer, view->states[i]);
		table_row(table, t->nodes[i].name, kind_name(&t->nodes[i]), t->nodes[i].host, t->nodes[i].address,
			  was_asked(view, i) ? answer : NULL);
	}
	table_print(table, "Nodes");
}

static void print_devices(const struct view *view)
{
	struct table *table = table_create(
		(const char *[]){"NODE", "PCI", "TYPE", "IBDEV", "INTERFACE", "MAC", "IPV4", "RATE", "UPLINK", NULL});
	const struct sf_topology *t = view->t;
	struct device_text text;

	for (uint32_t i = 0; i < t->num_devices; i++) {
		const struct sf_device *d = &t->devices[i];

		if (!sf_topology_sees(t, d->node))
			continue;
		device_describe(d, &text);
		table_row(table, d->node->name, d->pci_addr, text.type, d->ibdev, d->iface, text.mac, text.ipv4, text.rate,
			  d->uplink ? d->uplink->key : NULL);
	}
	for (uint32_t i = 0; i < view->num_rdma; i++)
		table_row(table, view->real_node->name, view->rdma[i].pci_addr, "real", view->rdma[i].name, NULL, NULL, NULL,
			  NULL, NULL);
	table_print(table, "\nDevices");
}

static void print_representors(const struct sf_topology *t)
{
	struct table *table = table_create((const char *[]){"ON", "STANDS FOR", "PCI", "TYPE", "INTERFACE", "VUID", NULL});
	struct device_text text;

	for (uint32_t i = 0; i < t->num_devices; i++) {
		const struct sf_device *d = &t->devices[i];

		if (!d->uplink || !sf_topology_sees(t, d->uplink->node))
			continue;
		device_describe(d, &text);
		table_row(table, d->uplink->key, d->key, d->pci_addr, text.type, d->rep_iface, d->vuid);
	}
	table_print(table, "\nRepresentors");
}

static void print_gpus(const struct view *view)
{
	struct table *table = table_create((const char *[]){"NODE", "PCI", "TYPE", "NAME", NULL});
	const struct sf_topology *t = view->t;

	for (uint32_t i = 0; i < t->num_gpus; i++) {
		if (sf_topology_sees(t, t->gpus[i].node) && !is_real_gpu(view, &t->gpus[i]))
			table_row(table, t->gpus[i].node->name, t->gpus[i].pci_addr, "software", t->gpus[i].name);
	}
	for (uint32_t i = 0; i < view->num_gpus; i++)
		table_row(table, view->real_node->name, view->gpus[i].pci_addr, "real", view->gpus[i].name);
	table_print(table, "\nGPUs");
}

static void print_table(const struct view *view)
{
	if (view->t->self)
		printf("As node %s sees it (SOFTFIELD_NODE).\n\n", view->t->self->name);
	print_nodes(view);
	print_devices(view);
	print_representors(view->t);
	print_gpus(view);
}

/* ---- JSON ---- */

static struct json_object *json_nodes(const struct view *view)
{
	struct json_object *array = json_object_new_array();
	const struct sf_topology *t = view->t;

	for (uint32_t i = 0; i < t->num_nodes; i++) {
		struct json_object *object = json_add_object(array);

		json_add_text_if_any(object, "name", t->nodes[i].name);
		json_add_text_if_any(object, "kind", kind_name(&t->nodes[i]));
		json_add_text_if_any(object, "host", t->nodes[i].host);
		json_add_text_if_any(object, "address", t->nodes[i].address);
		if (!was_asked(view, i))
			continue;
		json_add_bool(object, "answers", view->states[i] == SF_NODE_ANSWERED);
		json_add_text_if_any(object, "why_not", reason_of(view->states[i]));
	}
	return array;
}

static void add_function(struct json_object *object, const struct sf_device *d)
{
	static const char *const types[] = {[SF_FUNCTION_PF] = "pf", [SF_FUNCTION_VF] = "vf", [SF_FUNCTION_SF] = "sf"};

	json_add_text_if_any(object, "pci", d->pci_addr);
	json_add_text_if_any(object, "type", types[d->kind]);
	if (d->kind == SF_FUNCTION_SF)
		json_add_number(object, "sf_index", d->sf_index);
	json_add_text_if_any(object, "vuid", d->vuid);
	json_add_number(object, "vhca_id", d->vhca_id);
}

static struct json_object *json_devices(const struct view *view)
{
	struct json_object *array = json_object_new_array();
	const struct sf_topology *t = view->t;
	struct device_text text;

	for (uint32_t i = 0; i < t->num_devices; i++) {
		const struct sf_device *d = &t->devices[i];

		if (!sf_topology_sees(t, d->node))
			continue;

		struct json_object *object = json_add_object(array);

		device_describe(d, &text);
		json_add_text_if_any(object, "node", d->node->name);
		add_function(object, d);
		json_add_text_if_any(object, "ibdev", d->ibdev);
		json_add_text_if_any(object, "iface", d->iface);
		json_add_text_if_any(object, "mac", text.mac);
		json_add_text_if_any(object, "ipv4", text.ipv4);
		json_add_text_if_any(object, "ipv6", text.ipv6);
		json_add_number(object, "rate_bps", d->rate_bps);
		json_add_text_if_any(object, "uplink", d->uplink ? d->uplink->key : NULL);
		json_add_bool(object, "real", false);
	}
	for (uint32_t i = 0; i < view->num_rdma; i++) {
		struct json_object *object = json_add_object(array);

		json_add_text_if_any(object, "node", view->real_node->name);
		json_add_text_if_any(object, "pci", view->rdma[i].pci_addr);
		json_add_text_if_any(object, "ibdev", view->rdma[i].name);
		json_add_bool(object, "real", true);
	}
	return array;
}

static struct json_object *json_representors(const struct sf_topology *t)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < t->num_devices; i++) {
		const struct sf_device *d = &t->devices[i];

		if (!d->uplink || !sf_topology_sees(t, d->uplink->node))
			continue;

		struct json_object *object = json_add_object(array);

		json_add_text_if_any(object, "on", d->uplink->key);
		json_add_text_if_any(object, "for", d->key);
		add_function(object, d);
		json_add_text_if_any(object, "iface", d->rep_iface);
	}
	return array;
}

static void add_gpu(struct json_object *array, const struct sf_node *node, const char *pci, const char *name, bool real)
{
	struct json_object *object = json_add_object(array);

	json_add_text_if_any(object, "node", node->name);
	json_add_text_if_any(object, "pci", pci);
	json_add_text_if_any(object, "name", name);
	json_add_bool(object, "real", real);
}

static struct json_object *json_gpus(const struct view *view)
{
	struct json_object *array = json_object_new_array();
	const struct sf_topology *t = view->t;

	for (uint32_t i = 0; i < t->num_gpus; i++) {
		if (sf_topology_sees(t, t->gpus[i].node) && !is_real_gpu(view, &t->gpus[i]))
			add_gpu(array, t->gpus[i].node, t->gpus[i].pci_addr, t->gpus[i].name, false);
	}
	for (uint32_t i = 0; i < view->num_gpus; i++)
		add_gpu(array, view->real_node, view->gpus[i].pci_addr, view->gpus[i].name, true);
	return array;
}

static void print_json(const struct view *view)
{
	struct json_object *root = json_object_new_object();

	json_add_text_if_any(root, "self", view->t->self ? view->t->self->name : NULL);
	json_object_object_add(root, "nodes", json_nodes(view));
	json_object_object_add(root, "devices", json_devices(view));
	json_object_object_add(root, "representors", json_representors(view->t));
	json_object_object_add(root, "gpus", json_gpus(view));
	json_print(root, true, stdout);
}

/* Queries whether the machines' services answer, which needs a key. */
static void ask_nodes(struct view *view)
{
	struct sf_fabric_node nodes[SF_TOPOLOGY_NODES_MAX];
	enum sf_node_state states[SF_TOPOLOGY_NODES_MAX];
	const struct sf_topology *t = view->t;
	const struct sf_fabric_key key = {.path = t->key, .is_bare = t->is_bare};
	uint32_t num = 0;

	for (uint32_t i = 0; i < t->num_nodes; i++) {
		const struct sf_node *node = &t->nodes[i];

		if (node->address)
			nodes[num++] = (struct sf_fabric_node){.name = node->name, .address = node->address, .port = node->port};
	}
	if (num == 0 || !t->key)
		return;
	if (sf_nodes_ask(nodes, num, &key, ANSWER_LIMIT_NS, states) != DOCA_SUCCESS) {
		(void)tool_fail("cannot query the other machines; SOFTFIELD_LOG=error shows why");
		return;
	}
	view->has_asked = true;
	num = 0;
	for (uint32_t i = 0; i < t->num_nodes; i++) {
		if (t->nodes[i].address)
			view->states[i] = states[num++];
	}
}

static int devices_run(struct cli *cli)
{
	struct view view = {0};
	bool json = tool_json_asked(cli);
	struct sf_topology *t = tool_topology_load(getenv("SOFTFIELD_NODE"));

	if (!t)
		return TOOL_FAILED;
	view.t = t;
	view.real_node = find_real_node(t);
	if (view.real_node) {
		view.num_gpus = sf_sysfs_gpus("", view.gpus);
		view.num_rdma = sf_sysfs_rdma("", view.rdma);
	}
	ask_nodes(&view);
	if (json)
		print_json(&view);
	else
		print_table(&view);
	sf_topology_free(t);
	return TOOL_OK;
}

const struct cli_command tool_devices = {
	.name = "devices",
	.summary = "List the nodes, devices, representors and GPUs that programs see here.",
	.options = tool_json_option,
	.run = devices_run,
};
