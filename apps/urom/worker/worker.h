/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a worker process.
 *
 *   main.c     the command line            plugins.c  the shared objects
 *   worker.c   the loop                    clients.c  hosts that joined, and their commands
 *   parent.c   the socket to the daemon    notify.c   notifications
 *                                          domains.c  what plugins can look up
 */
#ifndef UROM_WORKER_WORKER_H
#define UROM_WORKER_WORKER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <doca_urom_plugin.h>

#include "../own_time.h"
#include "../heartbeat.h"
#include "base/log_rate.h"
#include "urom/comm/comm.h"
#include "urom/directory.h"
#include "urom/proto.h"

#define WORKER_TOKENS_MAX SF_COMM_PEERS_MAX	     /* admitted clients that have not joined yet */
#define WORKER_DOMAINS_MAX 1024			     /* of all clients */
#define WORKER_DIRECTORY_BYTES (UINT64_C(512) << 20) /* of all directories */
/* Bytes 0xff behind a directory: plugins are not told how long another worker's address is, and what it says itself
 * may be more. */
#define WORKER_DIRECTORY_SLACK 16384
#define WORKER_COMMANDS_MAX 16384		  /* of one client that are not answered: a worker context's most tasks */
#define WORKER_JOIN_NS UINT64_C(2000000000)	  /* a client that has not shown its token by then is disconnected */
#define WORKER_UNASKED_MAX 1024			  /* notifications of one plugin beyond its commands */
#define WORKER_NOTIFY_BACKLOG (UINT32_C(1) << 20) /* bytes that wait for a client: more stays in its queue */
#define WORKER_BACKLOG_MAX (UINT32_C(4) << 20)	  /* and with all other answers to it */
#define WORKER_DRAIN_NS UINT64_C(1000000000)	  /* for what is unanswered when the daemon ends the worker */

/* A directory, which several clients may have offered. */
struct worker_directory {
	LIST_ENTRY(worker_directory) next;
	uint8_t digest[UROM_DIGEST_SIZE];
	size_t size, received;
	uint8_t *data;			  /* until it is whole */
	struct urom_directory *directory; /* from then on */
	struct worker_domain *sender;	  /* whose client was asked for it; NULL once it is whole */
	uint32_t num_domains;
};

/* What a client is to be told of its domain. */
enum worker_domain_due { WORKER_DOMAIN_NOTHING, WORKER_DOMAIN_WANTED, WORKER_DOMAIN_READY };

struct worker_domain {
	LIST_ENTRY(worker_domain) next;
	uint64_t number, client; /* dest_id */
	struct worker_directory *directory;
	enum worker_domain_due due;
};

struct worker_plugin {
	struct worker *worker;
	const char *path;
	uint32_t index; /* in the worker */
	uint64_t id;
	void *object;
	uint64_t version;
	bool open;
	void (*client_left)(struct urom_worker_ctx *ctx, uint64_t dest_id); /* softfield/urom_plugin.h; NULL: it has none */
	doca_error_t (*arm)(struct urom_worker_ctx *ctx, int *fd);	    /* the same */
	struct urom_worker_ctx ctx;
	ucs_list_link_t commands;
	uint64_t num_commands, num_notifications; /* so far */
};

struct worker_client {
	TAILQ_ENTRY(worker_client) next;
	struct sf_comm_peer *peer;
	uint64_t dest_id;	  /* in the descriptors of its commands */
	uint64_t num_outstanding; /* its commands that no notification has answered */
	bool joined;
	pid_t process;		       /* 0: unknown */
	struct own_time time;	       /* until it has joined */
	bool broken;		       /* an answer to it was lost: it is to be disconnected */
	ucs_list_link_t notifications; /* that are still to be sent */
	TAILQ_ENTRY(worker_client) in_answered;
};

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

/* ---- plugins.c ---- */

/* Loads the object and reads its version; reason says what is wrong with it. */
doca_error_t plugin_load(struct worker_plugin *plugin, char reason[UROM_TEXT_MAX]);
/* Opens it and takes its address. */
doca_error_t plugin_open(struct worker *worker, struct worker_plugin *plugin, char reason[UROM_TEXT_MAX]);
/* Its notif_pack: *len is the room, then the bytes. */
doca_error_t plugin_pack(struct worker_plugin *plugin, struct urom_worker_notify *notify, size_t *len, void *out);
void plugin_close(struct worker_plugin *plugin);
/* NULL: no such plugin is loaded here. */
struct worker_plugin *worker_find_plugin(struct worker *worker, uint64_t id);
/* Gives plugins their commands and their time. True when anything moved. */
bool plugins_run(struct worker *worker);
bool plugins_all_arm(const struct worker *worker);
/* Adds the descriptors that plugins give to fds, which has room for all. True: one has something to do. */
bool plugins_arm(struct worker *worker, struct pollfd *fds, nfds_t *num);
/* Drops the client's commands that they have not been given, and tells them. */
void plugins_client_left(struct worker *worker, uint64_t dest_id);

/* ---- clients.c ---- */

extern const struct sf_comm_handler clients_handler;
void clients_admit(struct worker *worker, const uint8_t token[UROM_TOKEN_SIZE]);
/* A command that no plugin will answer: its host's task ends with status. */
doca_error_t client_answer_for_plugin(struct worker *worker, const struct worker_client *client, uint64_t type,
				      uint64_t urom_context, doca_error_t status);
/* The same for one that a plugin left in its list. */
void clients_refuse(struct worker *worker, const struct urom_worker_cmd_desc *desc);
/* One command less is unanswered. */
void client_answered(struct worker *worker, struct worker_client *client);
/* NULL: it has left, or never was. */
struct worker_client *clients_find(const struct worker *worker, uint64_t dest_id);
/* AGAIN as sf_comm_send; SUCCESS also when the client has left. */
doca_error_t clients_send(struct worker *worker, uint64_t dest_id, const struct urom_head *head);
/* One that is broken. */
void client_disconnect(struct worker *worker, struct worker_client *client);
void clients_drop_all(struct worker *worker);
/* Disconnects those that have not joined in time. */
void clients_expire(struct worker *worker);

/* ---- notify.c ---- */

/* Moves worker->notifications, which the plugin has just made, to their clients. */
void notifications_take(struct worker *worker, struct worker_plugin *plugin);
/* Sends what clients can take. True when anything moved. */
bool notifications_send(struct worker *worker);
/* Those of a client that leaves. */
void notifications_drop(struct worker *worker, struct worker_client *client);

/* ---- domains.c ---- */

extern const struct urom_domain_lookups_iface domain_lookups;
/* A client offers a directory, by its digest. Of what is refused reason says why. */
doca_error_t domains_take_offer(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body,
				size_t len, const char **reason);
/* A piece of one that it was asked for. */
doca_error_t domains_take_part(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			       const char **reason);
/* Tells clients what is due. True when anything was. */
bool domains_run(struct worker *worker);
void domains_leave(struct worker *worker, uint64_t client, uint64_t number);
/* Those of a client that has left. */
void domains_forget(struct worker *worker, uint64_t client);

/* ---- parent.c ---- */

void parent_ready(struct worker *worker);
void parent_failed(int fd, const char *reason);
/* Takes what the daemon sent; the worker is ending when the daemon says so or is gone. True when anything came. */
bool parent_read(struct worker *worker);

/* ---- worker.c ---- */

/* sf_now_ns; a test that plays with time puts another in its place. */
uint64_t worker_now_ns(void);

/* Runs until the daemon ends it; EXIT_SUCCESS or EXIT_FAILURE. */
int worker_run(struct worker *worker);

#endif
