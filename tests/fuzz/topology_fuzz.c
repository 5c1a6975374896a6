/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology files: any bytes give either a topology whose parts are consistent, or an error message. */
#include <stdlib.h>
#include <string.h>

#include "topology/topology.h"
#include "support/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sf_topology *t)
{
	CHECK(t->num_nodes > 0);
	for (uint32_t i = 0; i < t->num_devices; i++) {
		const struct sf_device *d = &t->devices[i];

		CHECK(d->node >= t->nodes && d->node < t->nodes + t->num_nodes);
		CHECK(!strncmp(d->key, d->node->name, strlen(d->node->name)) && d->key[strlen(d->node->name)] == '/');
		CHECK(strlen(d->pci_addr) == SF_PCI_ADDR_SIZE - 1 && d->ibdev[0] && d->iface[0] && d->vuid[0]);
		CHECK(!d->uplink || (sf_device_is_port(d->uplink) && d->rep_iface[0]));
		CHECK(d->kind != SF_FUNCTION_SF || strstr(d->key, "/sf"));
	}
	for (uint32_t i = 0; i < t->num_gpus; i++)
		CHECK(t->gpus[i].node->kind == SF_NODE_HOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sf_topology *t = NULL;
	char *message = NULL;
	doca_error_t result = sf_topology_parse((const char *)data, size, &t, &message);

	if (result == DOCA_SUCCESS) {
		CHECK(t && !message);
		check(t);
		sf_topology_free(t);
	} else {
		CHECK(!t && message && *message);
	}
	free(message);
	return 0;
}
