/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's half of the graph plugin: a command that is answered with its own value. See the guide, "Graph". */
#ifndef UROM_GRAPH_H
#define UROM_GRAPH_H

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Told once how a loopback ended, from doca_pe_progress() of the worker's progress engine. value is what came back when result is
 * DOCA_SUCCESS, else 0. Otherwise result is the command's status: BAD_STATE, the worker was stopped; CONNECTION_ABORTED, its
 * process is gone; UNEXPECTED, what came back is no answer of this plugin's.
 */
typedef void (*urom_graph_loopback_finished)(doca_error_t result, union doca_data cookie, uint64_t value);

/*
 * Call it first, with the id and version that doca_urom_service_get_plugins_list() has of "worker_graph". One id for the process:
 * a program of several services needs the plugin to have the same one in all of them. UNSUPPORTED_VERSION: the plugin in the
 * service is of another release than this half.
 */
doca_error_t urom_graph_init(uint64_t plugin_id, uint64_t version);

/*
 * Sends value to the worker, which sends it back. The worker context is RUNNING and has the plugin's id among its plugins; the
 * call belongs to the thread of its progress engine. cookie is handed to finished, which is called if this returns DOCA_SUCCESS,
 * else not. INVALID_VALUE: no function is given. Other errors are those of doca_urom_worker_cmd_task_allocate_init() and
 * doca_task_submit().
 */
doca_error_t urom_graph_task_loopback(struct doca_urom_worker *worker, union doca_data cookie, uint64_t value,
				      urom_graph_loopback_finished finished);

#ifdef __cplusplus
}
#endif

#endif
