/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/urom_plugin.h
 * Optional functions of a plugin, which Softfield's workers call in addition to doca_urom_plugin.h. A plugin without them works,
 * and a plugin with them also loads in other workers, which do not call them.
 *
 * Contexts of several hosts may use one worker, and the dest_id of each command identifies its context. The published interface
 * does not report when one of them leaves. A plugin that keeps state for each (a pending receive, memory, a name) can export
 *
 *     void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id)
 *     {
 *             drop_all_of(ctx->plugin_ctx, dest_id);
 *     }
 *
 * Nor does the interface have a descriptor on which a worker can sleep while a plugin waits for its own network: the worker has
 * to poll, and takes time from other programs on its processor. A plugin with such a descriptor (of UCX with UCP_FEATURE_WAKEUP)
 * can export
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
 * plugin and calls it on the plugin's thread, between two other calls of the interface and not inside one. The client's commands
 * that have not been passed to worker_cmd are dropped, and so are answers to it, so the plugin need not answer. A dest_id is not
 * used again. Also called for a client that has never sent this plugin a command. Not called when the worker ends: then close is.
 * @param dest_id as in the descriptors of the client's commands
 */
void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);

/**
 * Exported by a plugin: the worker has found nothing to do and is about to sleep. Called after progress has returned EMPTY, on
 * the plugin's thread. If all plugins of a worker have this function, it sleeps soon, until an event or for 100 ms; otherwise it
 * polls for a while first, and then every 10 ms at the latest.
 * @param fd set to a descriptor of the plugin's, which becomes readable when progress has something to do; requested each time
 * @return DOCA_ERROR_AGAIN, or any other error: there is something to do already, or no descriptor: progress is called again
 */
doca_error_t softfield_urom_plugin_arm(struct urom_worker_ctx *ctx, int *fd);

#ifdef __cplusplus
}
#endif

#endif
