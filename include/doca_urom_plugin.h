/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_urom_plugin.h
 * @brief UROM plugins: the operations that a shared object offers a worker, and its commands and notifications.
 *
 * A plugin has two halves. The DPU's half is a shared object, `worker_NAME.so`, in a folder of the service's UROM_PLUGIN_PATH. A
 * worker process for which the plugin was requested loads it and calls it from one thread:
 *
 * @code
 *   urom_plugin_get_version(&version);          // by the service, for the plugin list
 *   urom_plugin_get_iface(&iface);              // by the worker: the operations
 *   iface.open(ctx);                            // ctx->plugin_ctx is the plugin's own
 *   iface.addr(ctx, address, &len);             // the address of the plugin's own network; optional
 *   loop: iface.worker_cmd(ctx, &commands);     // when commands have arrived
 *         iface.progress(ctx, &notifications);  // repeatedly
 *         iface.notif_pack(...);                // each notification, before it is sent
 *   iface.close(ctx);
 * @endcode
 *
 * The host's half turns calls into commands (doca_urom.h, the command task) and notifications into results. The plugin defines
 * their bytes; UROM only carries them. A notification answers one command and repeats its type, urom_context and dest_id. (UROM
 * guide, "Plugin Development")
 *
 * A plugin exports two symbols that no header declares:
 *
 * - `doca_error_t urom_plugin_get_version(uint64_t *version)`: a constant, by which both halves check that they belong together
 * - `doca_error_t urom_plugin_get_iface(struct urom_plugin_iface *iface)`: fills the operations; DOCA_STRUCT_CTOR of
 *   doca_compat.h sets the version at the beginning of the structure
 */
#ifndef DOCA_UROM_PLUGIN_H_
#define DOCA_UROM_PLUGIN_H_

#include <limits.h>

#include <ucs/datastruct/list.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a plugin's name, with the NUL. */
#define DOCA_UROM_PLUGIN_NAME_MAX_LEN 48

/** A plugin that a service offers. */
struct doca_urom_service_plugin_info {
	uint64_t id;	  /**< one bit, chosen by the service: for doca_urom_worker_set_plugins() and tasks */
	uint64_t version; /**< the result of the plugin's urom_plugin_get_version() */
	char plugin_name[DOCA_UROM_PLUGIN_NAME_MAX_LEN]; /**< the file's name without ".so" */
};

/** A command, as it goes to the worker. */
struct urom_worker_cmd {
	uint64_t type;	       /**< the plugin's id */
	uint64_t urom_context; /**< the library's value, which the notification repeats */
	uint64_t len;	       /**< bytes of plugin_cmd */
	uint8_t plugin_cmd[];  /**< what the host's half packed */
};

/** A command in the list for urom_plugin_iface.worker_cmd. The plugin removes it and frees it with free(). */
struct urom_worker_cmd_desc {
	ucs_list_link_t entry;
	uint64_t dest_id; /**< which of the worker's clients sent it; the notification repeats it */
	struct urom_worker_cmd worker_cmd;
};

/** A notification, as it goes back to the host. */
struct urom_worker_notify {
	uint64_t type;	       /**< of the command */
	uint64_t urom_context; /**< of the command */
	uint64_t len;	       /**< bytes of plugin_notif */
	doca_error_t status;   /**< becomes the status of the host's task */
	uint32_t reserved;
	uint8_t plugin_notif[]; /**< unpacked by the host's half */
};

/** A notification in the list that urom_plugin_iface.progress fills: from malloc(), and the worker frees it. */
struct urom_worker_notif_desc {
	ucs_list_link_t entry;
	uint64_t dest_id; /**< of the command */
	struct urom_worker_notify worker_notif;
};

struct urom_worker_ctx;

/** A plugin's operations. All are called on the worker's one thread. */
struct urom_plugin_iface {
	/** The version that the plugin was built with: a worker of another major version does not load it. */
	DOCA_STRUCT_START;
	/** Prepares the plugin, which may set ctx->plugin_ctx. After an error the worker does not start. */
	doca_error_t (*open)(struct urom_worker_ctx *ctx);
	/** Frees what open created. */
	void (*close)(struct urom_worker_ctx *ctx);
	/**
	 * Copies the plugin's network address, such as a packed UCX worker address, to addr and its length to *addr_len, which
	 * holds the room at first. If there is too little room, sets *addr_len and returns DOCA_ERROR_INVALID_VALUE. NULL if it
	 * has none.
	 */
	doca_error_t (*addr)(struct urom_worker_ctx *ctx, void *addr, size_t *addr_len);
	/** Consumes commands: removes and frees every struct urom_worker_cmd_desc of the list. */
	doca_error_t (*worker_cmd)(struct urom_worker_ctx *ctx, ucs_list_link_t *cmd_list);
	/**
	 * Continues pending commands, and appends a struct urom_worker_notif_desc for each finished one. DOCA_ERROR_EMPTY: no
	 * progress was made, and the worker may sleep a little.
	 */
	doca_error_t (*progress)(struct urom_worker_ctx *ctx, ucs_list_link_t *notif_list);
	/** Packs a notification with its payload for sending: *packed_notif_len is the room, then the length. */
	doca_error_t (*notif_pack)(struct urom_worker_notify *notif, size_t *packed_notif_len, void *packed_notif);
};

/** Look-ups in the domain that the worker is in; use the doca_urom_worker_domain_*_lookup() below. */
struct urom_domain_lookups_iface {
	doca_error_t (*addr_lookup)(struct urom_worker_ctx *ctx, uint64_t domain_id, void **addr);
	doca_error_t (*seg_lookup)(struct urom_worker_ctx *ctx, uint64_t domain_id, uint64_t va, int *seg);
	doca_error_t (*memh_lookup)(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg, size_t *len, void **memh);
	doca_error_t (*mkey_lookup)(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg, size_t *len, void **rkey);
};

/** One plugin in one worker. */
struct urom_worker_ctx {
	struct urom_plugin_iface iface;
	struct urom_domain_lookups_iface domain_iface;
	void *plugin_ctx; /**< the plugin's own */
};

/**
 * @name Look-ups in the worker's domain
 * ctx is what the plugin's operation was called with; domain_id is an id of doca_urom_domain_set_workers(). Results belong to
 * the worker until the domain is destroyed. (UROM guide, "doca_urom_domain", "doca_urom_domain_add_buffer")
 * @retval DOCA_ERROR_NOT_FOUND no such worker, address or buffer
 * @{
 */

/** The address that this plugin's addr operation returned in another worker. */
static inline doca_error_t doca_urom_worker_domain_addr_lookup(struct urom_worker_ctx *ctx, uint64_t domain_id, void **addr)
{
	return ctx != NULL ? ctx->domain_iface.addr_lookup(ctx, domain_id, addr) : DOCA_ERROR_INVALID_VALUE;
}

/**
 * Finds the buffer of a worker's host process that contains an address.
 * @param va an address in that process
 * @param seg the buffer's number, for the other look-ups
 */
static inline doca_error_t doca_urom_worker_domain_seg_lookup(struct urom_worker_ctx *ctx, uint64_t domain_id, uint64_t va,
							      int *seg)
{
	return ctx != NULL ? ctx->domain_iface.seg_lookup(ctx, domain_id, va, seg) : DOCA_ERROR_INVALID_VALUE;
}

/** The packed memory handle of a shared buffer. */
static inline doca_error_t doca_urom_worker_domain_memh_lookup(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg,
							       size_t *len, void **memh)
{
	return ctx != NULL ? ctx->domain_iface.memh_lookup(ctx, domain_id, seg, len, memh) : DOCA_ERROR_INVALID_VALUE;
}

/** The packed remote key of a shared buffer. */
static inline doca_error_t doca_urom_worker_domain_mkey_lookup(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg,
							       size_t *len, void **rkey)
{
	return ctx != NULL ? ctx->domain_iface.mkey_lookup(ctx, domain_id, seg, len, rkey) : DOCA_ERROR_INVALID_VALUE;
}

/** @} */

#ifdef __cplusplus
}
#endif

#endif
