/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file urom_graph.h
 * The host's half of the graph plugin: a command whose answer is its own value. See the guide, "Graph".
 */
#ifndef UROM_GRAPH_H
#define UROM_GRAPH_H

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Called once with the result of a loopback, from doca_pe_progress() of the worker's progress engine. value is the returned
 * value if result is DOCA_SUCCESS, else 0. Errors: BAD_STATE: the worker was stopped; CONNECTION_ABORTED: its process has
 * ended; UNEXPECTED: the answer is not one of this plugin.
 */
typedef void (*urom_graph_loopback_finished)(doca_error_t result, union doca_data cookie, uint64_t value);

/**
 * Remembers the plugin's id. Must be called first. The id holds for the process: in a program with several services the plugin
 * must have the same id in all.
 * @param plugin_id id of "worker_graph" in doca_urom_service_get_plugins_list()
 * @param version its version there
 * @retval DOCA_ERROR_UNSUPPORTED_VERSION the plugin in the service has another release than this half
 */
doca_error_t urom_graph_init(uint64_t plugin_id, uint64_t version);

/**
 * Sends a value to the worker, which sends it back. The call belongs to the thread of the worker's progress engine.
 * @param worker a RUNNING worker context that has the plugin's id among its plugins
 * @param cookie passed to finished
 * @param value what is sent
 * @param finished called only if this returns DOCA_SUCCESS
 * @return DOCA_SUCCESS, or an error below, or one of doca_urom_worker_cmd_task_allocate_init() or doca_task_submit()
 * @retval DOCA_ERROR_INVALID_VALUE finished is NULL
 */
doca_error_t urom_graph_task_loopback(struct doca_urom_worker *worker, union doca_data cookie, uint64_t value,
				      urom_graph_loopback_finished finished);

#ifdef __cplusplus
}
#endif

#endif
