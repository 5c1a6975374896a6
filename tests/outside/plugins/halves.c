/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds each plugin of the service, passes the versions to the host's halves, and has the graph plugin send a value back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_urom.h>
#include <urom_allreduce.h>
#include <urom_graph.h>
#include <urom_rdmo.h>
#include <urom_sandbox.h>

#define VALUE UINT64_C(0x0123456789abcdef)

static const struct {
	const char *name;
	doca_error_t (*init)(uint64_t id, uint64_t version);
} halves[] = {
	{"worker_graph", urom_graph_init},
	{"worker_sandbox", urom_sandbox_init},
	{"worker_rdmo", urom_rdmo_init},
	{"worker_allreduce", urom_allreduce_init},
};

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(1);
}

static struct doca_dev *open_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;

	must(doca_devinfo_create_list(&list, &num), "devices");
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		uint8_t equal = 0;

		if (doca_devinfo_is_equal_pci_addr(list[i], "d8:00.0", &equal) == DOCA_SUCCESS && equal)
			must(doca_dev_open(list[i], &dev), "device");
	}
	(void)doca_devinfo_destroy_list(list);
	must(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "device");
	return dev;
}

/* Returns the bitwise OR of all plugins' ids. */
static uint64_t init_halves(struct doca_urom_service *service)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;
	uint64_t ids = 0;

	must(doca_urom_service_get_plugins_list(service, &plugins, &num), "plugins");
	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		size_t at = 0;

		while (at < num && strcmp(plugins[at].plugin_name, halves[i].name) != 0)
			at++;
		must(at < num ? halves[i].init(plugins[at].id, plugins[at].version) : DOCA_ERROR_NOT_FOUND, halves[i].name);
		ids |= plugins[at].id;
	}
	return ids;
}

static void await(struct doca_pe *pe, struct doca_ctx *ctx, enum doca_ctx_states leaving, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	do {
		(void)doca_pe_progress(pe);
		must(doca_ctx_get_state(ctx, &state), "worker");
	} while (state == leaving);
	must(state == wanted ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE, "worker");
}

static void came_back(doca_error_t result, union doca_data cookie, uint64_t value)
{
	must(result, "loopback");
	*(uint64_t *)cookie.ptr = value;
}

int main(void)
{
	struct doca_urom_service *service;
	struct doca_urom_worker *worker;
	struct doca_pe *pe;
	uint64_t value = 0;
	struct doca_dev *dev = open_device();

	must(doca_pe_create(&pe), "progress engine");
	must(doca_urom_service_create(&service), "service");
	must(doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(service)), "service");
	must(doca_urom_service_set_dev(service, dev), "service");
	must(doca_ctx_start(doca_urom_service_as_ctx(service)), "service");
	must(doca_urom_worker_create(&worker), "worker");
	must(doca_pe_connect_ctx(pe, doca_urom_worker_as_ctx(worker)), "worker");
	must(doca_urom_worker_set_service(worker, service), "worker");
	must(doca_urom_worker_set_id(worker, DOCA_UROM_WORKER_ID_ANY), "worker");
	must(doca_urom_worker_set_plugins(worker, init_halves(service)), "worker");
	must(doca_ctx_start(doca_urom_worker_as_ctx(worker)), "worker");
	await(pe, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING);

	must(urom_graph_task_loopback(worker, (union doca_data){.ptr = &value}, VALUE, came_back), "loopback");
	while (value == 0)
		(void)doca_pe_progress(pe);

	must(doca_ctx_stop(doca_urom_worker_as_ctx(worker)), "worker");
	await(pe, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE);
	must(doca_urom_worker_destroy(worker), "worker");
	must(doca_ctx_stop(doca_urom_service_as_ctx(service)), "service");
	must(doca_urom_service_destroy(service), "service");
	must(doca_pe_destroy(pe), "progress engine");
	must(doca_dev_close(dev), "device");
	return value == VALUE ? 0 : 1;
}
