/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the host library.
 *
 *   service.c        the service context, and what can be set and asked     worker.c       the worker context
 *   service_connect.c  which address answers (host_lookup.c: of those)      worker_peer.c  its connection to the process
 *   service_peer.c   its connection to the daemon                           worker_task_cmd.c
 *   service_task_gid.c
 *   domain.c         the domain context    domain_exchange.c  what processes gather    domain_tell.c  what workers are told
 *
 * A service and its workers may belong to different threads: what a worker wants of the daemon is a request, which it posts to
 * the service, and which the service's progress carries out.
 */
#ifndef UROM_UROM_H
#define UROM_UROM_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include <doca_urom.h>

#include "base/liveness.h"
#include "core/ctx.h"
#include "mem/buf.h"
#include "urom/comm/comm.h"
#include "urom/directory.h"
#include "urom/proto.h"
#include "urom/service_file.h"

#define UROM_GID_TASKS 32
#define UROM_WORKERS_DEFAULT 64
#define UROM_WORKERS_MAX 4096
#define UROM_INFLIGHT_DEFAULT 128
#define UROM_INFLIGHT_MAX 16384
#define UROM_CONNECT_NS UINT64_C(2000000000) /* how long a service's start may take */
#define UROM_JOIN_NS UINT64_C(10000000000)   /* and how long a worker process may take to let a context in */
#define UROM_ADDRESSES_MAX 8		     /* of a name that are tried */
#define UROM_TASK_USER_DATA 32

/* ---- requests ---- */

enum urom_request_state { UROM_REQUEST_NONE, UROM_REQUEST_QUEUED, UROM_REQUEST_SENT, UROM_REQUEST_DONE };

/* All but body under the service's lock, until DONE. */
struct urom_request {
	TAILQ_ENTRY(urom_request) next;
	_Atomic(enum urom_request_state) state; /* DONE is written last, and the request is the worker's again */
	enum urom_kind kind;			/* UROM_SPAWN or UROM_RELEASE */
	uint64_t request, subject;
	uint8_t *body; /* the worker's */
	size_t body_len;
	int wake_fd; /* the worker's: an eventfd */
	doca_error_t status;
	char reason[UROM_TEXT_MAX]; /* when status is not SUCCESS */
	struct urom_spawned spawned;
	pid_t process;			 /* the worker's; 0: it cannot be seen from here */
	struct sockaddr_storage service; /* the daemon's address */
	socklen_t service_len;
};

TAILQ_HEAD(urom_requests, urom_request);

/* ---- service ---- */

enum urom_session {
	UROM_SESSION_NONE,
	UROM_SESSION_HELLO, /* said */
	UROM_SESSION_PROOF, /* given */
	UROM_SESSION_OPEN,
	UROM_SESSION_ENDED, /* why says how */
};

struct doca_urom_service {
	struct doca_ctx ctx;
	struct sf_task_pool pool; /* of get-workers tasks */
	struct doca_dev *dev;
	size_t message_max;
	uint32_t max_workers;
	_Atomic uint32_t num_workers; /* that name it */
	/* from start on */
	struct urom_service_entry entry;
	struct sf_comm *comm;
	struct sf_comm_peer *peer;
	struct sockaddr_storage reached; /* the address that answered */
	socklen_t reached_len;
	enum urom_session session;
	bool has_key; /* the connection's TLS was given one */
	doca_error_t why;
	uint8_t nonce[UROM_NONCE_SIZE];
	struct doca_urom_service_plugin_info plugins[UROM_PLUGINS_MAX];
	uint32_t num_plugins;
	doca_cpu_set_t cpuset;
	uint64_t last_request;
	struct doca_task *asked, *ended; /* get-workers tasks: the daemon has them; to be told of */
	/* requests */
	pthread_mutex_t lock;
	bool takes_requests;
	char net_devices[UROM_NET_DEVICES_MAX]; /* that may be used: also for connections to workers */
	struct urom_requests queued, sent;
	_Atomic bool any_queued;
	int wake_fd;
};

struct doca_urom_service_get_workers_by_gid_task {
	struct doca_task base;
	doca_urom_service_get_workers_by_gid_task_completion_cb_t cb;
	uint32_t gid;
	uint64_t request;
	struct urom_group answer;
};

/* service_connect.c: tries the host's addresses one after the other. Logged, with what became of each. */
doca_error_t urom_service_connect(struct doca_urom_service *service);

/* service_peer.c */
extern const struct sf_comm_handler urom_service_handler;
/* Another end of TLS, or of the handshake, has not our secret. */
void urom_say_other_secret(const char *address);
/* What a start may answer when a session ends so: the other end chooses none of its own. */
doca_error_t urom_service_why(doca_error_t why);
void urom_service_disconnect(struct doca_urom_service *service);
/* Sends what is queued, and ends all requests when the session ended. True when anything was done. */
bool urom_service_run_requests(struct doca_urom_service *service);
doca_error_t urom_service_send(struct doca_urom_service *service, enum urom_kind kind, uint64_t request, uint64_t subject,
			       const void *body, size_t body_len);
/* From any thread. Without a session it is DONE at once. */
void urom_request_post(struct doca_urom_service *service, struct urom_request *request);

/* service_task_gid.c */
extern const struct sf_task_class urom_gid_task_class;
void urom_gid_task_done(struct doca_task *base, union doca_data task_user_data, union doca_data ctx_user_data);
void urom_gid_answered(struct doca_urom_service *service, const struct urom_head *head, const void *body, size_t len);
/* All that the daemon has end so. */
void urom_gid_fail_all(struct doca_urom_service *service, doca_error_t status);
bool urom_gid_tell_ended(struct doca_urom_service *service);

/* ---- worker ---- */

enum urom_worker_phase {
	UROM_WORKER_OFF,
	UROM_WORKER_SPAWNING, /* the service was asked */
	UROM_WORKER_JOINING,  /* the process was asked */
	UROM_WORKER_ON,
	UROM_WORKER_LOST, /* the process is gone, or never came */
	UROM_WORKER_RELEASING,
};

struct doca_urom_worker {
	struct doca_ctx ctx;
	struct sf_task_pool pool; /* of command tasks */
	struct doca_urom_service *service;
	uint64_t wanted_id, id, plugins;
	uint32_t gid, wanted_gid;
	bool has_gid, wants_gid, has_cpuset;
	doca_cpu_set_t cpuset;
	uint32_t max_inflight;
	char **env;
	size_t num_env;
	/* from start on */
	enum urom_worker_phase phase;
	bool granted; /* the service counts us among the process's clients */
	bool told;    /* the end of this run was logged */
	struct urom_request request;
	struct sf_comm *comm;
	struct sf_comm_peer *peer;
	size_t message_max;
	uint8_t *payloads; /* of all tasks: for each, message_max bytes of the command, then as many of the response */
	struct doca_task *ended;
	int wake_fd;
	int join_fd;		 /* a timer, while JOINING; else -1 */
	struct sf_liveness join; /* the process's */
	uint8_t *addresses;	 /* the process's plugins', packed */
	size_t addresses_len;
	LIST_HEAD(, urom_member) members;
	STAILQ_HEAD(, urom_leave) leaves; /* that the process is to be told of, once its queue has room */
};

struct doca_urom_worker_cmd_task {
	struct doca_task base;
	doca_urom_worker_cmd_task_completion_cb_t cb;
	uint64_t plugin;
	uint32_t index;	 /* in its worker */
	uint32_t number; /* of the submit */
	bool has_response;
	struct doca_buf payload, response;
	uint64_t user_data[UROM_TASK_USER_DATA / sizeof(uint64_t)];
};

/* worker_peer.c */
doca_error_t urom_worker_connect(struct doca_urom_worker *worker);
doca_error_t urom_worker_open_comm(struct doca_urom_worker *worker);
/* While JOINING: it may have taken too long. True when it has. And: it is not to be waited for any longer. */
bool urom_worker_check_join(struct doca_urom_worker *worker);
void urom_worker_end_join(struct doca_urom_worker *worker);
/* The process is gone, or refused us. */
void urom_worker_lose(struct doca_urom_worker *worker, doca_error_t why, const char *reason);

/* worker_task_cmd.c */
extern const struct sf_task_class urom_cmd_task_class;
void urom_cmd_task_done(struct doca_task *base, union doca_data task_user_data, union doca_data ctx_user_data);
/* Gives every task its index and its buffers. */
doca_error_t urom_cmd_tasks_prepare(struct doca_urom_worker *worker);
void urom_cmd_answered(struct doca_urom_worker *worker, const void *body, size_t len);
void urom_cmd_fail_all(struct doca_urom_worker *worker, doca_error_t status);
bool urom_cmd_tell_ended(struct doca_urom_worker *worker);

/* ---- domain ---- */

#define UROM_BUFFERS_MAX 1024
#define UROM_KEY_MAX 65536 /* bytes of a packed handle or key */

#define UROM_DOMAIN_WORKERS_MAX (UINT32_C(1) << 16) /* of one process in one domain */
#define UROM_PROCESSES_MAX (UINT32_C(1) << 20)	    /* that take part in one domain */
#define UROM_GATHER_BYTES (UINT32_C(16) << 20)	    /* what one gathering brings, of all processes */

/* That a worker process is to forget a domain. */
struct urom_leave {
	STAILQ_ENTRY(urom_leave) next;
	uint64_t domain;
};

/* A worker of this process in a domain. */
struct urom_member {
	LIST_ENTRY(urom_member) of_worker;
	struct doca_urom_domain *domain;
	struct doca_urom_worker *worker; /* NULL once it is destroyed */
	bool gone; /* it has ended since the domain's start: a process that it has now knows nothing of the domain */
	uint64_t domain_id;
	/* from TELLING on */
	LIST_ENTRY(urom_member) of_telling; /* until the process is ready */
	bool offered, wanted, ready;
	size_t told;		  /* bytes of the directory */
	struct urom_leave *leave; /* from start on: a stop needs no memory */
};

enum urom_domain_phase {
	UROM_DOMAIN_OFF,
	UROM_DOMAIN_SIZES,
	UROM_DOMAIN_ENTRIES,
	UROM_DOMAIN_TELLING,
	UROM_DOMAIN_ON,
	UROM_DOMAIN_FAILED
};

/* What each process gives to the first gathering. */
struct urom_domain_size {
	uint64_t index;
	uint64_t len; /* of its entry */
};

struct doca_urom_domain {
	struct doca_ctx ctx;
	struct doca_urom_domain_oob_coll oob;
	bool has_oob;
	struct urom_member *members;
	size_t num_members;
	struct urom_entry_buffer *buffers;
	size_t num_buffers, max_buffers;
	/* from start on */
	enum urom_domain_phase phase;
	uint64_t number;
	void *request; /* a gathering's, while one is under way */
	uint8_t *own;  /* this process's entry */
	size_t own_len;
	uint8_t *given, *gathered; /* of the gathering that is under way: round_len bytes of each process */
	size_t round_len;
	struct urom_domain_size *sizes; /* of all processes */
	size_t len_max, num_gathered;	/* of the longest entry; of each entry, so far */
	uint8_t *directory;
	size_t directory_len;
	uint8_t digest[UROM_DIGEST_SIZE];
	LIST_HEAD(, urom_member) telling;
};

/* domain_exchange.c */
doca_error_t urom_domain_begin(struct doca_urom_domain *domain);
/* Goes on; the phase says where it is. True when anything moved. */
bool urom_domain_exchange(struct doca_urom_domain *domain);
void urom_domain_fail(struct doca_urom_domain *domain, const char *what, doca_error_t why);
void urom_domain_free_exchange(struct doca_urom_domain *domain);

/* domain_tell.c */
/* The directory is there: the workers are to have it. */
void urom_domain_tell_begin(struct doca_urom_domain *domain);
bool urom_domain_tell(struct doca_urom_domain *domain);
/* Only what their connections did not take before; the domain fails at most. */
void urom_domain_tell_more(struct doca_urom_domain *domain);
/* While TELLING: is there anything to do but wait for answers? */
bool urom_domain_has_to_tell(const struct doca_urom_domain *domain);
/* They need it no more. One that cannot be told just now is told later, by its context: a stop of a domain does not wait. */
void urom_domain_leave(struct doca_urom_domain *domain);
/* Tells the process of domains that are over. True when anything was told. */
bool urom_domains_tell_left(struct doca_urom_worker *worker);
/* Is there a place for it in the queue, so that no end of a send will come to go on by? */
bool urom_domains_have_left(const struct doca_urom_worker *worker);
/* A worker process wants the directory, has it, or cannot use it. */
void urom_domain_answered(struct doca_urom_worker *worker, const struct urom_head *head, const void *body, size_t len);
/* Its run has ended; and: it is destroyed. */
void urom_domains_lose(struct doca_urom_worker *worker);
void urom_domains_forget(struct doca_urom_worker *worker);
/* Something became of it that its domains may wait for. */
void urom_domains_kick(const struct doca_urom_worker *worker);

/* INVALID_VALUE, logged with what is missing. */
doca_error_t urom_check_given(const void *pointer, const char *what);

#endif
