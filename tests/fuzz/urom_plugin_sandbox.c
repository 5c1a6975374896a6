/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU half of a plugin with prefixed names, for a worker that loads it without a shared object. */
#define urom_plugin_get_version sandbox_get_version
#define urom_plugin_get_iface sandbox_get_iface
#define softfield_urom_plugin_client_left sandbox_client_left
#include "../../plugins/sandbox/worker_sandbox.c"
