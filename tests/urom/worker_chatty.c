/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph plugin, which prints when it is loaded, and then misbehaves as CHATTY says. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define COMPUTE_MS 1200 /* of processor time */

#define urom_plugin_get_version graph_get_version
#define urom_plugin_get_iface graph_get_iface
#include "../../plugins/graph/worker_graph.c"
#undef urom_plugin_get_version
#undef urom_plugin_get_iface

doca_error_t urom_plugin_get_version(uint64_t *version);
doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

static bool is_to(const char *what)
{
	const char *said = getenv("CHATTY");

	return said != NULL && strcmp(said, what) == 0;
}

static void __attribute__((constructor)) talk(void)
{
	printf("5\nthe plugin is loaded by process %d\n", getpid());
	fflush(stdout);
	if (is_to("exit"))
		_Exit(0);
	while (is_to("hang"))
		pause();
	while (is_to("compute") && clock() < COMPUTE_MS * (CLOCKS_PER_SEC / 1000))
		;
	if (is_to("crash")) {
		signal(SIGSEGV, SIG_DFL); /* no sanitizer may explain the signal */
		raise(SIGSEGV);
	}
}

doca_error_t urom_plugin_get_version(uint64_t *version)
{
	return is_to("fail") ? DOCA_ERROR_NOT_SUPPORTED : graph_get_version(version);
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	doca_error_t result = graph_get_iface(iface);

	if (is_to("be of another release"))
		DOCA_STRUCT_GET_VERSION(iface) += UINT64_C(1) << 24;
	if (is_to("lack an operation"))
		iface->worker_cmd = NULL;
	return result;
}
