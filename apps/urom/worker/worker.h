/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker process. A file x.h declares what x.c defines:
 *
 *   main     the command line               plugin        one plugin: its object, its operations
 *   worker   the loop                       plugins       runs all plugins
 *   parent   the socket to the daemon       client        a host that has joined
 *   tokens   tokens of admitted clients     clients       their connections and messages
 *   domains  directories for plugins        notify_queue  notifications queued for clients
 *   clock    the time                       notify        sends them
 */
#ifndef UROM_WORKER_WORKER_H
#define UROM_WORKER_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <doca_urom_plugin.h>

#include "../heartbeat.h"
#include "bounds.h"
#include "client.h"
#include "domain.h"
#include "plugin.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"

struct worker {
	uint64_t id;
	int parent_fd;
	struct heartbeat *heartbeat; /* shows the daemon its current call */
	int door_fd;		     /* socket through which the daemon passes connections */
	size_t message_max;
	struct worker_plugin plugins[UROM_PLUGINS_MAX];
	uint32_t num_plugins;
	bool waits; /* can sleep: all plugins return a descriptor */
	struct sf_comm *comm;
	TAILQ_HEAD(worker_clients, worker_client) clients;
	struct worker_clients answered; /* those with notifications */
	uint64_t last_dest_id;
	uint32_t num_strangers; /* clients that have not joined yet */
	uint8_t tokens[WORKER_TOKENS_MAX][UROM_TOKEN_SIZE];
	uint32_t num_tokens;
	uint64_t num_outstanding;	     /* of all clients */
	uint8_t addresses[UROM_CONTROL_MAX]; /* of the plugins, packed, for clients that join */
	size_t addresses_len;
	LIST_HEAD(, worker_domain) domains;
	LIST_HEAD(, worker_directory) directories;
	uint32_t num_domains;
	uint64_t directory_bytes;
	bool domains_due;	       /* a domain has a pending message */
	ucs_list_link_t notifications; /* of the plugin that is being called */
	uint8_t *packed;	       /* message_max bytes for the notification being sent */
	bool ending, drains; /* ends immediately; with drains when all commands are answered or WORKER_DRAIN_NS are over */
	char failure[UROM_TEXT_MAX]; /* why it ends by itself */
};

/* Runs until the daemon ends it; EXIT_SUCCESS or EXIT_FAILURE. */
int worker_run(struct worker *worker);

#endif
