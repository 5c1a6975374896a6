/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker process. A file x.h declares what x.c defines:
 *
 *   main     the command line               plugin        one plugin: its object, its operations
 *   worker   the loop                       plugins       all plugins at work
 *   parent   the socket to the daemon       client        a host that joined
 *   tokens   of clients that may join       clients       how they come and go, and what they send
 *   domains  what plugins can look up       notify_queue  notifications that wait for a client
 *   clock    the time                       notify        their way to it
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
	struct heartbeat *heartbeat; /* what it is doing, for the daemon */
	int door_fd;		     /* by which the daemon hands connections over */
	size_t message_max;
	struct worker_plugin plugins[UROM_PLUGINS_MAX];
	uint32_t num_plugins;
	bool waits; /* all plugins give a descriptor for it */
	struct sf_comm *comm;
	TAILQ_HEAD(worker_clients, worker_client) clients;
	struct worker_clients answered; /* those with notifications */
	uint64_t last_dest_id;
	uint32_t num_strangers; /* clients that have not joined */
	uint8_t tokens[WORKER_TOKENS_MAX][UROM_TOKEN_SIZE];
	uint32_t num_tokens;
	uint64_t num_outstanding;	     /* of all clients */
	uint8_t addresses[UROM_CONTROL_MAX]; /* the plugins', packed: for clients that join */
	size_t addresses_len;
	LIST_HEAD(, worker_domain) domains;
	LIST_HEAD(, worker_directory) directories;
	uint32_t num_domains;
	uint64_t directory_bytes;
	bool domains_due;	       /* something is, of some domain */
	ucs_list_link_t notifications; /* the plugin's that is being called */
	uint8_t *packed;	       /* message_max bytes: the one being sent */
	bool ending, drains;	       /* at once; when all commands are answered, or WORKER_DRAIN_NS are over */
	char failure[UROM_TEXT_MAX];   /* why it ends of itself */
};

/* Runs until the daemon ends it; EXIT_SUCCESS or EXIT_FAILURE. */
int worker_run(struct worker *worker);

#endif
