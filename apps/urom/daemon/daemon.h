/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UROM service. A file x.h declares what x.c defines:
 *
 *   main       the command line             plugins    the plugins in UROM_PLUGIN_PATH
 *   daemon     the loop                     clients    the handshake of clients, and their requests
 *   cpus       the DPU's CPUs               answer     answers to clients
 *   node       one daemon a node            workers    workers: start, clients, end
 *   networks   addresses and UCX's limits   spawn      requests for their processes to the spawner
 *   ref        clients that use a worker
 *   output     output of workers            spawner    the process that starts them
 *   clock      the time                     supervise  detects hanging workers, explains deaths
 *                                           ../own_time  the own time of a process
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
	uint32_t plugin_timeout_s; /* without progress of a worker; 0: no limit */
	uint32_t log_level, sdk_log_level;
};

enum daemon_client_state { CLIENT_NEW, CLIENT_CHALLENGED, CLIENT_KNOWN };

struct daemon_client {
	TAILQ_ENTRY(daemon_client) next;
	struct sf_comm_peer *peer;
	enum daemon_client_state state;
	pid_t process;	      /* 0: unknown */
	struct own_time time; /* until it is CLIENT_KNOWN */
	bool broken;	      /* an answer to it was lost: it must be disconnected */
	uint8_t nonce[UROM_NONCE_SIZE], own_nonce[UROM_NONCE_SIZE];
	LIST_HEAD(, daemon_ref) refs;
};

struct daemon {
	struct daemon_config config;
	struct urom_secret secret;
	bool local;			   /* serves this machine only: there is no secret file */
	char devices[SF_COMM_DEVICES_MAX]; /* network devices for clients, from UCX_NET_DEVICES; "": all */
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
	uint64_t next_look;	    /* next check of the workers, ns */
	bool draining;		    /* ends when the last worker has ended */
	bool failed;		    /* ends because it cannot serve any more */
};

/* Runs until SIGTERM or SIGINT; EXIT_SUCCESS or EXIT_FAILURE. */
int daemon_run(struct daemon *daemon);

#endif
