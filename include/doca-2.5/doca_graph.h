/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_graph.h
 * Graphs: today's, with the headers that it included in 2.5.
 */
#ifndef DOCA_2_5_GRAPH_H_
#define DOCA_2_5_GRAPH_H_

#include "../doca_graph.h"
#include <stdbool.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#endif /* DOCA_2_5_GRAPH_H_ */
