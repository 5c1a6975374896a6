/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU half of a plugin with prefixed names, for a worker that loads it without a shared object. */
#define urom_plugin_get_version rdmo_get_version
#define urom_plugin_get_iface rdmo_get_iface
#define softfield_urom_plugin_client_left rdmo_client_left
#include "../../plugins/rdmo/worker_rdmo.c"
