/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/urom_plugin.h
 * What Softfield's workers offer to plugins beyond doca_urom_plugin.h. A plugin that has none of it loads here all the same, and
 * one that has it loads elsewhere, where nobody calls it.
 *
 * Several hosts' contexts may use one worker, and each command says by its dest_id whose it is. The published interface does not
 * say when one of them leaves; a plugin that keeps something for each (a receive that waits, memory, a name) can export
 *
 *     void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id)
 *     {
 *             drop_all_of(ctx->plugin_ctx, dest_id);
 *     }
 *
 * Nor does it say what a worker can sleep on while a plugin waits for its own network: the worker has to look again and again,
 * and takes time from whoever shares its processor. A plugin with a descriptor for that (UCP_FEATURE_WAKEUP gives UCX's) can
 * export
 *
 *     doca_error_t softfield_urom_plugin_arm(struct urom_worker_ctx *ctx, int *fd)
 *     {
 *             struct mine *mine = ctx->plugin_ctx;
 *             *fd = mine->efd;
 *             return ucp_worker_arm(mine->worker) == UCS_OK ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
 *     }
 */
#ifndef SOFTFIELD_UROM_PLUGIN_H_
#define SOFTFIELD_UROM_PLUGIN_H_

#include <stdint.h>

#include <doca_urom_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Exported by a plugin: a client has stopped its worker context, or died. The worker looks the symbol up when it loads the
 * plugin and calls it on the plugin's thread, between two other calls of the interface and not inside one. Commands of this
 * client that worker_cmd has not been given will not come any more; answers to it are dropped, so nothing need be answered. A
 * dest_id is not used again. A client that never sent this plugin a command is told of as well. Not called when the worker ends:
 * close is.
 * @param dest_id as in the descriptors of the client's commands
 */
void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);

/**
 * Exported by a plugin: the worker has found nothing to do and would sleep. Called after progress answered EMPTY, on the
 * plugin's thread. A worker all of whose plugins have this sleeps soon, until something comes, 100 ms at most; others look again
 * for a while first, and then every 10 ms at the latest.
 * @param fd set to a descriptor that becomes readable when progress has something to do; the plugin's, and asked for each time
 * @return DOCA_ERROR_AGAIN, or any other error: there is something to do already, or no descriptor: progress is called again
 */
doca_error_t softfield_urom_plugin_arm(struct urom_worker_ctx *ctx, int *fd);

#ifdef __cplusplus
}
#endif

#endif
