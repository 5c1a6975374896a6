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
 */
#ifndef SOFTFIELD_UROM_PLUGIN_H_
#define SOFTFIELD_UROM_PLUGIN_H_

#include <stdint.h>

#include <doca_urom_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Exported by a plugin: a client has stopped its worker context, or died. The worker looks the symbol up when it loads the plugin and
 * calls it on the plugin's thread, between two other calls of the interface and not inside one. Commands of this client that
 * worker_cmd has not been given will not come any more; answers to it are dropped, so nothing need be answered. A dest_id is not
 * used again. A client that never sent this plugin a command is told of as well. Not called when the worker ends: close is.
 *
 * @param ctx that of open
 * @param dest_id as in the descriptors of the client's commands
 */
void softfield_urom_plugin_client_left(struct urom_worker_ctx *ctx, uint64_t dest_id);

#ifdef __cplusplus
}
#endif

#endif
