/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's half of the graph plugin: a command that is answered with its own value. */
#ifndef UROM_GRAPH_H
#define UROM_GRAPH_H

#include <doca_urom.h>

/* Told how a loopback ended; value is the answer's when result is DOCA_SUCCESS. */
typedef void (*urom_graph_loopback_finished)(doca_error_t result, union doca_data cookie, uint64_t value);

/* From the service's plugin list: the id and version of "worker_graph". UNSUPPORTED_VERSION: the halves do not belong together. */
doca_error_t urom_graph_init(uint64_t plugin_id, uint64_t version);

doca_error_t urom_graph_task_loopback(struct doca_urom_worker *worker, union doca_data cookie, uint64_t value,
				      urom_graph_loopback_finished finished);

#endif
