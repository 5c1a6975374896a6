/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UROM service. A file x.h declares what x.c defines:
 *
 *   main       the command line             plugins    what UROM_PLUGIN_PATH offers
 *   daemon     the loop                     clients    the handshake of clients, and what they ask
 *   cpus       the DPU's CPUs               answer     what they are answered
 *   node       one daemon a node            workers    workers: clients of, end
 *   networks   addresses and UCX's limits   spawn      their processes, which the daemon asks for of
 *   ref        clients that use a worker
 *   output     what workers print           spawner    the process that starts them
 *   clock      the time                     supervise_workers  which of them hang, and of what they died
 *                                           ../own_time  the time that they had
 */
#ifndef UROM_DAEMON_DAEMON_H
#define UROM_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <doca_error.h>

#include "../own_time.h"
#include "bounds.h"
#include "plugins.h"
#include "urom/auth.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"
#include "worker.h"

struct daemon_config {
	char plugin_path[DAEMON_PATH_MAX]; /* folders, separated by ';' */
	char secret_file[DAEMON_PATH_MAX]; /* empty: the user's own, and loopback only */
	char worker_program[DAEMON_PATH_MAX];
	char bind[64];
	uint32_t port;
	uint32_t message_max;
	uint32_t workers_max;
	uint32_t memory_max_mib;   /* of one worker; 0: no limit */
	uint32_t plugin_timeout_s; /* in which a worker has to move; 0: no limit */
	uint32_t log_level, sdk_log_level;
};

enum daemon_client_state { CLIENT_NEW, CLIENT_CHALLENGED, CLIENT_KNOWN };

struct daemon_client {
	TAILQ_ENTRY(daemon_client) next;
	struct sf_comm_peer *peer;
	enum daemon_client_state state;
	pid_t process;	      /* 0: unknown */
	struct own_time time; /* until it is KNOWN */
	bool broken;	      /* an answer to it was lost: it is to be disconnected */
	uint8_t nonce[UROM_NONCE_SIZE], own_nonce[UROM_NONCE_SIZE];
	LIST_HEAD(, daemon_ref) refs;
};

struct daemon {
	struct daemon_config config;
	struct urom_secret secret;
	bool local;			   /* for this machine alone: it was given no secret */
	char devices[SF_COMM_DEVICES_MAX]; /* by which clients may come: UCX_NET_DEVICES'; "": all */
	struct daemon_plugin plugins[UROM_PLUGINS_MAX];
	uint32_t num_plugins;
	uint32_t cpus; /* cpus_of_node */
	struct sf_comm *comm;
	TAILQ_HEAD(, daemon_client) clients;
	TAILQ_HEAD(, daemon_worker) workers;
	uint32_t num_workers;
	uint64_t last_worker_id;
	int epoll_fd, signal_fd, lock_fd;
	int spawner_fd;
	pid_t spawner_pid;
	struct rlimit worker_files; /* RLIMIT_NOFILE as the daemon found it */
	uint64_t next_look;	    /* at the workers, ns */
	bool draining;		    /* ended when the last worker is */
	bool failed;		    /* ended because it can serve no longer */
};

/* Runs until SIGTERM or SIGINT; EXIT_SUCCESS or EXIT_FAILURE. */
int daemon_run(struct daemon *daemon);

#endif
