/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service context. A file x.h declares what x.c defines:
 *
 *   service_connect   connects to an address of the host (host_lookup: the addresses)
 *   service_peer      the connection to the daemon
 *   service_request   what the daemon is asked for workers
 *   service_task_gid  the task that asks for the workers of a group
 *   service_file      where a device's service is
 *
 * A service and its workers may belong to different threads: a worker posts its requests to the daemon at the service, and the
 * service's progress sends them.
 */
#ifndef UROM_SERVICE_H
#define UROM_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <doca_urom.h>

#include "core/ctx.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"
#include "urom/service_file.h"
#include "urom/service_request.h"

#define UROM_GID_TASKS 32
#define UROM_WORKERS_DEFAULT 64
#define UROM_WORKERS_MAX 4096
#define UROM_CONNECT_NS UINT64_C(2000000000) /* time limit of a service's start */
#define UROM_ADDRESSES_MAX 8		     /* addresses of a name that are tried */

enum urom_session {
	UROM_SESSION_NONE,
	UROM_SESSION_HANDSHAKE, /* said */
	UROM_SESSION_PROOF,	/* given */
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
	int process; /* the daemon's; 0: not visible from here */
	struct sf_status_conn status_conn;
	struct sockaddr_storage reached; /* the address that answered */
	socklen_t reached_len;
	enum urom_session session;
	bool has_key; /* its TLS has a key */
	doca_error_t why;
	uint8_t nonce[UROM_NONCE_SIZE];
	struct doca_urom_service_plugin_info plugins[UROM_PLUGINS_MAX];
	uint32_t num_plugins;
	doca_cpu_set_t cpuset;
	uint64_t last_request;
	struct doca_task *asked, *ended; /* get-workers tasks: the daemon has them; to be completed */
	/* requests */
	pthread_mutex_t lock;
	bool takes_requests;
	char net_devices[UROM_NET_DEVICES_MAX]; /* that may be used: also for connections to workers */
	struct urom_requests queued, sent;
	_Atomic bool any_queued;
	int wake_fd;
};

#endif
