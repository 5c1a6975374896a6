/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the UROM service.
 *
 *   main.c     the command line             plugins.c    what UROM_PLUGIN_PATH offers
 *   daemon.c   the loop                     clients.c    who connected, and what they ask
 *   cpus.c     the DPU's CPUs
 *   node.c     one daemon a node            workers.c    workers: clients of, end
 *   output.c   what workers print           spawn.c      their processes, which the daemon asks for of
 *                                           spawner.c    the process that starts them
 *                                           supervise.c  which of them hang, and of what they died
 *                                           ../own_time.c  the time that they had
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

#include "../heartbeat.h"
#include "base/log_rate.h"
#include "../own_time.h"
#include "urom/auth.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"

#define DAEMON_WORKERS_DEFAULT 256
#define DAEMON_WORKERS_MAX 4096
#define DAEMON_WORKERS_KEPT 8 /* that part of them for clients other than one that has half of all */
#define DAEMON_PATH_MAX 4096
#define DAEMON_PLUGIN_TIMEOUT_S 10
#define DAEMON_PLUGIN_TIMEOUT_MAX_S 3600
#define DAEMON_MEMORY_MIN_MIB 16
#define DAEMON_FILES_MIN 32 /* open ones, for itself */
#define DAEMON_OUTPUT_LINE 4096
#define DAEMON_BACKLOG_MAX (UINT32_C(1) << 20) /* bytes that wait for a client: one that takes them no more is disconnected */
#define DAEMON_LINES 200		       /* about clients and workers that come and go, in LOG_RATE_SECONDS */
#define DAEMON_PACKETS_MAX 16		       /* of one worker, by its socket: it has two to send */
/* Limits of a worker's own time (own_time.h). */
#define DAEMON_SPAWN_NS UINT64_C(10000000000)	 /* a worker that is not ready by then is ended */
#define DAEMON_ADMITTED_NS UINT64_C(10000000000) /* and one that reads of no new client by then gets none */
#define DAEMON_END_NS UINT64_C(2000000000)	 /* and one that has not ended by then is killed */
#define DAEMON_END_MAX_NS UINT64_C(10000000000)	 /* or, whatever it had, by then: an end is not to take for ever */
#define DAEMON_ADMIT_NS UINT64_C(10000000)	 /* until a worker whose socket is full is told again of clients */
#define DAEMON_REQUESTS_MAX 4096		 /* for one worker, that are not answered */
#define DAEMON_HELLO_NS UINT64_C(2000000000)	 /* a client that says nothing for so long before it is known is disconnected */

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

struct daemon_plugin {
	struct urom_plugin info;
	char path[DAEMON_PATH_MAX];
};

/* A client's request for a worker that is not ready yet, or does not read that it may join. */
struct daemon_request {
	TAILQ_ENTRY(daemon_request) next;
	struct daemon_client *client;
	uint64_t tag; /* the message's, which the answer repeats */
};

/* A client's reference to a worker that it uses, or will. */
struct daemon_ref {
	LIST_ENTRY(daemon_ref) of_client, of_worker;
	struct daemon_client *client;
	struct daemon_worker *worker;
	uint32_t count; /* worker contexts in that client's process */
};

enum daemon_worker_state { WORKER_STARTING, WORKER_READY, WORKER_ENDING };

struct daemon;
struct daemon_worker;

/* A descriptor that epoll watches for a worker, and who reads it. */
struct daemon_source {
	struct daemon_worker *worker;
	void (*read)(struct daemon *daemon, struct daemon_worker *worker);
};

/* What a worker prints. */
struct daemon_output {
	struct daemon_source source;
	int fd;
	uint64_t window_end; /* ns */
	size_t used;	     /* bytes, in this window */
	bool waits;	     /* for the next window */
	size_t len;
	char bytes[DAEMON_OUTPUT_LINE]; /* that no line's end has come for */
};

struct daemon_worker {
	TAILQ_ENTRY(daemon_worker) next;
	uint64_t id, plugins;
	char names[UROM_TEXT_MAX]; /* of the plugins */
	uint32_t gid;
	bool has_gid;
	pid_t pid;
	int fd;			/* its socket */
	int door;		/* the socket by which it is handed connections */
	struct sf_comm_key key; /* of TLS with it */
	struct daemon_source source;
	struct daemon_output output;
	struct heartbeat *heartbeat; /* in memory that is the process's too: not to be relied upon */
	uint64_t last_word;	     /* of the heartbeat */
	struct own_time idle;	     /* that it had since it said so */
	bool looked;
	uint32_t num_packets; /* that it sent */
	enum daemon_worker_state state;
	bool asked; /* to end */
	bool killed;
	bool unborn;		    /* its process failed before it was the worker's program */
	struct own_time time;	    /* that it had in STARTING or ENDING; READY: since it is full */
	uint64_t limit_ns;	    /* of it */
	bool is_full;		    /* its socket: it reads of no new clients just now */
	char reason[UROM_TEXT_MAX]; /* it said why it failed */
	TAILQ_HEAD(, daemon_request) requests;
	uint32_t num_requests;
	LIST_HEAD(, daemon_ref) refs;
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

/* sf_now_ns; a test that plays with time puts another in its place. */
uint64_t daemon_now_ns(void);

/* ---- cpus.c ---- */

/* How many CPUs the topology states for the DPU that the daemon runs on; 0: none stated. */
uint32_t cpus_of_node(void);
/* The CPUs that clients see: those stated, else those of this process and at least 8. */
void cpus_offer(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE]);
/* Puts one of this process's CPUs in the place of each that is offered and not there. */
void cpus_map(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE]);

/* ---- node.c: the lock that keeps a second daemon off a node ---- */

doca_error_t node_lock(int *fd);
void node_unlock(int fd);

/* ---- networks.c ---- */

/* What workers' plugins find in their environment of the networks that they may use; and daemon->devices. */
void networks_set_up(struct daemon *daemon);

/* ---- plugins.c ---- */

void plugins_discover(struct daemon *daemon);
const struct daemon_plugin *plugins_find(const struct daemon *daemon, uint64_t id);

/* ---- clients.c ---- */

extern const struct sf_comm_handler daemon_handler;
/* Lets the client join the worker, and says so to both. AGAIN: the worker takes no more just now, and nothing was said. */
doca_error_t client_accept_request(struct daemon *daemon, const struct daemon_worker *worker,
				   const struct daemon_request *request);
void client_reject_request(struct daemon *daemon, uint64_t worker_id, const struct daemon_request *request, doca_error_t status,
			   const char *reason);
void client_tell_died(struct daemon *daemon, struct daemon_client *client, uint64_t worker_id, const char *reason);
/* Disconnects those that have not shown who they are in time; the next such time, or UINT64_MAX. */
uint64_t clients_expire(struct daemon *daemon, uint64_t now);

/* ---- workers.c ---- */

struct daemon_worker *workers_find(struct daemon *daemon, uint64_t id);
/* Finds or starts the worker; the request is answered then or later. */
void workers_want(struct daemon *daemon, struct daemon_client *client, uint64_t tag, const struct urom_spawn *spawn);
/* One context of the client less; the worker ends with its last. */
void workers_release(struct daemon *daemon, struct daemon_client *client, uint64_t id);
/* The client is gone, with all its contexts. */
void workers_forget(struct daemon *daemon, struct daemon_client *client);
/* Children have ended, or a worker's socket has something. */
void workers_reap(struct daemon *daemon);
void workers_read(struct daemon *daemon, struct daemon_worker *worker);
/* Ends those whose time is over; the next time at which something is due, or UINT64_MAX. */
uint64_t workers_expire(struct daemon *daemon, uint64_t now);
void workers_end_all(struct daemon *daemon);

/* ---- spawn.c ---- */

/* Starts the spawner: before anything is opened that must end with the daemon. */
doca_error_t spawn_open(struct daemon *daemon);
void spawn_close(struct daemon *daemon);
/* Starts the process, and sets pid, fd, door, output.fd and heartbeat. False: reason says why it could not. */
bool spawn_worker(struct daemon *daemon, struct daemon_worker *worker, const struct urom_spawn *wanted,
		  char reason[UROM_TEXT_MAX]);

/* ---- output.c ---- */

/* For the daemon's own: it never waits for who reads it. */
void output_open_own(void);
bool output_watch(struct daemon *daemon, struct daemon_worker *worker);
void output_read(struct daemon *daemon, struct daemon_worker *worker);
/* Goes on with one that printed too much; the time when that is due, or UINT64_MAX. */
uint64_t output_expire(struct daemon *daemon, struct daemon_worker *worker, uint64_t now);
/* Takes the last of it. */
void output_close(struct daemon_worker *worker);

/* ---- supervise.c ---- */

/* Fills worker->names. */
void supervise_name(const struct daemon *daemon, struct daemon_worker *worker);
/* Ends workers that have not moved; the time of the next look, or UINT64_MAX. */
uint64_t supervise(struct daemon *daemon, uint64_t now);
/* Why the process is gone: for clients, and for the log also the path of the plugin that it was in, or NULL. */
void supervise_explain(const struct daemon *daemon, const struct daemon_worker *worker, int status, const struct rusage *usage,
		       char reason[UROM_TEXT_MAX], const char **path);

/* ---- daemon.c ---- */

/* That the service is to listen on. */
doca_error_t daemon_address(const struct daemon *daemon, struct sockaddr_storage *address, socklen_t *len);
/* Runs until SIGTERM or SIGINT; EXIT_SUCCESS or EXIT_FAILURE. */
int daemon_run(struct daemon *daemon);

#endif
