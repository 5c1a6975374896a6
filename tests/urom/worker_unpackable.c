/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph plugin with a notif_pack that fails. */
#define urom_plugin_get_iface graph_get_iface
#include "../../plugins/graph/worker_graph.c"
#undef urom_plugin_get_iface

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface);

static doca_error_t refuse(struct urom_worker_notify *notif, size_t *packed_notif_len, void *packed_notif)
{
	(void)notif;
	(void)packed_notif_len;
	(void)packed_notif;
	return DOCA_ERROR_TOO_BIG;
}

doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)
{
	doca_error_t result = graph_get_iface(iface);

	if (result == DOCA_SUCCESS)
		iface->notif_pack = refuse;
	return result;
}
