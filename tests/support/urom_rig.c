/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/urom_rig.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/program.h"
#include "support/wait.h"
#include "urom_graph.h"

#define DEVICE "0000:d8:00.0"

/* ---- the daemon ---- */

static bool write_service_file(struct urom_rig *rig)
{
	snprintf(rig->service_file, sizeof(rig->service_file), "%s/services", rig->folder);
	FILE *file = fopen(rig->service_file, "w");
	if (file == NULL)
		return false;
	fprintf(file, "# the service of a test\n\nlocalhost dpu 127.0.0.1:%u d8:00.0 lo\n", rig->port);
	return fclose(file) == 0 && setenv("DOCA_UROM_SERVICE_FILE", rig->service_file, 1) == 0;
}

bool urom_rig_start_daemon(struct urom_rig *rig, const char *const *more)
{
	char port[16];
	const char *args[10] = {getenv("UROM_DAEMON"), "--port", port};

	if (rig->folder[0] == '\0') {
		strcpy(rig->folder, "/tmp/urom-test-XXXXXX");
		if (mkdtemp(rig->folder) == NULL)
			return false;
	}
	setenv("SOFTFIELD_RUNTIME", rig->folder, 1);
	snprintf(port, sizeof(port), "%u", rig->port); /* 0 at the first start, then the same port again */
	for (int i = 0; more != NULL && more[i] != NULL && i < 6; i++)
		args[3 + i] = more[i];
	if (!program_start(&rig->daemon, args))
		return false;
	if (!program_await(&rig->daemon, "listening on") || !program_await(&rig->daemon, " plugins\n")) {
		(void)urom_rig_end_daemon(rig); /* needed here: no teardown follows a setup that failed */
		rig->daemon.pid = 0;
		return false;
	}
	const char *said = strstr(rig->daemon.output, "listening on");
	return sscanf(said, "listening on %*s port %u", &rig->port) == 1 && write_service_file(rig);
}

int urom_rig_end_daemon(struct urom_rig *rig)
{
	kill(rig->daemon.pid, SIGTERM);
	return program_wait(&rig->daemon);
}

/* ---- contexts ---- */

static bool open_device(struct urom_rig *rig)
{
	struct doca_devinfo **list;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint32_t num;

	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS)
		return false;
	for (uint32_t i = 0; i < num && rig->dev == NULL; i++) {
		if (doca_devinfo_get_pci_addr_str(list[i], address) == DOCA_SUCCESS && strcmp(address, DEVICE) == 0)
			(void)doca_dev_open(list[i], &rig->dev);
	}
	doca_devinfo_destroy_list(list);
	return rig->dev != NULL;
}

struct doca_urom_service *urom_rig_service(struct urom_rig *rig)
{
	struct doca_urom_service *service;

	if (rig->dev == NULL && (!open_device(rig) || doca_pe_create(&rig->pe) != DOCA_SUCCESS))
		return NULL;
	if (doca_urom_service_create(&service) != DOCA_SUCCESS)
		return NULL;
	if (doca_pe_connect_ctx(rig->pe, doca_urom_service_as_ctx(service)) == DOCA_SUCCESS &&
	    doca_urom_service_set_dev(service, rig->dev) == DOCA_SUCCESS)
		return service;
	doca_urom_service_destroy(service);
	return NULL;
}

bool urom_rig_open(struct urom_rig *rig, const char *const *more)
{
	if (!urom_rig_start_daemon(rig, more))
		return false;
	rig->service = urom_rig_service(rig);
	doca_error_t result =
		rig->service != NULL ? doca_ctx_start(doca_urom_service_as_ctx(rig->service)) : DOCA_ERROR_UNEXPECTED;
	if (result == DOCA_SUCCESS)
		return true;
	(void)urom_rig_end_daemon(rig);
	rig->daemon.pid = 0;
	fprintf(stderr, "the rig's service does not start: %s, its daemon said:\n%s", doca_error_get_name(result),
		rig->daemon.output);
	urom_rig_close(rig); /* no teardown follows a setup that failed */
	return false;
}

void urom_rig_close(struct urom_rig *rig)
{
	char command[128];

	if (rig->service != NULL) {
		(void)doca_ctx_stop(doca_urom_service_as_ctx(rig->service));
		(void)doca_urom_service_destroy(rig->service);
	}
	if (rig->pe != NULL)
		(void)doca_pe_destroy(rig->pe);
	if (rig->dev != NULL)
		(void)doca_dev_close(rig->dev);
	if (rig->daemon.pid > 0)
		(void)urom_rig_end_daemon(rig);
	snprintf(command, sizeof(command), "rm -rf '%s'", rig->folder);
	if (rig->folder[0] != '\0')
		(void)!system(command);
	memset(rig, 0, sizeof(*rig));
}

static const struct doca_urom_service_plugin_info *plugin_find(struct urom_rig *rig, const char *name)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;

	if (doca_urom_service_get_plugins_list(rig->service, &plugins, &num) != DOCA_SUCCESS)
		return NULL;
	for (size_t i = 0; i < num; i++) {
		if (strcmp(plugins[i].plugin_name, name) == 0)
			return &plugins[i];
	}
	return NULL;
}

uint64_t urom_rig_plugin(struct urom_rig *rig, const char *name)
{
	const struct doca_urom_service_plugin_info *plugin = plugin_find(rig, name);

	if (plugin == NULL)
		return 0;
	if (strcmp(name, "worker_graph") == 0)
		(void)urom_graph_init(plugin->id, plugin->version);
	return plugin->id;
}

uint64_t urom_rig_plugin_version(struct urom_rig *rig, const char *name)
{
	const struct doca_urom_service_plugin_info *plugin = plugin_find(rig, name);

	return plugin != NULL ? plugin->version : 0;
}

struct doca_urom_worker *urom_rig_worker(struct urom_rig *rig, uint64_t id, const char *plugin)
{
	struct doca_urom_worker *worker;
	uint64_t plugins = urom_rig_plugin(rig, plugin);

	if (plugins == 0 || doca_urom_worker_create(&worker) != DOCA_SUCCESS)
		return NULL;
	if (doca_pe_connect_ctx(rig->pe, doca_urom_worker_as_ctx(worker)) == DOCA_SUCCESS &&
	    doca_urom_worker_set_service(worker, rig->service) == DOCA_SUCCESS &&
	    doca_urom_worker_set_id(worker, id) == DOCA_SUCCESS && doca_urom_worker_set_plugins(worker, plugins) == DOCA_SUCCESS)
		return worker;
	doca_urom_worker_destroy(worker);
	return NULL;
}

/* ---- waiting ---- */

void urom_rig_progress(struct doca_pe *pe)
{
	static __thread uint32_t num_idle;

	turn_end(&num_idle, doca_pe_progress(pe) != 0);
}

/* Progresses once. False: nothing was due, and the deadline has passed. */
static bool rig_step(struct urom_rig *rig, uint64_t until)
{
	static __thread uint32_t num_idle;
	bool moved = doca_pe_progress(rig->pe) != 0;

	turn_end(&num_idle, moved);
	return moved || sf_now_ns() <= until;
}

bool urom_rig_await(struct urom_rig *rig, struct doca_ctx *ctx, enum doca_ctx_states state)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	enum doca_ctx_states now;

	while (doca_ctx_get_state(ctx, &now) == DOCA_SUCCESS && now != state) {
		if (!rig_step(rig, until))
			return false;
	}
	return true;
}

bool urom_rig_await_flag(struct urom_rig *rig, const int *flag)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	while (!*flag) {
		if (!rig_step(rig, until))
			return false;
	}
	return true;
}

bool urom_rig_start_worker(struct urom_rig *rig, struct doca_urom_worker *worker)
{
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);
	enum doca_ctx_states state;

	if (doca_ctx_start(ctx) != DOCA_ERROR_IN_PROGRESS)
		return false;
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	do
		(void)doca_ctx_get_state(ctx, &state);
	while (state == DOCA_CTX_STATE_STARTING && rig_step(rig, until));
	return state == DOCA_CTX_STATE_RUNNING;
}

bool urom_rig_stop_worker(struct urom_rig *rig, struct doca_urom_worker *worker)
{
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);

	(void)doca_ctx_stop(ctx);
	return urom_rig_await(rig, ctx, DOCA_CTX_STATE_IDLE) && doca_urom_worker_destroy(worker) == DOCA_SUCCESS;
}

pid_t urom_rig_process_of(struct urom_rig *rig, struct doca_urom_worker *worker)
{
	char text[64];
	uint64_t id;
	int pid = 0;

	assert_int_equal(doca_urom_worker_get_id(worker, &id), DOCA_SUCCESS);
	snprintf(text, sizeof(text), "worker %llu runs, process ", (unsigned long long)id);
	assert_true(program_await(&rig->daemon, text));
	assert_int_equal(sscanf(strstr(rig->daemon.output, text) + strlen(text), "%d", &pid), 1);
	assert_true(pid > 1); /* the caller sends it signals */
	return pid;
}

/* ---- a loopback ---- */

struct loopback {
	int done;
	doca_error_t result;
	uint64_t value;
};

static void loopback_finished(doca_error_t result, union doca_data cookie, uint64_t value)
{
	struct loopback *loopback = (struct loopback *)cookie.ptr;

	*loopback = (struct loopback){1, result, value};
}

doca_error_t urom_rig_loopback(struct urom_rig *rig, struct doca_urom_worker *worker, uint64_t value)
{
	struct loopback loopback = {0};
	doca_error_t result = urom_graph_task_loopback(worker, (union doca_data){.ptr = &loopback}, value, loopback_finished);

	if (result != DOCA_SUCCESS)
		return result;
	if (!urom_rig_await_flag(rig, &loopback.done))
		return DOCA_ERROR_TIME_OUT;
	return loopback.result == DOCA_SUCCESS && loopback.value != value ? DOCA_ERROR_UNEXPECTED : loopback.result;
}
